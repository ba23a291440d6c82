// SPDX-License-Identifier: BSD-3-Clause
#include "base/json.h"

#include <doctest/doctest.h>

using namespace livebtl;

namespace {

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

Errc refusal(std::string_view text) {
  const auto json = parse_json(text, 3);
  return json ? Errc::kOk : json.error().code;
}

}  // namespace

TEST_CASE("a document is parsed up to its depth, and no deeper") {
  CHECK(refusal(nested(3)) == Errc::kOk);
  CHECK(refusal(nested(4)) == Errc::kLimit);
  CHECK(refusal(std::string(1'000'000, '[')) == Errc::kLimit);
  CHECK(refusal("[[],[],[],[[]],{\"a\":[]}]") == Errc::kOk);
}

TEST_CASE("brackets inside strings nest nothing") {
  CHECK(refusal(R"("[[[[[")") == Errc::kOk);
  CHECK(refusal(R"("\"[[[[[")") == Errc::kOk);
  CHECK(refusal(R"(["\\",[[[]]]])") == Errc::kLimit);
}

TEST_CASE("what is no document is refused") {
  for (const char* text : {"", "{", "]", "{\"a\":1,}", "1 2", "\"", "\"\\", "\xff"})
    CHECK(refusal(text) == Errc::kInvalid);
}

TEST_CASE("a document is what the library itself makes of the text") {
  for (const char* text : {"null", "true", "-1", "18446744073709551615", "1e-7", "\"\"", "[]", "{}",
                           R"("a\u00e9\n")", R"([[1],[2,[]],{"a":[3,4]},5,6,7,8,9,{"b":null}])",
                           R"({"b":{"x":[1,{}],"a":[false]},"a":[[[]],"c"],"c":-0.5})"}) {
    const auto json = parse_json(text, 4);
    REQUIRE(json.has_value());
    CHECK(*json == Json::parse(text));
    CHECK(json->dump() == Json::parse(text).dump());
  }
}

TEST_CASE("of two things that are wrong the first is told") {
  CHECK(refusal(R"({"a":1,"a":[[[[]]]]})") == Errc::kInvalid);
  CHECK(refusal(R"([[[[]]],})") == Errc::kLimit);
  CHECK(refusal("[1e999,[[[[]]]]]") == Errc::kInvalid);
}

TEST_CASE("a key may stand in several objects, but in none twice") {
  CHECK(refusal(R"({"a":{"a":1},"b":{"a":1}})") == Errc::kOk);
  CHECK(refusal(R"({"a":1,"b":2,"a":1})") == Errc::kInvalid);
  CHECK(refusal(R"([{"a":{"b":1,"b":2}}])") == Errc::kInvalid);
}
