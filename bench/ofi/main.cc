// SPDX-License-Identifier: BSD-3-Clause
// bench/ofi/main.cc -- ofi_onesided_bench [PROVIDER [TURNS]]: what livebtl's ofi transport adds to
// the put, the fetch-and-add and the bandwidth of libfabric's provider (tcp;ofi_rxm), measured in
// turns between the same two processes. One line of JSON per figure: the medians, and the median of
// the ratios of neighbours in time.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <vector>

#include "base/clock.h"
#include "bench/ofi/side.h"

namespace livebtl::bench {
namespace {

constexpr std::size_t kWindow = 16;  // puts under way, for bandwidth

/// What the origin wants from the target's process.
enum Wanted : int { kNothing, kLivebtl, kBare, kEnd };

struct Figure {
  const char* name;
  const char* unit;
  double (*measure)(Side& origin);
  bool more_is_better;
};

/// Nanoseconds per operation, of many that wait for each other.
template <class Start>
double one_by_one(Side& side, int count, Start start) {
  std::uint64_t done = side.progress();
  const TimeNs begin = monotonic_now();
  for (int i = 0; i < count; ++i) {
    while (!start()) (void)side.progress();
    for (++done; side.progress() != done;) {
    }
  }
  return static_cast<double>(monotonic_now() - begin) / count;
}

double put_latency(Side& side) {
  return one_by_one(side, 5000, [&] { return side.put(8); });
}

double fetch_add_latency(Side& side) {
  return one_by_one(side, 5000, [&] { return side.fetch_add(); });
}

double put_bandwidth(Side& side) {
  constexpr std::uint64_t kCount = 300;
  const std::uint64_t before = side.progress();
  std::uint64_t started = 0, done = 0;
  const TimeNs begin = monotonic_now();
  for (; done < kCount; done = side.progress() - before) {
    while (started < kCount && started - done < kWindow && side.put(kBytesMax)) ++started;
  }
  return static_cast<double>(kCount * kBytesMax) * 1e3 /
         static_cast<double>(monotonic_now() - begin);  // MB/s
}

constexpr std::array kFigures{
    Figure{"8 B put", "ns", put_latency, false},
    Figure{"8 B fetch-and-add", "ns", fetch_add_latency, false},
    Figure{"1 MiB put", "MB/s", put_bandwidth, true},
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

[[noreturn]] void be_target(const std::string& provider, bool descriptor, const Wire& wire,
                            const std::atomic<int>& wanted) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto livebtl = make_livebtl(provider), bare = make_bare(provider, descriptor);
  livebtl->meet_as_target(wire);
  bare->meet_as_target(wire);
  for (int now = wanted; now != kEnd; now = wanted) {
    if (now == kNothing) continue;
    (void)(now == kLivebtl ? *livebtl : *bare).progress();
  }
  ::_exit(0);
}

void compare(const Figure& figure, int turns, Side& livebtl, Side& bare, std::atomic<int>& wanted) {
  std::vector<double> ours, theirs, ratios;
  for (int turn = -1; turn < turns; ++turn) {  // the first one warms up
    std::array<double, 2> values{};
    for (const int each : {turn & 1, 1 - (turn & 1)}) {
      wanted = each == 0 ? kLivebtl : kBare;
      values[static_cast<std::size_t>(each)] = figure.measure(each == 0 ? livebtl : bare);
    }
    if (turn < 0) continue;
    ours.push_back(values[0]);
    theirs.push_back(values[1]);
    ratios.push_back(values[0] / values[1]);
  }
  std::printf(
      "{\"figure\": \"%s\", \"unit\": \"%s\", \"more_is_better\": %s, \"livebtl\": %.0f, "
      "\"bare\": %.0f, \"ratio\": %.3f, \"turns\": %d}\n",
      figure.name, figure.unit, figure.more_is_better ? "true" : "false", median(ours),
      median(theirs), median(ratios), turns);
  std::fflush(stdout);
}

int run(const std::string& provider, int turns, bool descriptor) {
  int ends[2];
  void* const shared = ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0 || shared == MAP_FAILED)
    give_up("no socket pair or no memory");
  auto& wanted = *new (shared) std::atomic<int>(kNothing);
  const pid_t target = ::fork();
  if (target < 0) give_up("no process can be started");
  if (target == 0) be_target(provider, descriptor, Wire(ends[1]), wanted);
  ::close(ends[1]);
  std::signal(SIGCHLD, [](int) { ::_exit(1); });  // it has said why; not every provider notices
  const auto livebtl = make_livebtl(provider), bare = make_bare(provider, descriptor);
  livebtl->meet_as_origin(Wire(ends[0]));
  bare->meet_as_origin(Wire(ends[0]));
  for (const Figure& figure : kFigures) compare(figure, turns, *livebtl, *bare, wanted);
  std::signal(SIGCHLD, SIG_DFL);
  wanted = kEnd;
  ::waitpid(target, nullptr, 0);
  return 0;
}

}  // namespace

void Wire::send(const Blob& message) const {
  if (::send(fd_, message.data(), message.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(message.size()))
    give_up("the other process has gone");
}

Blob Wire::receive() const {
  Blob message(64u << 10);
  const ssize_t bytes = ::recv(fd_, message.data(), message.size(), 0);
  if (bytes <= 0) give_up("the other process has gone");
  message.resize(static_cast<std::size_t>(bytes));
  return message;
}

}  // namespace livebtl::bench

int main(int argc, char** argv) {
  const std::string provider = argc > 1 ? argv[1] : "tcp;ofi_rxm";
  const int turns = argc > 2 ? std::atoi(argv[2]) : 15;
  const bool descriptor = argc > 3 && std::string(argv[3]) == "descriptor";
  if (argc > 4 || (argc > 3 && !descriptor) || turns < 1) {
    std::fprintf(stderr,
                 "usage: ofi_onesided_bench [PROVIDER [TURNS [descriptor]]]\n"
                 "descriptor: the bare side's completion queue has one to sleep on, too\n");
    return 1;
  }
  return livebtl::bench::run(provider, turns, descriptor);
}
