// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set_report.cc -- what is told of a snapshot or a restore: the plan of one to come, the
// document of one that was. Run by btlctl's one thread; owns nothing.
#include "hypervisor/set_vms.h"

namespace livebtl::hypervisor {
namespace {

std::string order_line(const SetRequest& request, const Verb& verb) {
  const MachinePlace& place = request.machines[request.speaker()];
  std::string line = "in the guest " + place.name + ", by " + place.agent + ":";
  for (const std::string& word :
       words_of(request.guest, verb, std::min(request.timeout, kPrepareMax)))
    line += " " + word;
  return line;
}

template <class Line>
void for_each_card(const SetRequest& request, const SetSteps& steps, const Line& line) {
  for (std::size_t i = 0; i < request.machines.size(); ++i) {
    for (const Card& card : steps.cards(i)) line(request.machines[i].name + ": ", card);
  }
}

bool any_card(const SetRequest& request) {
  for (const MachinePlace& place : request.machines) {
    if (!place.cards.empty()) return true;
  }
  return false;
}

Json phase_json(const SetPhase& phase) {
  Json json = {{"phase", phase.name}, {"milliseconds", phase.milliseconds}, {"well", phase.well}};
  if (!phase.of.empty()) json["of"] = phase.of;
  if (!phase.text.empty()) json["text"] = phase.text;
  return json;
}

}  // namespace

std::vector<std::string> snapshot_plan(const SetRequest& request, const SetSteps& steps) {
  const std::string id = "ID";
  const bool cards = any_card(request);
  std::vector<std::string> plan = {"make " + request.directory + ", empty, for its owner alone"};
  if (cards) plan.push_back(order_line(request, verb_of(GuestOrder::kPrepare, "")));
  const std::string seconds = std::to_string(std::min(request.timeout, kUnplugMax) / kSecond);
  for_each_card(request, steps, [&](const std::string& of, const Card& card) {
    plan.push_back(card.present ? of + "device_del " + card.id + ", and wait up to " + seconds +
                                      " s for DEVICE_DELETED"
                                : of + card.id + " is unplugged already");
  });
  plan.push_back(order_line(request, hold_start(id, request.lease)));
  for (std::size_t i = 0; i < request.machines.size(); ++i) {
    const std::string& name = request.machines[i].name;
    if (i > 0) plan.push_back(order_line(request, hold_renew(id, request.lease)));
    plan.push_back(name + ": stop, migrate to " + request.directory + "/" + ram_file(name) +
                   ", cont");
  }
  plan.push_back(order_line(request, hold_check(id)));
  plan.push_back(order_line(request, hold_end(id)));
  plan.push_back("write " + request.directory + "/" + kSetFile +
                 " (if anything failed before: delete all files)");
  for_each_card(request, steps, [&](const std::string& of, const Card& card) {
    plan.push_back(of + plug_again_text(card));
  });
  if (cards) plan.push_back(order_line(request, verb_of(GuestOrder::kReturn, "")));
  return plan;
}

std::vector<std::string> restore_plan(const SetRequest& request, const SetSteps& steps) {
  std::vector<std::string> plan;
  for (const MachinePlace& place : request.machines)
    plan.push_back(place.name + ": load " + request.directory + "/" + ram_file(place.name) +
                   " (migrate-incoming)");
  for (const MachinePlace& place : request.machines) plan.push_back(place.name + ": cont");
  plan.push_back(order_line(request, job_restored(steps.hold())));
  plan.emplace_back("if that says that they do not fit together: stop all of them again");
  for_each_card(request, steps, [&](const std::string& of, const Card& card) {
    plan.push_back(of + plug_text(card));
  });
  if (any_card(request)) plan.push_back(order_line(request, verb_of(GuestOrder::kReturn, "")));
  return plan;
}

Json report_json(const SetReport& report) {
  Json phases = Json::array();
  for (const SetPhase& phase : report.phases) phases.push_back(phase_json(phase));
  return {{"schema", "livebtl.vm/1"},      {"verb", report.verb},
          {"exit_code", report.end.code},  {"text", report.end.text},
          {"directory", report.directory}, {"hold", report.hold},
          {"dry_run", report.dry_run},     {"left", report.end.left},
          {"plan", report.plan},           {"phases", std::move(phases)}};
}

}  // namespace livebtl::hypervisor
