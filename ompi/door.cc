// SPDX-License-Identifier: BSD-3-Clause
// ompi/door.cc -- see door.h.
#include "ompi/door.h"

#include <new>

namespace livebtl::ompi {

Door* door = nullptr;

Door::Door(std::shared_ptr<Engine> shared, std::unique_ptr<Port> opened) noexcept
    : owned_engine_(std::move(shared)),
      owned_port_(std::move(opened)),
      engine(*owned_engine_),
      port(*owned_port_),
      inject_bytes_max(port.inject_bytes_max()),
      processes(engine) {}

Status Door::open() {
  auto engine = Engine::acquire();
  if (!engine) return tl::unexpected<Error>(engine.error());
  auto port = (*engine)->open_port({.space = 0, .waits_in_operations = true});
  if (!port) return tl::unexpected<Error>(port.error());
  door = new Door(std::move(*engine), std::move(*port));
  // Another thread may still be in the handler when close() has ended.
  door->engine.on_event(
      [kept = door->kept_happenings_](const EngineEvent& event) { kept->note(event); });
  return {};
}

// Closing the port ends the open operations, each of which reports to `door`: it must exist until
// then. Ended requests are no longer completed: that would touch communicators, which Open MPI has
// already destroyed, even those that a request refers to; and nobody is left to ask for a request.
void Door::close() noexcept {
  if (door == nullptr) return;
  door->engine.on_event(nullptr);
  door->owned_port_.reset();
  delete door;
  door = nullptr;
}

int Door::drain() noexcept {
  int completed = 0;
  while (EndedList::Link* const link = ended.take(calling_threads())) {
    static_cast<Request*>(link)->complete();
    ++completed;
  }
  return completed;
}

void Door::look_after_doubts() noexcept {
  const std::uint32_t now = happenings.doubts.load(std::memory_order_relaxed);
  if (doubts_seen_.exchange(now, std::memory_order_relaxed) != now) end_doubtful(requests);
}

int Door::move() noexcept {
  const std::size_t moved = engine.progress();
  if (happenings.doubts.load(std::memory_order_relaxed) !=
      doubts_seen_.load(std::memory_order_relaxed)) [[unlikely]]
    look_after_doubts();
  return static_cast<int>(moved) + (ended.empty() ? 0 : drain());
}

int Door::progress() noexcept {
  const int done = move();
  if (done != 0) {
    spins_.found();
  } else {
    spins_.found_nothing(engine);
  }
  return done;
}

// Open MPI has more to move than us: the launcher's events, and one-sided operations that others
// wait for. This may be rare, but must precede each yield or nap: opal_progress() does both.
bool Door::wait_for(const Waiting& waiting) noexcept {
  constexpr int kRoundsOfOurs = 100;
  const std::uint32_t doubts = happenings.doubts.load(std::memory_order_relaxed);
  for (;;) {
    for (int i = 0; i < kRoundsOfOurs; ++i) {
      if (waiting.ended.load(std::memory_order_acquire)) return true;
      if (move() != 0) {
        spins_.found();
      } else if (spins_.count_one_in_vain()) {
        break;
      }
    }
    if (happenings.doubts.load(std::memory_order_relaxed) != doubts) return false;
    opal_progress();
  }
}

bool is_dead(const Destination& peer) noexcept {
  if (peer.peer == nullptr) return false;
  const Slice none[kSlicesMax + 1]{};
  SendRequest request;
  request.to = peer;
  request.slices = none;
  return door->port.inject(request) == Accept::kPeerLost;
}

void tell_user(const Error& error) noexcept { opal_output(0, "livebtl: %s", error.text.c_str()); }

void tell_not_taken() noexcept {
  static std::atomic<bool> told{false};
  if (told.exchange(true)) return;
  opal_output(
      0,
      "livebtl: a process called MPI_Finalize and had not received a message of this one's; the"
      " send ends with MPI_ERR_OTHER. Let the program receive what is sent to it before that");
}

void tell_peer_lost() noexcept {
  static std::atomic<bool> told{false};
  if (told.exchange(true)) return;
  opal_output(
      0,
      "livebtl: a process that this one exchanges messages with is dead, or has ended before"
      " it had sent all; what waits for it ends with MPI_ERR_OTHER. Look in the output of mpirun "
      "for why it ended, and start the"
      " job again");
}

}  // namespace livebtl::ompi
