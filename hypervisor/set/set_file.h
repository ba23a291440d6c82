// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_file.h -- set.json, which makes files of machines' memory a set of
// snapshots that fit together: writes and reads its contents. Pure. What is read is hostile.
#pragma once

#include <string_view>

#include "hypervisor/vm/card.h"

namespace livebtl::hypervisor {

inline constexpr const char* kSetFile = "set.json";
inline constexpr std::size_t kSetBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kMachinesMax = 1024;
inline constexpr std::size_t kCardsMax = 64;  // of one machine

struct SavedMachine {
  std::string name;
  std::uint64_t bytes = 0;   // of its file
  std::vector<Json> cards;   // device_add's arguments
  std::uint32_t crc32c = 0;  // of its file
};

struct SetFile {
  std::string hold;           // "0x..."
  std::string taken;          // when, in UTC, for the user
  std::uint64_t members = 0;  // processes that were held
  std::vector<SavedMachine> machines;
};

/// Whether a machine may have that name; its file is NAME.ram.
bool well_formed_machine(const std::string& name);
std::string ram_file(const std::string& machine);
/// "0x" and 1 to 16 hexadecimal digits.
bool well_formed_hold(const std::string& hold);

std::string set_text(const SetFile& set);
Result<SetFile> read_set(std::string_view text);

}  // namespace livebtl::hypervisor
