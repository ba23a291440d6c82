// SPDX-License-Identifier: BSD-3-Clause
// bench/sm_ring_bench.cc -- what one frame over sm costs, bare: only post() and progress().
//
//   sm_ring_bench stream [FRAMES [BYTES]]     one thread moves both sides; made for callgrind:
//       valgrind --tool=callgrind --toggle-collect='*post_and_progress*' sm_ring_bench stream 100000
//     and divide the instructions by the frames. (Both ends are in one process.)
//   sm_ring_bench pingpong [FRAMES [BYTES]]   two processes; prints the half round trip
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/clock.h"
#include "transports/sm/sm_transport.h"

namespace {

using namespace livebtl;

constexpr std::size_t kHeaderBytes = 40;

struct Counter final : core::EndpointSink {
  MutableBytes on_place(Bytes, std::size_t, bool) noexcept override { return {}; }
  void on_frame(Bytes, Bytes payload) noexcept override {
    ++frames;
    bytes += payload.size();
  }
  void on_sent(std::uint64_t) noexcept override {}
  void on_down(const Error& why) noexcept override {
    std::fprintf(stderr, "sm_ring_bench: %s\n", why.text.c_str());
    std::exit(1);
  }
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;
};

struct Party final : core::TransportSink {
  Party(const std::string& directory, std::uint64_t process) {
    core::NodeFacts facts;
    facts.process = ProcessId{process};
    facts.node = 1;
    facts.job_directory = directory;
    auto made = sm::SmTransport::make(facts, 256u << 10);
    if (!made) give_up(made.error());
    transport = std::move(*made);
  }
  ~Party() { endpoint.reset(); }
  [[noreturn]] static void give_up(const Error& why) {
    std::fprintf(stderr, "sm_ring_bench: %s\n", why.text.c_str());
    std::exit(1);
  }
  void on_accept(std::unique_ptr<core::Endpoint> accepted) noexcept override {
    take(std::move(accepted));
  }
  void take(std::unique_ptr<core::Endpoint> taken) {
    endpoint = std::move(taken);
    endpoint->attach(counter);
    endpoint->trust();
  }
  bool dial(const Blob& contact) {
    auto dialled = transport->connect(contact);
    if (!dialled && dialled.error().code != Errc::kUnreachable) give_up(dialled.error());
    if (dialled) take(std::move(*dialled));
    return dialled.has_value();
  }
  void turn(TimeNs now) { transport->progress(*this, now, 64); }

  Counter counter;
  std::unique_ptr<core::Transport> transport;
  std::unique_ptr<core::Endpoint> endpoint;
};

[[gnu::noinline]] void post_and_progress(Party& from, Party& to, const core::Frame& frame,
                                         TimeNs now, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    while (from.endpoint->post(frame) == core::Post::kRetry) to.turn(now);
    to.turn(now);
  }
}

void stream(const std::string& directory, std::uint64_t count, const core::Frame& frame) {
  Party from(directory, 1);
  Party to(directory, 2);
  from.dial(to.transport->contact());
  while (!to.endpoint) to.turn(monotonic_now());
  const TimeNs start = monotonic_now();
  to.turn(start);
  post_and_progress(from, to, frame, start, count);
  const TimeNs elapsed = monotonic_now() - start;
  std::printf("stream frames=%llu bytes=%zu ns_per_frame=%.1f\n",
              static_cast<unsigned long long>(to.counter.frames), frame.payload.size(),
              static_cast<double>(elapsed) / static_cast<double>(count));
}

void play(Party& party, std::uint64_t count, const core::Frame& frame, bool first) {
  for (std::uint64_t i = 0; i < count; ++i) {
    if (first)
      while (party.endpoint->post(frame) == core::Post::kRetry) party.turn(monotonic_now());
    // The clock is read as rarely as an engine would.
    for (TimeNs now = 0; party.counter.frames <= i;) {
      now = monotonic_now();
      for (int spin = 0; spin < 64 && party.counter.frames <= i; ++spin) party.turn(now);
    }
    if (!first)
      while (party.endpoint->post(frame) == core::Post::kRetry) party.turn(monotonic_now());
  }
}

void pingpong(const std::string& directory, std::uint64_t count, const core::Frame& frame) {
  Party ours(directory, 1);
  const Blob contact = ours.transport->contact();
  const pid_t child = ::fork();
  if (child == 0) {
    Party peer(directory, 2);
    while (!peer.dial(contact)) ::usleep(100);
    play(peer, count, frame, false);
    ::pause();
  }
  while (!ours.endpoint) ours.turn(monotonic_now());
  const TimeNs start = monotonic_now();
  play(ours, count, frame, true);
  const TimeNs elapsed = monotonic_now() - start;
  std::printf("pingpong frames=%llu bytes=%zu half_round_trip_ns=%.1f\n",
              static_cast<unsigned long long>(count), frame.payload.size(),
              static_cast<double>(elapsed) / static_cast<double>(2 * count));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1'000'000;
  const std::size_t bytes = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 8;
  if ((mode != "stream" && mode != "pingpong") || count == 0 || bytes > 65536) {
    std::fprintf(stderr, "usage: sm_ring_bench stream|pingpong [FRAMES [BYTES (at most 65536)]]\n");
    return 2;
  }
  std::string directory =
      (std::filesystem::temp_directory_path() / "livebtl-bench-XXXXXX").string();
  if (!::mkdtemp(directory.data())) return 1;
  const Blob header(kHeaderBytes);
  const Blob payload(bytes);
  const core::Frame frame{header, payload, 0, false};
  if (mode == "stream")
    stream(directory, count, frame);
  else
    pingpong(directory, count, frame);
  std::filesystem::remove_all(directory);
  return 0;
}
