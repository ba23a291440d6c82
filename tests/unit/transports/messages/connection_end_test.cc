// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/messages/connection_end_test.cc -- BYE in each order, an end with reads
// outstanding, exposed buffers that are returned, and what a hostile peer may send.
#include "tests/unit/transports/messages/connection_kit.h"

using namespace livebtl;
using namespace livebtl::messages;
using Taken = Connection::Taken;

TEST_CASE("BYE of the peer's takes the connection down, with or without reads outstanding") {
  End end;
  CHECK(end.control(Kind::kBye, 10) == Taken::kControl);
  CHECK(end.connection->peer_has_gone());
  CHECK(end.connection->is_down());
  CHECK(end.side.why.code == Errc::kDown);
  CHECK(end.frame(10) == Taken::kControl);  // whatever follows it is dropped
  CHECK(end.side.frames.empty());

  End reading;
  CHECK(reading.take(exposed_message()) == Taken::kExposed);
  CHECK(reading.special.payload.size() == kWhereBytesMax);
  Blob frame(sizeof(Head) + 8), bye(sizeof(Head));
  encode_frame({reading.header, {}, 0, false}, 10, true, frame.data());
  encode_control(Kind::kBye, 10, 0, bye.data());
  reading.connection->look_for_bye(frame);
  CHECK(reading.connection->is_open());
  reading.connection->look_for_bye(bye);
  CHECK(reading.connection->is_down());
  CHECK(reading.connection->peer_has_gone());
}

TEST_CASE("BYE of ours goes once, while the connection is open") {
  End end;
  end.connection->take_down({Errc::kDown, "over"});
  CHECK(end.side.bye_sent);
  CHECK(end.side.sent.size() == 1);
  end.connection->take_down({Errc::kDown, "again"});
  end.connection->part();
  CHECK(end.side.sent.size() == 1);
  CHECK(end.side.downs == 1);
  CHECK(end.side.why.text == "over");

  End gone;  // its endpoint is destroyed: nobody is told
  gone.connection->part();
  gone.connection->close();
  CHECK(gone.side.bye_sent);
  CHECK(gone.side.downs == 0);

  End without(true, 4);
  for (int i = 0; i < 2; ++i) without.send();
  without.connection->send_control(Kind::kCredit);
  without.connection->send_control(Kind::kBye);
  without.connection->take_down({Errc::kDown, "over"});
  CHECK(!without.side.bye_sent);  // no credit left for it
  CHECK(without.side.downs == 1);
}

TEST_CASE("an end that ends takes and sends nothing, and goes down in progress()") {
  End end;
  end.connection->part();
  end.connection->end({Errc::kDown, "memory was wanted back"});
  CHECK(!end.connection->may_send());
  CHECK(end.frame(10) == Taken::kControl);
  CHECK(end.side.frames.empty());
  CHECK(end.side.downs == 0);
  CHECK(!end.connection->settle());
  CHECK(end.side.why.text == "memory was wanted back");
  CHECK(!end.connection->settle());
  CHECK(end.side.downs == 1);
  CHECK(end.side.sent.size() == 1);  // the one BYE
}

TEST_CASE("the first failure counts, and a connection that fails goes down in progress()") {
  End end;
  CHECK(end.connection->settle());
  const int later = end.side.later;
  end.connection->fail({Errc::kDown, "first"});
  end.connection->fail({Errc::kDown, "second"});
  CHECK(end.side.later > later);
  CHECK(!end.connection->settle());
  CHECK(end.side.why.text == "first");
}

TEST_CASE("exposed buffers are the user's again when the peer has read them, in their order") {
  End end;
  std::vector<ExposedBuffer<int>> exposed{{1, 11}, {2, 12}, {3, 13}};
  CHECK(end.control(Kind::kReads, 10, 2) == Taken::kReads);
  end.connection->take_back(exposed, end.special.head.payload_crc);
  CHECK(end.side.cookies == std::vector<std::uint64_t>{11, 12});
  REQUIRE(exposed.size() == 1);
  end.connection->take_back(exposed, 2);  // repeated: nothing happens
  CHECK(exposed.size() == 1);
  end.connection->take_back(exposed, 4);  // more than the three
  CHECK(end.side.why.code == Errc::kCorrupt);
  CHECK(end.side.cookies.size() == 2);
}

TEST_CASE("all memory may be wanted back in the midst of a report") {
  End end;
  std::vector<ExposedBuffer<int>> exposed{{1, 11}, {2, 12}, {3, 13}};
  end.side.let_go_of = &exposed;
  end.connection->take_back(exposed, 3);
  CHECK(end.side.cookies == std::vector<std::uint64_t>{11});
}

TEST_CASE("a payload that was read is handed on and reported; a corrupt one ends the connection") {
  End end;
  const Blob payload(100, std::byte{5});
  CHECK(end.connection->deliver_read(end.header, payload, true));
  end.freed();
  CHECK(end.side.frames.size() == 1);
  CHECK(end.connection->stats().frames_received == 1);
  REQUIRE(end.side.sent.size() == 1);
  CHECK(end.side.sent.front().kind == Kind::kReads);
  CHECK(end.side.sent.front().read == 1);
  end.connection->tell();
  CHECK(end.side.sent.size() == 1);
  CHECK(!end.connection->deliver_read(end.header, payload, false));
  CHECK(end.side.why.code == Errc::kCorrupt);
  CHECK(end.side.frames.size() == 1);
}

TEST_CASE("what is malformed, or longer than an end that is not trusted takes, is corrupt") {
  End end;
  CHECK(end.take(Blob(3)) == Taken::kControl);
  CHECK(end.side.why.code == Errc::kCorrupt);

  Side side;
  Credits credits;
  credits.add_buffers(kSharedBuffers + kCreditFloor);
  Connection untrusted(side, credits, true, "end", kGrantsMax, 0);
  side.connection = &untrusted;
  untrusted.attach(side);
  untrusted.meet(10, false, "");
  untrusted.dialled({}, 1);
  CHECK(!untrusted.trusted());
  const Blob header(8, std::byte{1}), payload(core::kUntrustedPayloadMax + 1);
  Blob message(sizeof(Head) + header.size());
  encode_frame({header, payload, 0, false}, 10, false, message.data());
  message.insert(message.end(), payload.begin(), payload.end());
  Message special;
  CHECK(untrusted.take(message, special) == Taken::kControl);
  CHECK(side.why.code == Errc::kCorrupt);
}
