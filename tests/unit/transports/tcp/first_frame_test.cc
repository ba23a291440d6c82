// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/tcp/first_frame_test.cc -- what is posted before a connection is made.
#include <doctest/doctest.h>

#include <array>
#include <cstddef>

#include "tests/unit/transports/tcp/relay.h"
#include "tests/unit/transports/tcp/subject.h"
#include "transports/tcp/tcp_frame.h"

namespace livebtl::tcp {
namespace {

using conformance::End;
using conformance::Rig;
using core::Post;

// ... and at each address anew.
TEST_CASE("the first frame goes with the preamble, before anybody has answered") {
  const auto subject = kit::two_nodes();
  Rig rig(subject);
  const kit::Listener deaf, silent;
  auto dialled = rig.a().transport->connect(
      kit::address_of({kit::dead_end(), deaf.where(), silent.where()}, 2));
  REQUIRE(dialled.has_value());
  End end;
  end.take(std::move(*dialled));
  REQUIRE(end.post_pattern(1, 8, 8) == Post::kDone);
  TimeNs later = 0;
  Fd accepted;
  std::array<std::byte, 256> heard{};
  std::size_t bytes = 0;
  CHECK(rig.until([&] {
    later += kSecond;  // so that an address that does not answer is passed over
    rig.a().transport->progress(rig.a(), monotonic_now() + later, 64);
    if (!accepted) accepted = silent.accept();
    const auto room = MutableBytes(heard).subspan(bytes);
    const ssize_t count =
        accepted ? ::recv(accepted.number(), room.data(), room.size(), MSG_DONTWAIT) : -1;
    if (count > 0) bytes += static_cast<std::size_t>(count);
    return bytes >= kPreambleBytes + sizeof(Prelude) + 8 + 8;
  }));
  CHECK(decode_preamble(Bytes(heard).first(kPreambleBytes)).has_value());
  CHECK(static_cast<std::uint8_t>(heard[kPreambleBytes + offsetof(Prelude, magic)]) == kFrameMagic);
}

TEST_CASE("if it is not known whose node answers, no frame goes before it has") {
  const auto subject = kit::two_nodes();
  Rig rig(subject);
  Reachable contact;
  contact.network = network_hash();
  const kit::Listener silent;
  contact.sockets = {silent.where()};
  auto dialled = rig.a().transport->connect(encode_contact(contact));
  REQUIRE(dialled.has_value());
  End end;
  end.take(std::move(*dialled));
  CHECK(end.post_pattern(1, 8, 8) == Post::kRetry);
}

}  // namespace
}  // namespace livebtl::tcp
