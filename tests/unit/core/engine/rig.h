// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/rig.h -- engines of several "processes" in one test thread, over real
// transports on loopback.
#pragma once

#include <doctest/doctest.h>
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "core/engine/engine_core.h"
#include "transports/builtin.h"

namespace livebtl::test {

/// An operation that remembers how it ended.
struct Watched : Operation {
  Completion completion{};
  int done_count = 0;
  Watched() {
    done = [](Operation& operation, const Completion& how) noexcept {
      auto& self = static_cast<Watched&>(operation);
      self.completion = how;
      ++self.done_count;
    };
  }
};

inline core::TransportKind kind(const std::string& name, const std::string& as = "") {
  for (core::TransportKind& each : transports::builtin()) {
    if (each.name != name) continue;
    if (!as.empty()) each.name = as;
    return each;
  }
  FAIL("no transport ", name);
  return {};
}

inline std::vector<core::TransportKind> two_networks() {
  return {kind("self"), kind("tcp", "alpha"), kind("tcp", "beta")};
}

/// self, and these.
inline std::vector<core::TransportKind> kinds_of(const std::vector<std::string>& names) {
  std::vector<core::TransportKind> kinds{kind("self")};
  for (const std::string& name : names) kinds.push_back(kind(name));
  return kinds;
}

class Rig {
 public:
  explicit Rig(std::size_t count, std::vector<core::TransportKind> kinds,
               std::uint64_t first_seq = 1, Settings settings = {}, std::size_t nodes = 1,
               const core::Routing& routing = {},
               const Secret& secret = Secret(std::array<std::byte, 32>{std::byte{7}})) {
    char path[] = "/tmp/livebtl-test-XXXXXX";
    if (std::getenv("LIVEBTL_LOG") != nullptr) set_log_level(LogLevel::kDebug);
    directory_ = ::mkdtemp(path);
    config_.settings = settings;
    config_.settings.tcp_if = {"lo"};
    config_.job = "test";
    config_.secret = secret;
    config_.job_directory = directory_;
    config_.routing = routing;
    config_.first_seq = first_seq;
    config_.now = [this] { return stopped_ != 0 ? stopped_ : monotonic_now(); };
    for (std::size_t i = 0; i < count; ++i) start(kinds, 42 + i % nodes, nullptr);
  }
  /// From here on the engines' time passes only here. One turn of each engine, its timers included.
  void pass(TimeNs time) {
    stopped_ = (stopped_ != 0 ? stopped_ : monotonic_now()) + time;
    for (auto& engine : engines) {
      engine->progress();
      engine->wait(0);
    }
  }
  /// The same, but nobody gets a turn.
  void let(TimeNs time) { stopped_ = (stopped_ != 0 ? stopped_ : monotonic_now()) + time; }
  /// The same while no application calls in: agents take their turns whenever they are awake.
  /// Returns how long the agent of engine i would then sleep; below 0: until something happens.
  std::int64_t pass_away(TimeNs time, std::size_t i = 0) {
    if (stopped_ == 0) stopped_ = monotonic_now();
    const TimeNs end = stopped_ + time;
    std::vector<std::int64_t> sleeps(engines.size(), 0);
    while (stopped_ < end) {
      int rounds = 0;
      do {
        for (std::size_t each = 0; each < engines.size(); ++each)
          sleeps[each] = sleep_of(*engines[each]);
      } while (++rounds < 1000 &&
               std::ranges::any_of(engines, [](const auto& each) { return is_woken(*each); }));
      TimeNs next = end;
      for (std::size_t each = 0; each < engines.size(); ++each) {
        if (sleeps[each] >= 0)
          next = std::min(next, stopped_ + std::max(sleeps[each], kMillisecond));
        if (!is_away(*engines[each])) next = std::min(next, stopped_ + kMillisecond);
      }
      stopped_ = next;
    }
    return sleeps[i];
  }
  /// One more process.
  void join(std::vector<core::TransportKind> kinds) { start(std::move(kinds), 42, nullptr); }
  /// ... while a ladder stands there.
  void join(std::vector<core::TransportKind> kinds, const core::RungOrder& standing) {
    start(std::move(kinds), 42, &standing);
  }
  /// The process starts anew under its old id, like one that was set back to its beginning.
  void set_back(std::size_t i, std::vector<core::TransportKind> kinds) {
    ports.clear();
    engines[i].reset();
    engines[i] = engine(i, std::move(kinds), 42);
    REQUIRE(engines[i]->open_transports());
  }
  /// One more process with the id of process i, which goes on: it exists twice.
  void copy_of(std::size_t i, std::vector<core::TransportKind> kinds) {
    engines.push_back(engine(i, std::move(kinds), 42));
    REQUIRE(engines.back()->open_transports());
    open_port(*engines.back());
  }
  /// New ones, after a test has closed them all.
  void open_ports() {
    ports.clear();
    for (auto& each : engines) open_port(*each);
  }
  ~Rig() {
    ports.clear();
    engines.clear();
    std::filesystem::remove_all(directory_);
  }

  Destination to(std::size_t from, std::size_t target) {
    return *engines[from]->peer(ports[target]->address());
  }
  /// Moves all engines until the condition holds; fails the test after a generous time.
  template <class Condition>
  void until(Condition condition) {
    const TimeNs deadline = monotonic_now() + 20 * kSecond;
    while (!condition()) {
      for (auto& engine : engines) {
        engine->progress();
        engine->agent_turn();
      }
      if (monotonic_now() > deadline) {
        FAIL("nothing more happens");
        return;
      }
    }
  }

  /// Has the agent stopped counting on the application? Then it waits for more than the timer.
  static bool is_away(core::EngineCore& engine) { return engine.wait_fds().size() > 1; }
  static bool is_woken(core::EngineCore& engine) {
    std::vector<pollfd> polled;
    for (const int fd : engine.wait_fds()) polled.push_back({fd, POLLIN, 0});
    // The timer runs on real time.
    return polled.size() > 1 && ::poll(polled.data() + 1, polled.size() - 1, 0) > 0;
  }
  /// Turns of the agent until it would sleep; returns for how long.
  static std::int64_t sleep_of(core::EngineCore& engine) {
    std::int64_t sleep = 0;
    for (int turn = 0; turn < 1000 && sleep == 0; ++turn) sleep = engine.agent_turn();
    return sleep;
  }

  static constexpr std::uint64_t kFirstProcess = 100;
  std::vector<std::unique_ptr<core::EngineCore>> engines;
  std::vector<std::unique_ptr<Port>> ports;

 private:
  void start(std::vector<core::TransportKind> kinds, std::uint64_t node,
             const core::RungOrder* standing) {
    engines.push_back(engine(started_++, std::move(kinds), node));
    if (standing != nullptr) engines.back()->adopt(*standing);
    REQUIRE(engines.back()->open_transports());
    open_port(*engines.back());
  }

  std::unique_ptr<core::EngineCore> engine(std::size_t i, std::vector<core::TransportKind> kinds,
                                           std::uint64_t node) {
    core::EngineConfig config = config_;
    config.label = "rank " + std::to_string(i);
    config.process = ProcessId{kFirstProcess + i};
    config.node = node;
    config.kinds = std::move(kinds);
    config.seed = i + 1;
    return std::make_unique<core::EngineCore>(config);
  }

  void open_port(core::EngineCore& at) {
    auto port = at.open_port({});
    REQUIRE(port);
    ports.push_back(std::move(*port));
  }

  std::string directory_;
  std::size_t started_ = 0;  // so that ids are unique
  core::EngineConfig config_;
  TimeNs stopped_ = 0;  // not 0: the engines' clock is stopped there
};

/// The transport by which engine i sends to engine `to`.
inline std::string used(Rig& rig, std::size_t i, std::size_t to) {
  for (const auto& peer : rig.engines[i]->status().peers) {
    if (peer.process == rig.engines[to]->process_id()) return peer.transport;
  }
  return "";
}

/// Word by word: some tests want megabytes, even in sanitizer builds.
inline std::vector<std::byte> pattern(std::size_t bytes, std::uint64_t seed) {
  std::vector<std::byte> data(bytes);
  Random random(seed);
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = random.next();
    std::memcpy(data.data() + at, &word, std::min(sizeof word, bytes - at));
  }
  return data;
}

}  // namespace livebtl::test
