// SPDX-License-Identifier: BSD-3-Clause
// set.json, which says what btlctl vm restore loads and plugs in. What is accepted must be bounded,
// name only files in its own directory, and survive the round trip.
#include <set>

#include "hypervisor/set/set_file.h"
#include "tests/fuzz/reached.h"

namespace {

using namespace livebtl;
using namespace livebtl::hypervisor;

bool set_file(std::string_view text) {
  const auto set = read_set(text);
  if (!set) return false;
  std::set<std::string> names;
  for (const SavedMachine& machine : set->machines) {
    fuzz::must_hold(machine.bytes > 0 && names.insert(machine.name).second, "a machine is one");
    fuzz::must_hold(ram_file(machine.name).find('/') == std::string::npos &&
                        !machine.name.starts_with('.') && machine.name.size() <= 64,
                    "a file is in its own directory");
    for (const Json& card : machine.cards)
      fuzz::must_hold(well_formed_id(text_member(card, "id")), "a card has an id");
  }
  fuzz::must_hold(well_formed_hold(set->hold), "a hold has an id");
  const std::string again = set_text(*set);
  if (again.size() > kSetBytesMax) return true;  // escapes are longer than what they encode
  const auto read = read_set(again);
  fuzz::must_hold(read && set_text(*read) == again, "a set survives the round trip");
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Reached::note(set_file({reinterpret_cast<const char*>(data), size}));
  return 0;
}
