// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate_report.cc -- what is told of a migration: the plan of one to come, the
// document of one that was. Run by btlctl's one thread; owns nothing.
#include "hypervisor/migrate_vm.h"

namespace livebtl::hypervisor {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string order_line(const MigrateRequest& request, GuestOrder order, const std::string& node) {
  return "in the guest, by " + request.agent + ": " +
         joined(
             words_of(request.guest, verb_of(order, node), std::min(request.timeout, kPrepareMax)));
}

Json phase_json(const MigratePhase& phase) {
  Json json = {{"phase", phase.name}, {"milliseconds", phase.milliseconds}, {"well", phase.well}};
  if (!phase.card.empty()) json["card"] = phase.card;
  if (!phase.text.empty()) json["text"] = phase.text;
  return json;
}

/// Those of QEMU's figures that are numbers by these names.
Json figures_json(const Json& figures) {
  Json json = Json::object();
  for (const char* name : {"total-time", "downtime", "setup-time"}) {
    if (const Json* value = member(figures, name, Json::value_t::number_unsigned))
      json[std::string(name) + "-ms"] = *value;
  }
  return json;
}

}  // namespace

std::vector<std::string> plan_of(const MigrateRequest& request, const std::vector<Card>& cards,
                                 const std::string& node) {
  std::vector<std::string> plan = {order_line(request, GuestOrder::kPrepare, node)};
  const std::string seconds = std::to_string(std::min(request.timeout, kUnplugMax) / kSecond);
  for (const Card& card : cards) {
    plan.push_back(card.present ? "device_del " + card.id + ", and wait up to " + seconds +
                                      " s for DEVICE_DELETED"
                                : card.id + " is unplugged already");
  }
  for (const Card& card : cards) {
    if (const std::string memory = shared_memory_of(card); !memory.empty())
      plan.push_back("object-del " + memory + ", the memory of " + card.id);
  }
  plan.push_back("migrate " + request.to + ", and follow it until it is completed");
  if (request.has_destination()) {
    plan.push_back("at the destination, by " + request.destination_qmp + ": cont, if it is paused");
    for (const Card& card : cards) plan.push_back("there: " + plug_text(card));
    MigrateRequest there = request;
    there.agent = request.destination_agent;
    plan.push_back(order_line(there, GuestOrder::kReturn, node));
  }
  plan.emplace_back("if anything fails before the migration is completed:");
  for (const Card& card : cards) plan.push_back("  " + plug_again_text(card));
  plan.push_back("  " + order_line(request, GuestOrder::kReturn, node));
  return plan;
}

Json report_json(const MigrateReport& report) {
  Json phases = Json::array();
  for (const MigratePhase& phase : report.phases) phases.push_back(phase_json(phase));
  return {{"schema", "livebtl.vm/1"},
          {"verb", "vm migrate"},
          {"exit_code", report.end.code},
          {"text", report.end.text},
          {"moved", report.end.moved},
          {"dry_run", report.dry_run},
          {"left", report.end.left},
          {"plan", report.plan},
          {"phases", std::move(phases)},
          {"cards", report.cards},
          {"migration", figures_json(report.figures)}};
}

}  // namespace livebtl::hypervisor
