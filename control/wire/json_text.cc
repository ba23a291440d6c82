// SPDX-License-Identifier: BSD-3-Clause
// control/wire/json_text.cc -- see json_text.h.
#include "control/wire/json_text.h"

#include <rapidjson/reader.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <vector>

namespace livebtl::control {
namespace {

/// Of an escape such as "\udc00" that stands alone, which the parser turns into bytes that are not UTF-8.
bool has_half_a_pair(std::string_view text) noexcept {
  for (std::size_t at = 0; (at = text.find('\xed', at)) != std::string_view::npos; ++at) {
    if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0xA0) return true;
  }
  return false;
}

/// Builds the document while the parser reads, and stops at the first object or list that is nested too deep.
class BoundedDepth {
 public:
  using Ch = char;

  BoundedDepth(JsonDocument& document, unsigned depth_max) noexcept
      : document_(document), left_(depth_max) {}
  bool too_deep() const noexcept { return too_deep_; }

  // NOLINTBEGIN(readability-identifier-naming): the parser's interface.
  bool Null() { return document_.Null(); }
  bool Bool(bool value) { return document_.Bool(value); }
  // Not called, as numbers come as text.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }
  /// The parser's own conversion is not used: a number with a large negative exponent makes it read
  /// past a table (CVE-2024-38517, in both releases of Debian).
  bool RawNumber(const Ch* text, rapidjson::SizeType length, bool) {
    return put_number({text, length});
  }
  bool String(const Ch* text, rapidjson::SizeType length, bool copy) {
    return !has_half_a_pair({text, length}) && document_.String(text, length, copy);
  }
  bool Key(const Ch* text, rapidjson::SizeType length, bool copy) {
    return !has_half_a_pair({text, length}) && document_.Key(text, length, copy);
  }
  bool StartObject() { return deeper() && document_.StartObject(); }
  bool StartArray() { return deeper() && document_.StartArray(); }
  bool EndObject(rapidjson::SizeType members) {
    ++left_;
    return document_.EndObject(members);
  }
  bool EndArray(rapidjson::SizeType entries) {
    ++left_;
    return document_.EndArray(entries);
  }
  // NOLINTEND(readability-identifier-naming)

 private:
  bool deeper() noexcept {
    too_deep_ = left_ == 0;
    if (!too_deep_) --left_;
    return !too_deep_;
  }

  template <class Number>
  static bool is_all(std::string_view text, Number& number) noexcept {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
  }
  /// The text follows JSON's grammar. false: nothing here can hold it.
  bool put_number(std::string_view text) {
    std::uint64_t natural = 0;
    std::int64_t whole = 0;
    double other = 0;
    if (is_all(text, natural)) return document_.Uint64(natural);
    if (is_all(text, whole)) return document_.Int64(whole);
    return is_all(text, other) && document_.Double(other);
  }

  JsonDocument& document_;
  unsigned left_;
  bool too_deep_ = false;
};

/// Any order will do: lengths differ more often than not, and cost less to compare.
bool by_length(std::string_view a, std::string_view b) noexcept {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

/// In this value, or in any within it. Recursion is bounded by the document's depth.
bool repeats_a_key(const JsonValue& value) {
  if (value.IsArray()) {
    return std::any_of(value.Begin(), value.End(), repeats_a_key);
  }
  if (!value.IsObject()) return false;
  std::vector<std::string_view> keys;
  keys.reserve(value.MemberCount());
  for (const auto& member : value.GetObject()) {
    if (repeats_a_key(member.value)) return true;
    keys.push_back(text_of(member.name));
  }
  std::sort(keys.begin(), keys.end(), by_length);
  return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
}

}  // namespace

Result<const JsonValue*> JsonText::parse(unsigned depth_max) {
  // The parser takes a NUL for the text's end. Of a character that is cut off there it reads, and
  // writes, up to two bytes more.
  if (text_.find('\0') != std::string::npos) return fail(Errc::kInvalid, "a NUL byte");
  text_.append(3, '\0');
  bool whole = false, too_deep = false;
  const auto read = [&](JsonDocument& document) {
    constexpr unsigned kFlags = rapidjson::kParseInsituFlag |
                                rapidjson::kParseValidateEncodingFlag |
                                rapidjson::kParseNumbersAsStringsFlag;
    BoundedDepth handler(document, depth_max);
    rapidjson::InsituStringStream stream(text_.data());
    rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, ThrowingAllocator> reader;
    whole = !reader.Parse<kFlags>(stream, handler).IsError();
    too_deep = handler.too_deep();
    return whole;
  };
  document_.Populate(read);
  if (too_deep) return fail(Errc::kLimit, "nested too deep");
  if (!whole || !document_.IsObject() || repeats_a_key(document_))
    return fail(Errc::kInvalid, "not a JSON object");
  return &document_;
}

}  // namespace livebtl::control
