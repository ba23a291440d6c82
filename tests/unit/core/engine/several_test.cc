// SPDX-License-Identifier: BSD-3-Clause
// The buffer of a multi-receive returns to its user with the last call of `done`, and not before:
// not while a message still arrives into it, whatever ends first.
#include "core/lane/frame.h"
#include "tests/unit/core/engine/hostile_member.h"
#include "tests/unit/core/engine/small_credit.h"

using namespace livebtl;
using namespace livebtl::test;
using core::FrameKind;

namespace {

constexpr std::uint64_t kSeveralBytes = 100'000;

/// A multi-receive that remembers each of its calls.
struct Several : Operation {
  explicit Several(Rig& rig) {
    done = [](Operation& operation, const Completion& how) noexcept {
      static_cast<Several&>(operation).calls.push_back(how);
    };
    const MutableSlice slice{room.data(), room.size()};
    ReceiveRequest request{.kind = MessageKind::kPlain, .ignore = ~Tag{0}, .multi_bytes_min = 64};
    request.slices = {&slice, 1};
    REQUIRE(rig.ports[0]->receive(request, *this) == Accept::kAccepted);
  }
  /// Codes in the order of the calls, of which only the last returned the buffer.
  std::vector<Errc> codes() const {
    std::vector<Errc> codes;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      CHECK(calls[i].buffer_released == (i + 1 == calls.size()));
      codes.push_back(calls[i].code);
    }
    return codes;
  }
  std::vector<Completion> calls;
  std::vector<std::byte> room = std::vector<std::byte>(1 << 20);
};

/// A member whose two large messages arrive into one buffer, and stop half-way.
struct HalfWay {
  HalfWay() : rig(2, {kind("self"), kind("tcp")}, 1, small_credit()), several(rig), member(rig) {
    for (std::uint64_t transfer = 1; transfer <= 2; ++transfer) {
      member.send(FrameKind::kRts, core::RtsBody{0, 0, kSeveralBytes, transfer});
      member.until([&] { return member.came(FrameKind::kCts) == transfer; });
      handles.push_back(member.last<core::CtsBody>(FrameKind::kCts).handle);
    }
  }
  void sender_gives_up(std::size_t which) {
    const auto code = static_cast<std::uint32_t>(Errc::kCancelled);
    member.send(FrameKind::kFin, core::FinBody{handles.at(which), code, 0}, {}, core::kFlagGivenUp);
    member.until([&, before = several.calls.size()] { return several.calls.size() > before; });
  }
  Rig rig;
  Several several;
  HostileMember member;
  std::vector<std::uint64_t> handles;
};

}  // namespace

TEST_CASE("a multi-receive that is cancelled ends after the messages that arrive into it") {
  HalfWay at;
  CHECK(at.rig.ports[0]->cancel(at.several));
  CHECK(at.several.calls.empty());
  CHECK_FALSE(at.rig.ports[0]->cancel(at.several));
  at.sender_gives_up(0);
  CHECK_FALSE(at.several.calls.back().buffer_released);
  at.sender_gives_up(1);
  CHECK(at.several.codes() == std::vector(3, Errc::kCancelled));
}

TEST_CASE("... and one whose port closes, once") {
  HalfWay at;
  at.rig.ports[0].reset();
  CHECK(at.several.codes() == std::vector(3, Errc::kCancelled));
}

TEST_CASE("a message that its sender cancelled does not end the multi-receive it was for") {
  HalfWay at;
  at.sender_gives_up(0);
  at.sender_gives_up(1);
  const std::vector<std::byte> small(100, std::byte{9});
  at.member.send(FrameKind::kEager, core::MessageBody{}, small);
  at.member.until([&] { return at.several.calls.size() == 3; });
  for (const Completion& call : at.several.calls) CHECK_FALSE(call.buffer_released);
  const Completion& arrived = at.several.calls.back();
  CHECK(arrived.bytes == small.size());
  CHECK(std::memcmp(arrived.buffer, small.data(), small.size()) == 0);
  at.rig.ports[0].reset();
  CHECK(at.several.codes().size() == 4);
}
