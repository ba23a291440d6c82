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

TEST_CASE("a key may stand in several objects, but in none twice") {
  CHECK(refusal(R"({"a":{"a":1},"b":{"a":1}})") == Errc::kOk);
  CHECK(refusal(R"({"a":1,"b":2,"a":1})") == Errc::kInvalid);
  CHECK(refusal(R"([{"a":{"b":1,"b":2}}])") == Errc::kInvalid);
}
