// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/vm_machine.cc -- see vm_machine.h.
#include "ctl-tool/vm_machine.h"

#include <algorithm>

namespace livebtl::tool {
namespace {

/// "": it is added.
std::string add_part(hypervisor::MachinePlace& machine, const std::string& part) {
  const std::string key = part.substr(0, part.find('='));
  const std::string value = key.size() < part.size() ? part.substr(key.size() + 1) : "";
  std::string* const socket = key == "qmp" ? &machine.qmp : key == "ga" ? &machine.agent : nullptr;
  if (value.empty() || (socket == nullptr && key != "card")) return "'" + part + "' has no meaning";
  if (socket != nullptr) {
    if (!socket->empty()) return key + " is given twice";
    *socket = value;
    return "";
  }
  const bool twice =
      std::find(machine.cards.begin(), machine.cards.end(), value) != machine.cards.end();
  if (!hypervisor::well_formed_id(value) || twice || machine.cards.size() == hypervisor::kCardsMax)
    return "card takes a device's id, as QEMU has it, once";
  machine.cards.push_back(value);
  return "";
}

}  // namespace

Result<hypervisor::MachinePlace> read_machine(const std::string& text) {
  hypervisor::MachinePlace machine;
  machine.name = text.substr(0, text.find(','));
  std::string wrong;
  if (!hypervisor::well_formed_machine(machine.name))
    wrong = "a name begins with a letter, and has letters, digits, '-', '_', '.'";
  for (std::size_t at = machine.name.size(); wrong.empty() && at < text.size();) {
    const std::size_t end = std::min(text.find(',', at + 1), text.size());
    wrong = add_part(machine, text.substr(at + 1, end - at - 1));
    at = end;
  }
  if (wrong.empty() && machine.qmp.empty()) wrong = "qmp= is missing";
  if (wrong.empty()) return machine;
  return fail(Errc::kInvalid,
              "'" + text + "': " + wrong + "; it takes NAME,qmp=SOCKET,ga=SOCKET,card=ID,...");
}

}  // namespace livebtl::tool
