// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/ofi_onesided_rig.h -- two connected ofi transports in one process, for direct
// use of their one-sided operations.
//
// Threads: the caller's alone.
#pragma once

#include <doctest/doctest.h>

#include <map>

#include "tests/conformance/rig.h"
#include "transports/ofi/direct/onesided.h"

namespace livebtl::conformance {

using ofi::Atomic;
using ofi::Exposed;
using ofi::Local;
using ofi::OfiEndpoint;
using ofi::OfiTransport;
using ofi::OneSided;

struct Done final : ofi::OneSidedSink {
  void on_done(std::uint64_t cookie, const Status& how, std::uint64_t fetched) noexcept override {
    done[cookie] = {how ? Errc::kOk : how.error().code, fetched};
  }
  struct Outcome {
    Errc code = Errc::kOk;
    std::uint64_t fetched = 0;
  };
  std::map<std::uint64_t, Outcome> done;
};

/// Two connected transports in this process, and what they report.
class Pair {
 public:
  /// how: all but the sink, which is the pair's.
  explicit Pair(const std::string& provider, const ofi::Options& how = {})
      : subject_(subject(provider, how)), rig_(subject_), link_(rig_.link()) {}

  OneSided& a() { return ofi::one_sided(*transports_[0]); }
  OneSided& b() { return ofi::one_sided(*transports_[1]); }
  OfiTransport& transport_a() { return *transports_[0]; }
  OfiEndpoint& to_b() { return static_cast<OfiEndpoint&>(link_.a->endpoint()); }
  Link& link() { return link_; }
  Rig& rig() { return rig_; }

  /// Moves both until it is taken. Returns its cookie.
  template <class Start>
  std::uint64_t start(Start start) {
    const std::uint64_t cookie = ++cookies_;
    REQUIRE(rig_.until([&] {
      const auto post = start(cookie);
      REQUIRE_MESSAGE(post.has_value(), post.error().text);
      return *post == Post::kPosted;
    }));
    return cookie;
  }
  std::uint64_t put(const Local& from, const Remote& to) {
    return start([&](std::uint64_t cookie) { return a().put(to_b(), from, to, cookie); });
  }
  std::uint64_t get(const Remote& from, const Local& to) {
    return start([&](std::uint64_t cookie) { return a().get(to_b(), from, to, cookie); });
  }
  std::uint64_t atomic(const Remote& at, const Atomic& what) {
    return start([&](std::uint64_t cookie) { return a().atomic(to_b(), at, what, cookie); });
  }
  Done::Outcome end_of(std::uint64_t cookie) {
    REQUIRE(rig_.until([&] { return seen_a_.done.contains(cookie); }));
    return seen_a_.done[cookie];
  }
  /// The same, for a provider that may say nothing for long: advances the clock until the transport
  /// gives its provider up and reopens it. The connection is gone by then.
  Done::Outcome end_of_failed(std::uint64_t cookie) {
    rig_.settle();
    TimeNs now = monotonic_now();
    while (!seen_a_.done.contains(cookie)) {
      now += kSecond;
      REQUIRE(now < monotonic_now() + 100 * kSecond);
      (void)transports_[0]->progress(rig_.a(), now, 64);
      if (!link_.a->downs.empty()) link_.a->close();
      if (!link_.a->open()) (void)transports_[0]->usable();
    }
    CHECK(link_.a->downs.size() == 1);
    return seen_a_.done[cookie];
  }
  void flush() {
    REQUIRE(rig_.until([&] { return a().outstanding(to_b()) == 0; }));
  }
  std::size_t ended() const { return seen_a_.done.size(); }
  std::uint64_t cookies() const { return cookies_; }

 private:
  Subject subject(const std::string& provider, const ofi::Options& how) {
    Subject subject;
    subject.name = "ofi";
    subject.make = [this, provider,
                    how](std::uint64_t process) -> Result<std::unique_ptr<core::Transport>> {
      core::NodeFacts facts;
      facts.process = ProcessId{process};
      facts.node = 1;
      facts.settings = &settings_;
      ofi::Options options = how;
      options.extension = ofi::one_sided(process == 1 ? seen_a_ : seen_b_);
      auto made = OfiTransport::make(facts, provider, "ofi", options);
      if (!made) return tl::unexpected(made.error());
      transports_[process - 1] = made->get();
      return std::unique_ptr<core::Transport>(std::move(*made));
    };
    return subject;
  }

  Settings settings_;
  Done seen_a_, seen_b_;
  std::array<OfiTransport*, 2> transports_{};
  Subject subject_;
  Rig rig_;
  Link link_;
  std::uint64_t cookies_ = 0;
};

inline Remote at(const Exposed& exposed, std::uint64_t offset) {
  return {exposed.remote.key, exposed.remote.address + offset};
}

/// Memory of both sides, filled with patterns.
struct Memory {
  Memory(Pair& pair, std::size_t bytes, Access access = Access::kReadWrite)
      : here(pattern(1, bytes)), there(pattern(2, bytes)) {
    const auto mine = pair.a().expose(here, Access::kReadWrite);
    REQUIRE_MESSAGE(mine.has_value(), mine.error().text);
    const auto theirs = pair.b().expose(there, access);
    REQUIRE_MESSAGE(theirs.has_value(), theirs.error().text);
    local = *mine;
    remote = *theirs;
  }
  Blob here, there;
  Exposed local, remote;
};

}  // namespace livebtl::conformance
