// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_file.cc -- see set_file.h.
#include "hypervisor/set/set_file.h"

#include <algorithm>

#include "base/hex.h"

namespace livebtl::hypervisor {
namespace {

constexpr const char* kSchema = "livebtl.set/1";
constexpr std::size_t kNameBytesMax = 64;
constexpr std::size_t kTimeBytesMax = 40;
constexpr int kChecksumDigits = 8;

bool read_cards(const Json& list, std::vector<Json>& cards) {
  if (list.size() > kCardsMax) return false;
  for (const Json& each : list) {
    auto card = read_card_arguments(each.dump(-1, ' ', true, Json::error_handler_t::replace));
    if (!card) return false;
    const auto same = [&card](const Json& other) { return other["id"] == (*card)["id"]; };
    if (std::any_of(cards.begin(), cards.end(), same)) return false;
    cards.push_back(std::move(*card));
  }
  return true;
}

/// Exactly as it is written: eight digits.
std::optional<std::uint32_t> read_checksum(const std::string& digits) {
  const auto value = parse_hex(digits);
  if (!value || digits != hex_digits(*value, kChecksumDigits)) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

bool read_machine(const Json& json, SetFile& set) {
  SavedMachine machine;
  machine.name = text_member(json, "name");
  machine.bytes = number_member(json, "bytes").value_or(0);
  const Json* cards = member(json, "cards", Json::value_t::array);
  const auto checksum = read_checksum(text_member(json, "crc32c"));
  if (!well_formed_machine(machine.name) || machine.bytes == 0 || cards == nullptr || !checksum)
    return false;
  machine.crc32c = *checksum;
  const auto same = [&machine](const SavedMachine& other) { return other.name == machine.name; };
  if (!read_cards(*cards, machine.cards) ||
      std::any_of(set.machines.begin(), set.machines.end(), same))
    return false;
  set.machines.push_back(std::move(machine));
  return true;
}

}  // namespace

bool well_formed_machine(const std::string& name) {
  return name.size() <= kNameBytesMax && well_formed_id(name);
}

std::string ram_file(const std::string& machine) { return machine + ".ram"; }

bool well_formed_hold(const std::string& hold) {
  return hold.starts_with("0x") && hold.size() > 2 && hold.size() <= 18 &&
         hold.find_first_not_of("0123456789abcdef", 2) == std::string::npos &&
         hold.find_first_not_of('0', 2) != std::string::npos;
}

std::string set_text(const SetFile& set) {
  Json machines = Json::array();
  for (const SavedMachine& each : set.machines)
    machines.push_back({{"name", each.name},
                        {"bytes", each.bytes},
                        {"crc32c", hex_digits(each.crc32c, kChecksumDigits)},
                        {"cards", each.cards}});
  const Json document = {{"schema", kSchema},
                         {"hold", set.hold},
                         {"taken", set.taken},
                         {"members", set.members},
                         {"machines", std::move(machines)}};
  return document.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

Result<SetFile> read_set(std::string_view text) {
  const auto no = [](const char* why) {
    return fail(Errc::kCorrupt, std::string(kSetFile) + " is not the list of a set: " + why);
  };
  if (text.size() > kSetBytesMax) return no("it is longer than 1 MiB");
  const Json document = parse_bounded(text);
  if (text_member(document, "schema") != kSchema) return no("its schema is not livebtl.set/1");
  SetFile set;
  set.hold = text_member(document, "hold");
  if (!well_formed_hold(set.hold)) return no("'hold' is not the id of a hold");
  set.taken = one_line(text_member(document, "taken").substr(0, kTimeBytesMax));
  const auto members = number_member(document, "members");
  if (!members) return no("'members' is not a number");
  set.members = *members;
  const Json* machines = member(document, "machines", Json::value_t::array);
  if (machines == nullptr || machines->empty() || machines->size() > kMachinesMax)
    return no("'machines' is not a list of 1 to 1024");
  for (const Json& each : *machines) {
    if (!read_machine(each, set)) return no("one of its machines is malformed, or listed twice");
  }
  return set;
}

}  // namespace livebtl::hypervisor
