// SPDX-License-Identifier: BSD-3-Clause
// control/wire/json_archive.h -- JsonWriter, which together with JsonReader (json_reader.h) turns
// values into JSON and back, by one list of fields per type (fields.h). Pure; internal to
// messages.cc.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/bytes.h"
#include "base/hex.h"
#include "base/json.h"
#include "base/single_copy.h"
#include "control/ladder/history.h"
#include "control/ladder/hold_types.h"
#include "control/ladder/node_group.h"
#include "control/ladder/outcome.h"
#include "livebtl/result.h"

namespace livebtl::control {

/// T, const or not.
template <class T, class Wanted>
concept Is = std::is_same_v<std::remove_const_t<T>, Wanted>;

inline constexpr std::size_t kStringBytesMax = 1024;
inline constexpr std::size_t kListMax = 1024;

template <class T>
concept IsId = std::is_same_v<T, std::uint64_t> || std::is_same_v<T, ProcessId>;

/// The name that a field had in version 0.1; null: the same. Written alongside the new name for one
/// version, and read where the new name is missing.
constexpr const char* former_name(std::string_view name) noexcept {
  if (name == "frames_exposed") return "frames_lent";
  if (name == "frames_read_remotely") return "frames_fetched";
  if (name == "other_holders") return "foreign";
  return nullptr;
}

/// Writes JSON as text, field by field: the answers of a switch are made by every member, and a
/// document that is built first costs ten times as much.
class JsonWriter {
 public:
  JsonWriter() { text_ += '{'; }

  template <class T>
  void operator()(const char* name, const T& value) {
    field(name, [&] { write(value); });
  }
  /// A field that earlier versions do not have.
  template <class T>
  void optional(const char* name, const T& value) {
    (*this)(name, value);
  }
  template <class T>
  void count(const char* name, const T& numbers) {
    field(name, [&] { write_count(numbers); });
  }
  /// A list for people: cut to kNamesMax.
  void names(const char* name, const std::vector<std::string>& list) {
    field(name, [&] { write_list(std::span(list).first(std::min(list.size(), kNamesMax))); });
  }
  /// The whole object. Afterwards nothing may be written.
  std::string take() {
    text_ += '}';
    return std::move(text_);
  }

 private:
  template <class Write>
  void field(const char* name, Write write_value) {
    const char* former = former_name(name);
    for (const char* each : {former, name}) {
      if (each == nullptr) continue;
      separate();
      text_ += '"';  // names of fields need no escape
      text_ += each;
      text_ += "\":";
      write_value();
    }
  }
  /// At most kStringBytesMax, and no part of a character.
  static std::string_view cut(std::string_view text) noexcept {
    if (text.size() <= kStringBytesMax) return text;
    std::size_t bytes = kStringBytesMax;
    while (bytes != 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
    return text.substr(0, bytes);
  }
  /// Before each field and each entry.
  void separate() {
    if (text_.back() != '{' && text_.back() != '[') text_ += ',';
  }

  void write(bool value) { text_ += value ? "true" : "false"; }
  void write(std::string_view text) { append_json(text_, cut(text)); }
  void write(const std::string& text) { write(std::string_view(text)); }
  void write(const char* text) { write(std::string_view(text)); }
  void write(const Blob& bytes) { append_json(text_, hex_bytes(bytes)); }
  void write(Rung rung) { write(rung_name(rung)); }
  void write(core::HoldState state) { write(hold_state_name(state)); }
  void write(SwitchEnd end) { write(switch_end_name(end)); }
  void write(SingleCopy way) { write(single_copy_name(way)); }
  void write(NodeQuestion question) { write(node_question_name(question)); }
  void write(HoldAction action) { write(hold_action_name(action)); }
  void write(Errc code) { write(errc_name(code)); }
  void write(Incarnation value) { write_count(static_cast<std::uint32_t>(value)); }
  template <class T>
  void write(const std::optional<T>& value) {
    if (value)
      write(*value);
    else
      text_ += "null";
  }
  template <class T>
  void write(const std::vector<T>& list) {
    write_list(list);
  }
  void write(const std::set<std::string>& list) { write_list(list); }
  template <class T>
  void write(const std::map<std::string, T>& map) {
    write_map(map, [this](const T& value) { write(value); });
  }
  template <class T>
  requires std::is_arithmetic_v<T> || IsId<T> || std::is_class_v<T>
  void write(const T& value) {
    if constexpr (IsId<T>) {
      write(hex_id(static_cast<std::uint64_t>(value)));
    } else if constexpr (std::is_arithmetic_v<T>) {
      write_count(value);
    } else {
      text_ += '{';
      fields(*this, value);
      text_ += '}';
    }
  }

  template <class T>
  void write_count(const T& number) {
    static_assert(std::is_arithmetic_v<T>);
    if constexpr (std::is_integral_v<T>)
      text_ += std::to_string(number);
    else
      text_ += Json(number).dump();
  }
  template <class T>
  void write_count(const std::vector<T>& list) {
    begin_list();
    for (const T& entry : list) {
      separate();
      write_count(entry);
    }
    text_ += ']';
  }
  template <class T>
  void write_count(const std::map<std::string, T>& map) {
    write_map(map, [this](const T& value) { write_count(value); });
  }

  void begin_list() { text_ += '['; }
  template <class List>
  void write_list(const List& list) {
    begin_list();
    for (const auto& entry : list) {
      separate();
      write(entry);
    }
    text_ += ']';
  }
  template <class T, class Write>
  void write_map(const std::map<std::string, T>& map, Write write_value) {
    text_ += '{';
    for (const auto& [key, value] : map) {
      separate();
      append_json(text_, key);
      text_ += ':';
      write_value(value);
    }
    text_ += '}';
  }

  std::string text_;
};

}  // namespace livebtl::control
