// SPDX-License-Identifier: BSD-3-Clause
// Members' files that are read repeatedly.
#include <doctest/doctest.h>

#include "control/client/discovery.h"

using namespace livebtl;
using namespace livebtl::control;

TEST_CASE("a card that is known is parsed anew as soon as its file says something else") {
  constexpr ProcessId kProcess{7};
  MemberCard card;
  card.member = {kProcess, Incarnation{1}};
  card.mark = own_mark();
  card.rank = 3;
  card.node = "00000000000000aa";
  KnownCards known;
  for (const bool joined : {false, false, true, true, false}) {
    card.joined = joined;
    const auto read = known.card_of(kProcess, format_card(card));
    REQUIRE(read.has_value());
    CHECK(read->joined == joined);
    CHECK(read->rank == 3);
  }
  std::string torn = format_card(card);
  torn[0] = 'x';
  CHECK_FALSE(known.card_of(kProcess, std::move(torn)).has_value());
  CHECK(known.card_of(kProcess, format_card(card)).has_value());
}

TEST_CASE("a card whose node is no node's id is none: root makes files that are named by it") {
  MemberCard card;
  card.member = {ProcessId{7}, Incarnation{1}};
  card.mark = own_mark();
  card.node = "00000000000000aa";
  CHECK(parse_card(format_card(card)));
  for (const char* node : {"", "../../../../etc/x", "/etc/x", "0000000000000000",
                           "00000000000000AA", "00000000000000aa/", "aa", "node17"}) {
    CAPTURE(node);
    card.node = node;
    const auto read = parse_card(format_card(card));
    REQUIRE_FALSE(read);
    CHECK(read.error().code == Errc::kInvalid);
  }
}
