// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/orders.cc -- see orders.h.
#include "ctl-tool/orders.h"

#include <unistd.h>

#include <array>
#include <ctime>

#include "base/secret.h"
#include "ctl-tool/options.h"
#include "ctl-tool/say.h"

namespace livebtl::tool {
namespace {

constexpr double kLeaseDefault = 60.0;  // seconds

std::string host_name() {
  std::array<char, 65> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "an unknown host";
  return printable(name.data());
}

control::HoldVerb verb_of(const CommandLine& line) {
  if (line.command == "job") return control::HoldVerb::kRestored;
  if (line.arguments.front() == "start") return control::HoldVerb::kStart;
  if (line.arguments.front() == "renew") return control::HoldVerb::kRenew;
  return line.arguments.front() == "check" ? control::HoldVerb::kCheck : control::HoldVerb::kEnd;
}

}  // namespace

control::HoldCommand hold_of(const CommandLine& line, const std::string& job) {
  control::HoldCommand command;
  command.job = job;
  command.verb = verb_of(line);
  command.incarnation = Incarnation{static_cast<std::uint32_t>(std::time(nullptr))};
  const std::uint64_t drawn = command.verb == control::HoldVerb::kStart ? random_u64() | 1 : 0;
  command.claimer = static_cast<std::uint32_t>(random_u64());
  command.id = read_hold_id(line.hold_id).value_or(drawn);
  command.lease_ms = static_cast<std::uint32_t>(line.lease_or(kLeaseDefault) / kMillisecond);
  command.dry_run = line.dry_run;
  command.times.total = line.timeout_for_change();
  command.relays = relays_of(line);
  return command;
}

control::Command command_of(const CommandLine& line, const std::string& job) {
  control::Command command;
  command.job = job;
  command.verb = line.command;
  command.arguments = line.arguments;
  command.scope = line.scope;
  command.by = user_name(::geteuid()) + " on " + host_name() + ", by btlctl " + line.command;
  command.dry_run = line.dry_run;
  command.coordinator = random_u64() | 1;
  command.operation = random_u64() | 1;
  command.times = control::times_within(line.timeout_for_change());
  return command;
}

}  // namespace livebtl::tool
