// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/vm_options.cc -- see vm_options.h.
#include "ctl-tool/vm_options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>

#include "hypervisor/card.h"

namespace livebtl::tool {
namespace {

constexpr std::size_t kTextBytesMax = 4096;
constexpr std::size_t kCardsMax = 64;

bool too_long_for_vm(const VmOptions& options) {
  const auto longer = [](const std::string& text) { return text.size() > kTextBytesMax; };
  return longer(options.qmp) || longer(options.agent) || longer(options.to) ||
         longer(options.destination_qmp) || longer(options.destination_agent) ||
         longer(options.guest_btlctl) ||
         std::any_of(options.card_arguments.begin(), options.card_arguments.end(), longer);
}

std::string problem_of_cards(const VmOptions& options) {
  if (options.cards.size() > kCardsMax) return "there are at most 64 cards";
  for (auto card = options.cards.begin(); card != options.cards.end(); ++card) {
    if (!hypervisor::well_formed_id(*card))
      return "--card takes a device's id, as QEMU has it, not '" + *card + "'";
    if (std::find(options.cards.begin(), card, *card) != card)
      return "--card " + *card + " is given twice";
  }
  for (const std::string& text : options.card_arguments) {
    const auto arguments = hypervisor::read_card_arguments(text);
    if (!arguments) return arguments.error().text;
    const std::string id = hypervisor::text_member(*arguments, "id");
    if (std::find(options.cards.begin(), options.cards.end(), id) == options.cards.end())
      return "--card-args are of '" + id + "', which no --card names";
  }
  return "";
}

}  // namespace

void add_vm_options(CLI::App& command, VmOptions& options) {
  const auto add = [&command](const char* name, auto& value, const char* type, const char* text) {
    return command.add_option(name, value, text)->type_name(type);
  };
  add("--qmp", options.qmp, "SOCKET",
      "A QMP monitor of this guest's QEMU (-qmp unix:SOCKET,server=on,wait=off), used by nobody "
      "else meanwhile");
  add("--ga", options.agent, "SOCKET", "The socket of this guest's agent (qemu-guest-agent)");
  add("--to", options.to, "URI", "Where to, as QEMU's migrate takes it: tcp:HOST:PORT, unix:PATH");
  add("--card", options.cards, "ID",
      "A device to unplug before, by its id; several in the order given")
      ->allow_extra_args(false);
  add("--card-args", options.card_arguments, "JSON",
      "How to plug a card in again, as one object of device_add's arguments; without it QEMU is "
      "asked")
      ->allow_extra_args(false);
  add("--destination-qmp", options.destination_qmp, "SOCKET",
      "A QMP monitor of the QEMU that receives: cards are plugged in there");
  add("--destination-ga", options.destination_agent, "SOCKET",
      "The socket of the guest's agent there: the job is told to return to its cards");
  add("--guest-btlctl", options.guest_btlctl, "PATH", "btlctl in the guest")->capture_default_str();
}

std::string vm_problem(const std::string& action, bool wait, const VmOptions& options) {
  if (action != "migrate") return "vm takes migrate";
  if (!wait) return "vm waits: whoever migrates must know how it ended";
  if (options.qmp.empty() || options.agent.empty() || options.to.empty() || options.cards.empty())
    return "vm migrate needs --qmp, --ga, --to and at least one --card";
  if (options.destination_qmp.empty() != options.destination_agent.empty())
    return "--destination-qmp and --destination-ga are given together, or not at all";
  if (options.to.find(':') == std::string::npos) return "--to takes a URI, such as tcp:node8:4444";
  if (too_long_for_vm(options)) return "an argument is longer than 4096 bytes";
  return problem_of_cards(options);
}

}  // namespace livebtl::tool
