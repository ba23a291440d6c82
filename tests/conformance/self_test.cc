// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/self_test.cc -- the suite on transports/self.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "tests/conformance/conformance.h"
#include "transports/self/self_transport.h"

namespace livebtl::conformance {
namespace {

struct End final : core::EndpointSink {
  explicit End(std::unique_ptr<core::Endpoint> made) : endpoint(std::move(made)) {
    endpoint->attach(*this);
  }
  bool is_wanted(Bytes) noexcept override { return true; }
  MutableBytes on_place(Bytes, std::size_t, bool) noexcept override { return {}; }
  void on_frame(Bytes, Bytes payload) noexcept override {
    came.emplace_back(payload.begin(), payload.end());
  }
  void on_sent(std::uint64_t) noexcept override { std::ranges::fill(lent, std::byte{0xee}); }
  void on_down(const Error&) noexcept override {
    down = true;
    std::ranges::fill(lent, std::byte{0xee});  // its memory again
  }
  bool post(Bytes payload, bool stable) {
    const std::byte header[8]{};
    return endpoint->post({Bytes(header), payload, 1, stable}) != core::Post::kRetry;
  }

  std::unique_ptr<core::Endpoint> endpoint;
  Blob lent = Blob(64, std::byte{7});
  std::vector<Blob> came;
  bool down = false;
};

struct Accepted final : core::TransportSink {
  void on_accept(std::unique_ptr<core::Endpoint> endpoint) noexcept override {
    end.emplace(std::move(endpoint));
  }
  std::optional<End> end;
};

}  // namespace

TEST_CASE("what an end has lent is not read once it has cut the other end off") {
  for (const bool dialler_lends : {false, true}) {
    CAPTURE(dialler_lends);
    core::NodeFacts facts;
    facts.process = ProcessId{1};
    auto transport = self::self_kind().make(facts);
    REQUIRE(transport);
    auto dialled = (*transport)->connect((*transport)->address());
    REQUIRE(dialled);
    End dialler(std::move(*dialled));
    Accepted accepted;
    for (int turn = 0; turn < 10 && !accepted.end; ++turn)
      (*transport)->progress(accepted, monotonic_now(), 10);
    REQUIRE(accepted.end);
    End& lender = dialler_lends ? dialler : *accepted.end;
    End& other = dialler_lends ? *accepted.end : dialler;
    REQUIRE(lender.post(lender.lent, true));
    REQUIRE(other.post(Blob(core::kUntrustedPayloadMax + 1), false));
    for (int turn = 0; turn < 10; ++turn) (*transport)->progress(accepted, monotonic_now(), 10);
    CHECK(lender.down);
    CHECK(other.down);
    REQUIRE(other.came.size() == 1);
    CHECK(other.came[0] == Blob(64, std::byte{7}));
  }
}

TEST_CASE("self conforms") {
  Subject subject;
  subject.name = "self";
  subject.loopback = true;
  subject.make = [](std::uint64_t process) {
    core::NodeFacts facts;
    facts.process = ProcessId{process};
    return self::self_kind().make(facts);
  };
  run_conformance(subject);
}

}  // namespace livebtl::conformance
