// SPDX-License-Identifier: BSD-3-Clause
#include "control/wire/json_text.h"

#include <doctest/doctest.h>

#include "base/json.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace std::string_view_literals;

namespace {

constexpr unsigned kDepth = 3;

Errc refusal(std::string_view text) {
  JsonText parsed(text);
  const auto object = parsed.parse(kDepth);
  return object ? Errc::kOk : object.error().code;
}

/// What the parser of everything else makes of it.
Errc refusal_by_other(std::string_view text) {
  const auto json = parse_json(text, kDepth);
  if (!json) return json.error().code;
  return json->is_object() ? Errc::kOk : Errc::kInvalid;
}

constexpr std::string_view kTexts[] = {"",
                                       "{",
                                       "}",
                                       "[]",
                                       "1",
                                       "\"a\"",
                                       "null",
                                       " {} ",
                                       "\n\t{ \"a\" : [ 1 , -2 , 1.5e-7 , true , null ] }\r\n",
                                       R"({} x)",
                                       R"({}{})",
                                       R"({"a":1,})",
                                       R"({"a":1 "b":2})",
                                       R"({a:1})",
                                       R"({'a':1})",
                                       R"({"a":01})",
                                       R"({"a":+1})",
                                       R"({"a":.5})",
                                       R"({"a":1.})",
                                       R"({"a":NaN})",
                                       R"({"a":Infinity})",
                                       R"({"a":1e999})",
                                       R"({"a":10e308})",
                                       R"({"a":-0})",
                                       R"({"a":-0.0})",
                                       R"({"a":1e})",
                                       R"({"a":1e+})",
                                       R"({"a":-})",
                                       R"({"a":18446744073709551615})",
                                       R"({"a":18446744073709551616})",
                                       R"({"a":-9223372036854775808})",
                                       R"({"a":/*b*/1})",
                                       R"({"a":"\u00e9\n\/\ud83d\ude00"})",
                                       R"({"a":"\u0000"})",
                                       R"({"a":"\ud83d"})",
                                       R"({"a":"\ude00"})",
                                       R"({"a":"\x41"})",
                                       "{\"a\":\"\t\"}",
                                       "{\"a\":\"\xc3\xa9\"}",
                                       "{\"a\":\"\xff\"}",
                                       "{\"a\":\"\xc0\xaf\"}",
                                       "{\"a\":\"\xed\xa0\x80\"}",
                                       "{\"a\":\"\xf4\x90\x80\x80\"}",
                                       "{\"a\":\"\xe2\x82\"}",
                                       "{\"\xff\":1}",
                                       R"({"a":{"a":1},"b":{"a":1}})",
                                       R"({"a":1,"b":2,"a":1})",
                                       R"({"a":[{"b":1,"b":2}]})",
                                       R"({"a":1,"\u0061":2})"};

std::string within(int depth, char open, char close) {
  const auto count = static_cast<std::size_t>(depth);
  return R"({"a":)" + std::string(count, open) + std::string(count, close) + "}";
}

}  // namespace

TEST_CASE("an object is read up to its depth, and no deeper") {
  CHECK(refusal(within(2, '[', ']')) == Errc::kOk);
  CHECK(refusal(within(3, '[', ']')) == Errc::kLimit);
  CHECK(refusal(R"({"a":{"b":{}},"c":[[],[],{}]})") == Errc::kOk);
  CHECK(refusal(R"({"a":{"b":{"c":{}}}})") == Errc::kLimit);
  CHECK(refusal(R"({"a":)" + std::string(1'000'000, '[')) == Errc::kLimit);
  CHECK(refusal(R"({"a":"[[[[[","[[[[[":1})") == Errc::kOk);
}

TEST_CASE("both parsers take and refuse the same texts") {
  for (const std::string_view text : kTexts) {
    CAPTURE(text);
    CHECK(refusal(text) == refusal_by_other(text));
  }
}

TEST_CASE("a text that is cut off anywhere is refused, and nothing behind it is touched") {
  const std::string_view whole =
      "{\"some\\nkey\":\"a\\u00e9\xc3\xa9 \\n\xe2\x82\xac\\n \xf1\x80\x80\x80 "
      "b\",\"n\":[1,-2,1.5e-7,true]}";
  REQUIRE(refusal(whole) == Errc::kOk);
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    CAPTURE(bytes);
    CHECK(refusal(whole.substr(0, bytes)) == Errc::kInvalid);
  }
}

// CVE-2024-38517.
TEST_CASE("a number with an exponent far below zero is refused") {
  for (const std::string_view number :
       {"0.00000000001e-2147483639", "0.00000000000000000001e-2147483647", "1e-2147483648",
        "0.1e-99999999999999999999", "1e-999"}) {
    CAPTURE(number);
    CHECK(refusal(R"({"a":)" + std::string(number) + "}") == Errc::kInvalid);
  }
}

TEST_CASE("a NUL ends nothing") {
  for (const std::string_view text : {"{}\0"sv, "{}\0x"sv, "{\"a\0\":1}"sv, "\0{}"sv})
    CHECK(refusal(text) == Errc::kInvalid);
}

TEST_CASE("values are those of the text") {
  JsonText parsed(R"({"s":"a\u0000b\n","n":18446744073709551615,"m":-2,"l":[1,"x"],"t":true})");
  const auto object = parsed.parse(kDepth);
  REQUIRE(object);
  const JsonValue& value = **object;
  CHECK(text_of(value["s"]) == "a\0b\n"sv);
  CHECK(value["n"].GetUint64() == UINT64_MAX);
  CHECK(value["m"].GetInt() == -2);
  CHECK(value["l"].Size() == 2);
  CHECK(text_of(value["l"][1]) == "x");
  CHECK(value["t"].GetBool());
}

TEST_CASE("more than the pool holds") {
  std::string text = R"({"first":"kept")";
  for (int i = 0; i < 5000; ++i) text += ",\"k" + std::to_string(i) + "\":" + std::to_string(i);
  JsonText parsed(text + "}");
  const auto object = parsed.parse(kDepth);
  REQUIRE(object);
  CHECK((*object)->MemberCount() == 5001);
  CHECK(text_of((**object)["first"]) == "kept");
  CHECK((**object)["k4999"].GetInt() == 4999);
}
