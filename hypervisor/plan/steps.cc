// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/plan/steps.cc -- see steps.h.
#include "hypervisor/plan/steps.h"

#include <sstream>

namespace livebtl::hypervisor {
namespace {

constexpr std::size_t kNamedMax = 5;

// btlctl's own list would not do: the holder need not be a process of the job. Processes come and
// go meanwhile. One open file of each is enough.
constexpr const char* kLookForHolders =
    "for p in /proc/[0-9]*; do l=$(ls -l $p/fd 2>/dev/null); "
    "case $l in *' /dev/infiniband/'*) f=${l#*' /dev/infiniband/'}; f=${f%%[!a-z0-9_]*}; "
    "read -r name <$p/comm && echo \"$name (pid ${p#/proc/}, /dev/infiniband/$f)\";; esac; "
    "done; true";

/// "; in the guest these have an RDMA device open: perf (pid 12, /dev/infiniband/uverbs0)": some
/// by name, the rest counted; which device belongs to which card is not known. "" if none has one,
/// or the guest cannot tell.
std::string holders_text(GuestAgent& agent, const Deadline& deadline) {
  const auto finished = agent.run({"/bin/sh", "-c", kLookForHolders}, deadline);
  if (!finished || finished->code != 0) return "";
  std::string text;
  std::size_t holders = 0;
  std::istringstream lines(finished->output);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (++holders <= kNamedMax) text += (holders == 1 ? "" : ", ") + one_line(line);
  }
  if (holders == 0) return "";
  if (holders > kNamedMax) text += " and " + std::to_string(holders - kNamedMax) + " more";
  return "; in the guest these have an RDMA device open: " + text;
}

}  // namespace

Steps::Steps(TimeNs timeout, const std::atomic<bool>& stop, Progress progress)
    : progress_(std::move(progress)), budget_(monotonic_now(), timeout), stop_(stop) {}

Deadline Steps::forward() const { return {budget_.there(), &stop_}; }
Deadline Steps::uninterrupted() const { return {budget_.there(), nullptr}; }
Deadline Steps::plugging() {
  return Deadline{budget_.afterwards(monotonic_now()), nullptr}.at_most(kPlugMax);
}
Deadline Steps::afterwards() { return plugging().at_most(kAfterwards); }
Deadline Steps::diagnosis() const { return {budget_.diagnosis(monotonic_now()), nullptr}; }

Tries Steps::tries(GuestOrder order) {
  if (order == GuestOrder::kPrepare) return tries_until(budget_.there(), false);
  return tries_until(budget_.afterwards(monotonic_now()), plugged_in_);
}

Answer Steps::unplug(Vm& vm, const Card& card, GuestAgent* agent) {
  Answer answer = answer_of(vm.pull_card(card, uninterrupted().at_most(kUnplugMax)));
  if (answer.outcome == Outcome::kTimeout && agent != nullptr)
    answer.text += holders_text(*agent, diagnosis());
  return answer;
}

Answer Steps::plug(Vm& vm, const Card& card) {
  Answer answer = answer_of(vm.plug_card(card, plugging()));
  plugged_in_ = plugged_in_ || answer.ok();
  return answer;
}

Answer Steps::plug_again(Vm& vm, const Card& card) {
  const auto there = vm.is_plugged(card, plugging());
  if (!there) return answer_of(there.error());
  if (*there) return not_given_up(vm, card);
  const Status plugged = vm.plug_card_again(card, plugging());
  plugged_in_ = plugged_in_ || plugged;
  return answer_of(plugged ? vm.forget_card(card, afterwards()) : plugged);
}

/// The card needs no plugging in. But unless the guest has refused, the request to give it up may
/// still be open; if it takes effect later, only the note tells how the card was plugged in.
Answer Steps::not_given_up(Vm& vm, const Card& card) {
  const auto noted = vm.was_pulled(card, afterwards());
  if (!noted) return answer_of(noted.error());
  if (!*noted) return {};
  return {Outcome::kFailed, kCodeUnfinished,
          "it is still there, but the guest was asked for it and may give it up later; then call "
          "this again, or do by hand: " +
              vm.words_for(VmAct::kPlugAgain, &card, "")};
}

}  // namespace livebtl::hypervisor
