// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/messages/connection_test.cc -- a connection of messages opens, and both
// ends grant each other credit: used up, granted and merged, refused by the device, or invalid.
#include "tests/unit/transports/messages/connection_kit.h"

using namespace livebtl;
using namespace livebtl::messages;
using Taken = Connection::Taken;

TEST_CASE(
    "a dialler is open when its ticket is usable, an admitted end when it hears the dialler") {
  End dialler(true);
  CHECK(dialler.connection->is_open());
  End admitted(false);
  CHECK(admitted.connection->is_open());
  CHECK(admitted.connection->name() == "end -> peer");

  Side side;
  Credits credits;
  credits.add_buffers(kSharedBuffers + kCreditFloor);
  Connection waiting(side, credits, true, "end", kGrantsMax, 0);
  side.connection = &waiting;
  CHECK(!waiting.may_send());
  CHECK(waiting.awaits_ticket());
  waiting.heard(5);
  CHECK(!waiting.is_open());  // the dialler knows nothing of the peer yet
  waiting.dialled(tl::unexpected(Error{Errc::kInvalid, "no ticket"}), 6);
  CHECK(!waiting.awaits_ticket());
  CHECK(!waiting.settle());  // nobody listens yet
  CHECK(!waiting.is_down());
  waiting.attach(side);
  CHECK(!waiting.settle());
  CHECK(waiting.is_down());
  CHECK(side.why.text == "no ticket");
  CHECK(side.sent.empty());  // no BYE to a peer that was never met
}

TEST_CASE("frames leave credit for a grant and for BYE; a grant brings more") {
  End end(true, 5);
  for (int i = 0; i < 3; ++i) end.send();
  CHECK(!end.connection->may_send());
  CHECK(end.connection->credit() == kControlCredit);
  CHECK(!end.connection->send_control(Kind::kReads));  // leaves the same reserve as a frame
  CHECK(end.connection->send_control(Kind::kCredit));
  CHECK(!end.connection->send_control(Kind::kCredit));
  CHECK(end.connection->send_control(Kind::kBye));
  CHECK(!end.connection->send_control(Kind::kBye));
  CHECK(end.control(Kind::kCredit, 9) == Taken::kControl);
  CHECK(end.connection->may_send());
  CHECK(end.connection->stats().frames_sent == 3);
}

TEST_CASE("grants are announced with frames, or by themselves once half of them are not known") {
  End end(true, 200);
  const std::uint32_t first = end.connection->first_granted();
  CHECK(first == kSharedBuffers + kCreditFloor);
  std::uint32_t taken = 0;
  while (end.side.sent.empty()) {
    REQUIRE(end.frame(200) == Taken::kFrame);
    REQUIRE(++taken <= first);
  }
  CHECK(taken == first / 2);
  CHECK(end.side.sent.front().kind == Kind::kCredit);
  CHECK(end.side.sent.front().granted == first + taken);  // all that accumulated, in one
  end.side.sent.clear();
  for (std::uint32_t i = 0; i + 1 < first / 2; ++i) end.frame(200);
  end.send();  // carries the grant as well
  end.frame(200);
  CHECK(end.side.sent.empty());
  CHECK(end.side.frames.size() == first);
}

TEST_CASE("a grant that does not go is tried again: at the next chance, or in progress()") {
  End end(true, 200);
  end.side.takes = false;
  const int later = end.side.later;
  for (std::uint32_t i = 0; i < end.connection->first_granted() / 2; ++i) end.frame(200);
  CHECK(end.side.later == later + 1);
  end.side.under_way = true;  // that one's completion will do
  end.connection->tell();
  CHECK(end.side.later == later + 1);
  end.side.takes = true;
  end.connection->tell();
  CHECK(end.side.sent.size() == 1);
}

TEST_CASE("credit that shrinks, or grows by more than a peer has buffers, is corrupt") {
  for (const std::uint32_t granted : {9U, 10 + kGrantsMax + 1}) {
    End end(true, 10);
    CHECK(end.control(Kind::kCredit, granted) == Taken::kControl);
    CHECK(end.side.why.code == Errc::kCorrupt);
    CHECK(end.side.downs == 1);
  }
  End end(true, 10);
  end.control(Kind::kCredit, 10 + kGrantsMax);
  CHECK(end.connection->is_open());
}
