// SPDX-License-Identifier: BSD-3-Clause
// control/wire/json_archive.h -- JsonWriter, which together with JsonReader (json_reader.h) turns
// values into JSON and back, by one list of fields per type (fields.h). Pure; internal to
// messages.cc.
#pragma once

#include <map>
#include <optional>
#include <set>
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

class JsonWriter {
 public:
  template <class T>
  void operator()(const char* name, const T& value) {
    put(name, to_json(value));
  }
  /// A field that earlier versions do not have.
  template <class T>
  void optional(const char* name, const T& value) {
    put(name, to_json(value));
  }
  template <class T>
  void count(const char* name, const T& numbers) {
    put(name, Json(numbers));
  }
  /// A list for people: cut to kNamesMax.
  void names(const char* name, const std::vector<std::string>& list) {
    Json array = Json::array();
    for (const auto& entry : list) {
      if (array.size() == kNamesMax) break;
      array.push_back(to_json(entry));
    }
    put(name, std::move(array));
  }

  Json object = Json::object();

 private:
  void put(const char* name, Json value) {
    if (const char* former = former_name(name)) object[former] = value;
    object[name] = std::move(value);
  }
  static Json to_json(const std::string& text) { return text.substr(0, kStringBytesMax); }
  static Json to_json(const Blob& bytes) { return hex_bytes(bytes); }
  static Json to_json(Rung rung) { return rung_name(rung); }
  static Json to_json(core::HoldState state) { return hold_state_name(state); }
  static Json to_json(SwitchEnd end) { return switch_end_name(end); }
  static Json to_json(SingleCopy way) { return single_copy_name(way); }
  static Json to_json(NodeQuestion question) { return node_question_name(question); }
  static Json to_json(HoldAction action) { return hold_action_name(action); }
  static Json to_json(Errc code) { return errc_name(code); }
  static Json to_json(Incarnation value) { return static_cast<std::uint32_t>(value); }
  template <class T>
  static Json to_json(const std::optional<T>& value) {
    return value ? to_json(*value) : Json(nullptr);
  }
  template <class T>
  static Json to_json(const std::vector<T>& list) {
    Json array = Json::array();
    for (const auto& entry : list) array.push_back(to_json(entry));
    return array;
  }
  static Json to_json(const std::set<std::string>& list) { return Json(list); }
  template <class T>
  static Json to_json(const std::map<std::string, T>& map) {
    Json object = Json::object();
    for (const auto& [key, value] : map) object[key] = to_json(value);
    return object;
  }
  template <class T>
  static Json to_json(const T& value) {
    if constexpr (IsId<T>) {
      return hex_id(static_cast<std::uint64_t>(value));
    } else if constexpr (std::is_arithmetic_v<T>) {
      return value;
    } else {
      JsonWriter inner;
      fields(inner, value);
      return std::move(inner.object);
    }
  }
};

}  // namespace livebtl::control
