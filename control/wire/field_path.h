// SPDX-License-Identifier: BSD-3-Clause
// control/wire/field_path.h -- where in a message a value is, for errors. Pure; internal to messages.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace livebtl::control {

/// Where in a message a value is: "operation.before.excluded[2]". It refers to its parts, and is
/// turned into text only for an error.
class FieldPath {
 public:
  FieldPath(const FieldPath* within, std::string_view name) noexcept
      : within_(within), name_(name) {}
  FieldPath(const FieldPath& list, std::size_t entry) noexcept : within_(&list), entry_(entry) {}

  std::string text() const {
    const std::string front = within_ == nullptr ? "" : within_->text();
    if (entry_ != kNoEntry) return front + "[" + std::to_string(entry_) + "]";
    return (front.empty() ? front : front + ".") + std::string(name_);
  }

 private:
  static constexpr std::size_t kNoEntry = SIZE_MAX;
  const FieldPath* within_;
  std::string_view name_;
  std::size_t entry_ = kNoEntry;
};

}  // namespace livebtl::control
