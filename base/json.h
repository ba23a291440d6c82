// SPDX-License-Identifier: BSD-3-Clause
// base/json.h -- parses JSON from another process: bounded in depth, each key once; and writes
// strings. Pure; any thread. Header-only, so that code without JSON needs no library for it. The
// caller bounds the length.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "livebtl/result.h"

namespace livebtl {

using Json = nlohmann::json;

/// Builds the document while the parser reads, and stops at the first thing refused: what follows
/// it, or is nested deeper, is never built.
class CheckedDocument {
 public:
  // The parser's interface, with its names and types.
  using number_integer_t = Json::number_integer_t;
  using number_unsigned_t = Json::number_unsigned_t;
  using number_float_t = Json::number_float_t;
  using string_t = Json::string_t;
  using binary_t = Json::binary_t;

  explicit CheckedDocument(int depth_max) : depth_max_(static_cast<std::size_t>(depth_max)) {
    open_.reserve(depth_max_);
  }

  Json& document() noexcept { return document_; }
  bool too_deep() const noexcept { return too_deep_; }
  bool repeated() const noexcept { return repeated_; }

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(number_integer_t value) { return put(value); }
  bool number_unsigned(number_unsigned_t value) { return put(value); }
  bool number_float(number_float_t value, const string_t&) { return put(value); }
  bool string(string_t& value) { return put(std::move(value)); }
  bool binary(binary_t&) { return false; }  // text has none
  bool start_object(std::size_t) { return begin(Json::value_t::object); }
  bool start_array(std::size_t) { return begin(Json::value_t::array); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }
  bool key(string_t& name) {
    // The object itself refuses a second entry, so no separate set of keys is needed.
    const auto [entry, added] = open_.back()->emplace(std::move(name), nullptr);
    value_ = &*entry;
    repeated_ = !added;
    return added;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) { return false; }

 private:
  template <class Value>
  Json& place(Value&& value) {
    if (open_.empty()) return document_ = Json(std::forward<Value>(value));
    if (open_.back()->is_object()) return *value_ = Json(std::forward<Value>(value));
    return open_.back()->emplace_back(std::forward<Value>(value));
  }
  template <class Value>
  bool put(Value&& value) {
    place(std::forward<Value>(value));
    return true;
  }
  bool begin(Json::value_t kind) {
    too_deep_ = open_.size() >= depth_max_;
    if (!too_deep_) open_.push_back(&place(kind));
    return !too_deep_;
  }
  bool end() {
    open_.pop_back();
    return true;
  }

  const std::size_t depth_max_;
  Json document_;
  std::vector<Json*> open_;  // innermost last: only that one grows, so that none of them moves
  Json* value_ = nullptr;    // where the innermost object's next value goes
  bool too_deep_ = false;
  bool repeated_ = false;
};

/// Errors: kLimit (nested deeper), kInvalid (no document, or a key repeated in one object, on which
/// two readers would differ). Reports the first error in the text.
inline Result<Json> parse_json(std::string_view text, int depth_max) {
  CheckedDocument reader(depth_max);
  const bool whole = Json::sax_parse(text.begin(), text.end(), &reader);
  if (reader.too_deep())
    return fail(Errc::kLimit, "JSON nested more than " + std::to_string(depth_max) + " deep");
  if (reader.repeated()) return fail(Errc::kInvalid, "a JSON object with a repeated key");
  if (!whole) return fail(Errc::kInvalid, "not a JSON document");
  return std::move(reader.document());
}

/// Appends the text as a JSON string. What is not UTF-8 in it is replaced.
inline void append_json(std::string& json, std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
  });
  if (!plain) {
    json += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  json += '"';
  json += text;
  json += '"';
}

}  // namespace livebtl
