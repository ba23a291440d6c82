// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/taken_back.cc -- memory that a peer puts into without a pause is deregistered
// and at once used for something else. Through the C++ interface, beside MPI in the same process.
// Counts as messages: one per put.
//
// Each rank puts into its right neighbour's memory until that is refused. What must hold: no byte
// changes after deregister_region() has returned, and a put ends well or with kBadKey. The memory
// lies between pages that nobody may touch; it is then overwritten, in some rounds after it was
// inaccessible. A separate thread moves the engine, so that bytes arrive during deregistration.
#include "taken_back.h"

#include <sched.h>

#include <cstdio>
#include <thread>

#include "regions.h"

namespace {

using e2e::Contact;
using e2e::good;
using e2e::Guarded;
using e2e::kBytes;
using e2e::kSizes;
using e2e::place_of;
using e2e::Proof;
using livebtl::Errc;

constexpr std::uint64_t kAccessesMax = 60;  // waited for before the memory is taken back

/// Moves the engine, whatever the main thread does.
class Mover {
 public:
  explicit Mover(livebtl::Engine& engine)
      : thread_([this, &engine] {
          while (!over_) {
            if (engine.progress() == 0) ::sched_yield();
          }
        }) {}
  ~Mover() {
    over_ = true;
    thread_.join();
  }
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;

 private:
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

/// Puts into the neighbour's memory until they are refused.
class Puts {
 public:
  explicit Puts(e2e::Reach& reach) : reach_(reach), all_(kSizes.size()) {
    for (std::size_t i = 0; i < all_.size(); ++i) all_[i].bytes.resize(kSizes[i]);
  }
  void begin_round(int target, std::uint64_t key) {
    target_ = target;
    key_ = key;
    is_refused_ = false;
  }
  /// Returns true if there are more, or some under way.
  bool move() {
    bool busy = false;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      Put& put = all_[i];
      if (put.step.idle()) {
        end(put);
        if (!is_refused_) begin(put, i);
      }
      busy |= put.step.begun;
    }
    return busy;
  }
  std::uint64_t refused() const { return refused_; }

 private:
  struct Put {
    e2e::Step step;
    std::vector<std::byte> bytes;
  };

  // All words of a put are the same, and differ from every other put's.
  void begin(Put& put, std::size_t index) {
    const std::uint64_t word = reach_.chance.next();
    for (std::size_t at = 0; at < put.bytes.size(); at += 8)
      std::memcpy(put.bytes.data() + at, &word, 8);
    const livebtl::Slice slice{put.bytes.data(), put.bytes.size()};
    reach_.begin(put.step, [&] {
      return reach_.port.put(
          {.to = reach_.at(target_), .remote = {key_, place_of(index)}, .slices = {&slice, 1}},
          put.step);
    });
    reach_.proof.note_sent(put.bytes.size());
  }

  void end(Put& put) {
    if (!std::exchange(put.step.begun, false)) return;
    reach_.proof.note_received(put.bytes.size());
    if (put.step.code == Errc::kOk) return;
    reach_.proof.expect(put.step.code == Errc::kBadKey, "a put ended otherwise than it may");
    is_refused_ = true;
    ++refused_;
  }

  e2e::Reach& reach_;
  std::vector<Put> all_;
  int target_ = 0;
  std::uint64_t key_ = 0, refused_ = 0;
  bool is_refused_ = false;
};

class Storm {
 public:
  Storm(Proof& proof, livebtl::Engine& engine)
      : port_(good(engine.open_port({}))),
        reach_{proof, engine, *port_,
               e2e::Chance(proof.options().seed * 1000 + static_cast<std::uint64_t>(proof.rank()))},
        puts_(reach_) {
    port_->on_remote_access(
        [](void* user, const livebtl::RemoteAccess&) noexcept {
          ++*static_cast<std::atomic<std::uint64_t>*>(user);
        },
        &accesses_);
    for (Guarded& memory : memories_) memory.use_otherwise(0);
  }

  void round() {
    Guarded& memory = memories_[reach_.proof.round() % memories_.size()];
    reach_.proof.expect(memory.is_untouched(), "memory was written to a round after its region");
    const std::uint64_t key = begin(memory);
    const std::uint64_t wanted = accesses_ + reach_.chance.below(kAccessesMax);
    bool taken_back = false;
    for (bool busy = true; busy || !taken_back;) {
      busy = puts_.move();
      if (!taken_back && accesses_ >= wanted) {
        take_back(memory, key);
        taken_back = true;
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);  // no put is under way any more
    reach_.proof.expect(memory.is_untouched(), "memory was written to after its region had gone");
    tell();
  }

 private:
  // Collective. Registers the memory, and gives the neighbour its key.
  std::uint64_t begin(Guarded& memory) {
    std::fill_n(memory.data(), kBytes, std::byte{});
    livebtl::RegionRequest request;
    request.base = memory.data();
    request.bytes = kBytes;
    const Contact mine{port_->address(), good(port_->register_region(request))};
    reach_.contacts.resize(static_cast<std::size_t>(reach_.proof.size()));
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, reach_.contacts.data(), sizeof mine, MPI_BYTE,
                  MPI_COMM_WORLD);
    if (reach_.peers.empty()) {
      for (const Contact& each : reach_.contacts)
        reach_.peers.push_back(good(reach_.engine.peer(each.address)));
    }
    const int right = (reach_.proof.rank() + 1) % reach_.proof.size();
    puts_.begin_round(right, reach_.key(right));
    return mine.key;
  }

  // In every third round, first checks what had arrived; in every third, forbids all access.
  void take_back(Guarded& memory, std::uint64_t key) {
    const bool gone = port_->deregister_region(key).has_value();
    const std::uint64_t way = reach_.proof.round() % 3;
    if (way == 1) memory.forbid();
    if (way == 2) torn_ += memory.torn();
    reach_.proof.expect(gone, "a region stays");
    if (way == 1) {
      for (int i = 0; i < 100; ++i) reach_.engine.progress();
      memory.allow();
    }
    memory.use_otherwise(reach_.chance.next());
  }

  void tell() const {
    std::printf("{\"rank\": %d, \"refused\": %llu, \"torn\": %llu}\n", reach_.proof.rank(),
                static_cast<unsigned long long>(puts_.refused()),
                static_cast<unsigned long long>(torn_));
    std::fflush(stdout);
  }

  std::atomic<std::uint64_t> accesses_ = 0;
  std::unique_ptr<livebtl::Port> port_;
  e2e::Reach reach_;
  Puts puts_;
  std::array<Guarded, 2> memories_;
  std::uint64_t torn_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 1;
  {
    const auto engine = good(livebtl::Engine::acquire());
    Proof proof(argc, argv, "taken_back");
    Storm storm(proof, *engine);
    const Mover mover(*engine);
    while (proof.next_round()) storm.round();
    MPI_Barrier(MPI_COMM_WORLD);
    code = proof.finish();
  }
  MPI_Finalize();
  return code;
}
