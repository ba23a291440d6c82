// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/line_checks.cc -- see line_checks.h.
#include "ctl-tool/line_checks.h"

#include <algorithm>
#include <span>

#include "control/ladder/commands.h"
#include "control/ladder/scope.h"

namespace livebtl::tool {
namespace {

constexpr std::size_t kArgumentBytesMax = 256;
constexpr double kVmSecondsMin = 30.0;  // else a way back would have no time

std::string lease_problem(const CommandLine& line) {
  const bool good = line.lease_s >= 1.0 && line.lease_s <= 86'400.0;
  return good ? "" : "--lease takes seconds, from 1 to 86400";
}

/// What is wrong with `checkpoint`; "": nothing.
std::string checkpoint_problem(const CommandLine& line) {
  const bool prepares = line.arguments.front() == "prepare";
  if (!prepares && line.arguments.front() != "return") return "checkpoint takes prepare or return";
  if (!prepares && line.arguments.size() > 1)
    return "checkpoint return brings back what prepare has set aside; it takes no transport";
  if (!line.hold) return "";
  if (!prepares) return "--hold is for prepare; hold end ends a hold";
  if (!line.wait) return "--hold waits: what is not parked yet must not be snapshot";
  return lease_problem(line);
}

/// What is wrong with `hooks`; "": nothing.
std::string hooks_problem(const CommandLine& line) {
  const std::string& action = line.arguments.front();
  if (action != "install" && action != "check") return "hooks takes install or check";
  if (action == "install" && line.arguments.size() == 1)
    return "hooks install: which? qemu-ga (in a guest), libvirt, virsh, criu (on a host)";
  const auto known = [](const std::string& name) {
    return name == "qemu-ga" || name == "libvirt" || name == "virsh" || name == "criu";
  };
  const bool all = std::all_of(line.arguments.begin() + 1, line.arguments.end(), known);
  return all ? "" : "the hooks are qemu-ga, libvirt, virsh and criu";
}

/// What is wrong with --id; "": nothing.
std::string hold_id_problem(const CommandLine& line) {
  if (line.hold_id.empty() || read_hold_id(line.hold_id)) return "";
  return "--id takes the id of a hold, such as 0x1f2e3d4c5b6a7988";
}

/// What is wrong with `job`; "": nothing.
std::string job_problem(const CommandLine& line) {
  if (line.arguments.front() != "restored") return "job takes restored";
  if (!line.wait) return "job restored waits: who is not raised yet must not be left alone";
  if (std::string wrong = lease_problem(line); !wrong.empty()) return wrong;
  return hold_id_problem(line);
}

/// What is wrong with `hold`; "": nothing.
std::string hold_problem(const CommandLine& line) {
  const std::string& action = line.arguments.front();
  if (action != "start" && action != "renew" && action != "check" && action != "end")
    return "hold takes start, renew, check or end";
  if (std::string wrong = lease_problem(line); !wrong.empty()) return wrong;
  if (!line.wait) return "hold waits: what is not parked yet must not be snapshot";
  return hold_id_problem(line);
}

}  // namespace

std::string problem_of_words(const CommandLine& line) {
  const auto too_long = [](const std::string& text) { return text.size() > kArgumentBytesMax; };
  if (too_long(line.job) || std::any_of(line.arguments.begin(), line.arguments.end(), too_long)) {
    return "an argument is longer than 256 bytes";
  }
  if (line.verb == "secret" && line.file == "-") {
    return "a secret is written to a file that only its owner can read, never to the output; a "
           "file "
           "of that name would be ./-";
  }
  if (line.verb == "hold") return hold_problem(line);
  if (line.verb == "job") return job_problem(line);
  if (line.verb == "hooks") return hooks_problem(line);
  if (line.verb == "checkpoint") {
    if (std::string wrong = checkpoint_problem(line); !wrong.empty()) return wrong;
  }
  if (line.verb == "vm" && !line.connect.empty())
    return "vm speaks to the guests' agents, and with --connect to nobody else; leave it out";
  if (line.verb == "vm" && line.timeout_s && *line.timeout_s < kVmSecondsMin)
    return "vm takes a --timeout of 30 s at least: a third of it is kept for the way back";
  if (line.verb == "vm") return vm_problem(line.arguments.front(), line.wait, line.vm);
  if (!line.scope.empty() && !control::well_formed_scope(line.scope))
    return "--scope takes job or node:NAME";
  if (line.verb != "set") return "";
  return control::assignments_problem(std::span<const std::string>(line.arguments).subspan(1));
}

}  // namespace livebtl::tool
