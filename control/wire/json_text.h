// SPDX-License-Identifier: BSD-3-Clause
// control/wire/json_text.h -- parses the text of one control message, from hostile bytes: bounded in depth, each key
// once per object. Pure; any thread. Internal to messages.cc. The caller bounds the length.
//
// By RapidJSON, which takes a third of the instructions of base/json.h's parser: much of what a switch
// costs is the reading of messages (docs/adr/0078).
#pragma once

#include <rapidjson/document.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "livebtl/result.h"

namespace livebtl::control {

/// Throws std::bad_alloc where RapidJSON's own allocator returns a null pointer, which it then writes to.
struct ThrowingAllocator {
  // NOLINTBEGIN(readability-identifier-naming): RapidJSON's names.
  static const bool kNeedFree = true;
  static void* Malloc(std::size_t bytes) { return bytes == 0 ? nullptr : ::operator new(bytes); }
  static void* Realloc(void* old, std::size_t old_bytes, std::size_t bytes) {
    void* grown = Malloc(bytes);
    if (old_bytes != 0 && bytes != 0) std::memcpy(grown, old, std::min(old_bytes, bytes));
    Free(old);
    return grown;
  }
  static void Free(void* memory) noexcept { ::operator delete(memory); }
  // NOLINTEND(readability-identifier-naming)
};
using JsonPool = rapidjson::MemoryPoolAllocator<ThrowingAllocator>;
using JsonDocument = rapidjson::GenericDocument<rapidjson::UTF8<>, JsonPool, ThrowingAllocator>;
using JsonValue = JsonDocument::ValueType;

/// Requires: value.IsString().
inline std::string_view text_of(const JsonValue& value) noexcept {
  return {value.GetString(), value.GetStringLength()};
}

/// A parsed message. Its values refer to memory that it owns: it can be neither copied nor moved.
class JsonText {
 public:
  explicit JsonText(std::string_view text) : text_(text) {}
  JsonText(const JsonText&) = delete;
  JsonText& operator=(const JsonText&) = delete;

  /// Called once. The object lives as long as this.
  /// Errors: kLimit (nested deeper), kInvalid (not an object, or a key repeated in one object, on which two readers
  /// would differ).
  Result<const JsonValue*> parse(unsigned depth_max);

 private:
  static constexpr std::size_t kPoolBytes = 16u << 10;  // enough for all messages of a switch

  std::string text_;  // strings stay where they were read
  alignas(std::max_align_t) std::array<char, kPoolBytes> pool_;
  JsonPool allocator_{pool_.data(), pool_.size()};
  JsonDocument document_{&allocator_};
};

}  // namespace livebtl::control
