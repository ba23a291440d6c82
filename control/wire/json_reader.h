// SPDX-License-Identifier: BSD-3-Clause
// control/wire/json_reader.h -- reads the fields of a type from hostile JSON.
//
// The first thing that does not fit sets `error` (with the path of the field), and all later reads
// do nothing; check once, at the end. Pure; internal to messages.cc.
//
// A field is looked for behind the one that was found before: our own writer writes them in the order
// in which they are read.
#pragma once

#include <algorithm>
#include <limits>

#include "control/wire/field_path.h"
#include "control/wire/json_archive.h"
#include "control/wire/json_text.h"

namespace livebtl::control {

class JsonReader {
 public:
  /// within: where the object is; null: it is the message.
  JsonReader(const JsonValue& object, const FieldPath* within, std::string& error)
      : object_(object), within_(within), error_(error) {}

  template <class T>
  void operator()(const char* name, T& value) {
    if (const JsonValue* found = member(name)) read(*found, FieldPath(within_, name), value);
  }
  template <class T>
  void optional(const char* name, T& value) {
    const JsonValue* const found = error_.empty() ? find(name) : nullptr;
    if (found != nullptr) read(*found, FieldPath(within_, name), value);
  }
  template <class T>
  void count(const char* name, T& numbers) {
    if (const JsonValue* found = member(name))
      read_count(*found, FieldPath(within_, name), numbers);
  }
  /// Cuts a list that its writer did not cut.
  void names(const char* name, std::vector<std::string>& list) {
    (*this)(name, list);
    if (list.size() > kNamesMax) list.resize(kNamesMax);
  }

 private:
  const JsonValue* member(const char* name) {
    if (!error_.empty()) return nullptr;
    const JsonValue* found = find(name);
    if (found == nullptr) {
      const char* former = former_name(name);
      if (former != nullptr) found = find(former);
    }
    if (found != nullptr) return found;
    fail_at(FieldPath(within_, name), "is missing");
    return nullptr;
  }
  const JsonValue* find(std::string_view name) {
    for (rapidjson::SizeType tried = 0; tried < object_.MemberCount(); ++tried) {
      const auto& each = object_.MemberBegin()[next_];
      next_ = next_ + 1 == object_.MemberCount() ? 0 : next_ + 1;
      if (text_of(each.name) == name) return &each.value;
    }
    return nullptr;
  }
  void fail_at(const FieldPath& path, const char* what) {
    if (error_.empty()) error_ = "'" + path.text() + "' " + what;
  }

  void read(const JsonValue& json, const FieldPath& path, bool& value) {
    if (!json.IsBool()) return fail_at(path, "must be true or false");
    value = json.GetBool();
  }
  void read(const JsonValue& json, const FieldPath& path, std::string& value) {
    if (!json.IsString()) return fail_at(path, "must be a string");
    const std::string_view text = text_of(json);
    if (text.size() > kStringBytesMax) return fail_at(path, "is too long (1024 bytes at most)");
    value = text;
  }
  /// Two lower-case hexadecimal digits per byte.
  void read(const JsonValue& json, const FieldPath& path, Blob& bytes) {
    std::string text;
    read(json, path, text);
    const bool digits = std::all_of(text.begin(), text.end(), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    });
    if (!digits || text.size() % 2 != 0) return fail_at(path, "must be hexadecimal bytes");
    bytes.clear();
    for (std::size_t i = 0; i < text.size(); i += 2)
      bytes.push_back(static_cast<std::byte>(*parse_hex(std::string_view(text).substr(i, 2))));
  }
  void read(const JsonValue& json, const FieldPath& path, int& value) {
    if (!json.IsInt64() && !json.IsUint64()) return fail_at(path, "must be a whole number");
    if (!json.IsInt() || json.GetInt() < -1) return fail_at(path, "is out of range");
    value = json.GetInt();
  }
  void read(const JsonValue& json, const FieldPath& path, std::uint32_t& value) {
    std::uint64_t wide = 0;
    read_count(json, path, wide);
    if (wide > std::numeric_limits<std::uint32_t>::max()) return fail_at(path, "is out of range");
    value = static_cast<std::uint32_t>(wide);
  }
  void read(const JsonValue& json, const FieldPath& path, Incarnation& value) {
    std::uint32_t plain = 0;
    read(json, path, plain);
    value = Incarnation{plain};
  }
  template <class T>
  requires IsId<T>
  void read(const JsonValue& json, const FieldPath& path, T& value) {
    const std::string_view text = json.IsString() ? text_of(json) : std::string_view();
    if (text.size() < 3 || text.substr(0, 2) != "0x") {
      return fail_at(path, "must be a hex string such as \"0x1f\"");
    }
    const auto id = parse_hex_id(text);
    if (!id) return fail_at(path, "is not a 64-bit hex number");
    value = T{*id};
  }
  void read(const JsonValue& json, const FieldPath& path, Rung& value) {
    read_name(json, path, value, Rung::kNew, rung_name, "must be old, joint, newtx or new");
  }
  void read(const JsonValue& json, const FieldPath& path, core::HoldState& value) {
    read_name(json, path, value, core::HoldState::kFenced, hold_state_name,
              "must be none, parking, parked, broken or fenced");
  }
  void read(const JsonValue& json, const FieldPath& path, SwitchEnd& value) {
    read_name(json, path, value, SwitchEnd::kRefused, switch_end_name,
              "must be under way, done, taken back or refused");
  }
  void read(const JsonValue& json, const FieldPath& path, HoldAction& value) {
    read_name(json, path, value, HoldAction::kRestore, hold_action_name,
              "must be ask, start, end, claim or restore");
  }
  void read(const JsonValue& json, const FieldPath& path, NodeQuestion& value) {
    read_name(json, path, value, NodeQuestion::kEnd, node_question_name,
              "must be standing, promise, order or end");
  }
  void read(const JsonValue& json, const FieldPath& path, SingleCopy& value) {
    read_name(json, path, value, SingleCopy::kNone, single_copy_name,
              "must be auto, cma, knem or none");
  }
  template <class Enum, class NameOf>
  void read_name(const JsonValue& json, const FieldPath& path, Enum& value, Enum last,
                 NameOf name_of, const char* what) {
    for (int number = 0; number <= static_cast<int>(last) && json.IsString(); ++number) {
      if (text_of(json) != name_of(static_cast<Enum>(number))) continue;
      value = static_cast<Enum>(number);
      return;
    }
    fail_at(path, what);
  }
  /// An unknown code, as of a later version, becomes kInvalid: the code only supplements the text.
  void read(const JsonValue& json, const FieldPath& path, Errc& value) {
    if (!json.IsString()) return fail_at(path, "must be a string");
    value = Errc::kInvalid;
    for (int code = 0; code <= static_cast<int>(Errc::kBadKey); ++code) {
      if (text_of(json) == errc_name(static_cast<Errc>(code))) value = static_cast<Errc>(code);
    }
  }
  template <class T>
  void read(const JsonValue& json, const FieldPath& path, std::optional<T>& value) {
    value.reset();
    if (!json.IsNull()) read(json, path, value.emplace());
  }
  template <class T>
  void read(const JsonValue& json, const FieldPath& path, std::vector<T>& list) {
    if (!json.IsArray()) return fail_at(path, "must be a list");
    if (json.Size() > kListMax) return fail_at(path, "is too long (1024 entries at most)");
    list.clear();
    list.reserve(json.Size());
    for (rapidjson::SizeType i = 0; i < json.Size() && error_.empty(); ++i) {
      read(json[i], FieldPath(path, i), list.emplace_back());
    }
  }
  void read(const JsonValue& json, const FieldPath& path, std::set<std::string>& set) {
    std::vector<std::string> list;
    read(json, path, list);
    set = {list.begin(), list.end()};
  }
  template <class T>
  void read(const JsonValue& json, const FieldPath& path, std::map<std::string, T>& map) {
    if (!check_map(json, path)) return;
    map.clear();
    for (const auto& each : json.GetObject()) {
      const std::string_view key = text_of(each.name);
      read(each.value, FieldPath(&path, key), map[std::string(key)]);
    }
  }
  template <class T>
  requires std::is_class_v<T>
  void read(const JsonValue& json, const FieldPath& path, T& value) {
    if (!json.IsObject()) return fail_at(path, "must be an object");
    JsonReader inner(json, &path, error_);
    fields(inner, value);
  }
  void read_count(const JsonValue& json, const FieldPath& path, std::uint64_t& value) {
    if (!json.IsUint64()) return fail_at(path, "must be a whole number, not negative");
    value = json.GetUint64();
  }
  /// A time, not negative.
  void read_count(const JsonValue& json, const FieldPath& path, TimeNs& value) {
    std::uint64_t wide = 0;
    read_count(json, path, wide);
    if (wide > std::uint64_t{INT64_MAX}) return fail_at(path, "is out of range");
    value = static_cast<TimeNs>(wide);
  }
  void read_count(const JsonValue& json, const FieldPath& path,
                  std::map<std::string, std::uint64_t>& map) {
    if (!check_map(json, path)) return;
    map.clear();
    for (const auto& each : json.GetObject()) {
      const std::string_view key = text_of(each.name);
      read_count(each.value, FieldPath(&path, key), map[std::string(key)]);
    }
  }
  void read_count(const JsonValue& json, const FieldPath& path, std::vector<std::uint64_t>& list) {
    if (!json.IsArray()) return fail_at(path, "must be a list");
    if (json.Size() > kListMax) return fail_at(path, "is too long (1024 entries at most)");
    list.clear();
    for (const JsonValue& entry : json.GetArray()) read_count(entry, path, list.emplace_back());
  }
  bool check_map(const JsonValue& json, const FieldPath& path) {
    if (!json.IsObject()) {
      fail_at(path, "must be an object");
    } else if (json.MemberCount() > kListMax) {
      fail_at(path, "is too long (1024 entries at most)");
    } else {
      for (const auto& each : json.GetObject()) {
        if (text_of(each.name).size() > kStringBytesMax)
          fail_at(path, "has a key that is too long");
      }
    }
    return error_.empty();
  }

  const JsonValue& object_;
  rapidjson::SizeType next_ = 0;  // where the next field is expected
  const FieldPath* within_;
  std::string& error_;
};

}  // namespace livebtl::control
