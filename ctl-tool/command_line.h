// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/command_line.h -- btlctl's command line: one definition, from which parsing, help, the
// manual page and the shell completion are made.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "ctl-tool/vm_options.h"

namespace CLI {
class App;
}

namespace livebtl::tool {

struct CommandLine {
  std::string verb;                    // "" only with `generate`
  std::vector<std::string> arguments;  // transports (aliases resolved), then assignments
  std::string job;
  std::string connect;      // HOST:PORT of a relay; empty: jobs of this node
  std::string secret_file;  // with connect
  std::string scope;        // job or node:NAME, of the verbs that change the routing
  std::string file;         // of the verb secret
  std::string hold_id;      // of the verb hold; empty: whichever there is
  double lease_s = 60.0;    // ... and for how long
  VmOptions vm;             // of the verb vm
  bool json = false;
  bool quiet = false;
  bool progress = false;
  bool dry_run = false;
  bool wait = true;
  std::string root = "/";  // hooks: where the file system begins
  bool hold = false;       // checkpoint prepare: and then hold start
  bool peers = false;
  bool once = false;
  std::optional<double> timeout_s;
  double interval_s = 1.0;
  std::string generate;  // man | completion | settings-man

  /// Whoever changes something waits longer than whoever looks.
  TimeNs timeout_for_change() const noexcept { return in_ns(timeout_s.value_or(30.0)); }
  TimeNs timeout_for_look() const noexcept { return in_ns(timeout_s.value_or(5.0)); }
  TimeNs interval() const noexcept { return in_ns(interval_s); }

 private:
  static TimeNs in_ns(double seconds) noexcept { return static_cast<TimeNs>(seconds * 1e9); }
};

/// Nothing is to be run: print the text and end.
struct EndNow {
  int exit_code = 0;
  std::string text;  // on stdout if the code is 0, else on stderr
};

/// arguments: without the program's name; hostile. environment_job: LIVEBTL_JOB, or "".
std::variant<CommandLine, EndNow> parse_command_line(std::vector<std::string> arguments,
                                                     const std::string& environment_job);

struct RawArguments {
  CommandLine line;
  std::string first, second;
  std::vector<std::string> assignments;
  std::vector<std::string> names;
  bool no_wait = false;
};
/// The definition itself, for the parser and for generators. What is given lands in `raw`, which
/// must outlive it.
std::unique_ptr<CLI::App> define_command_line(RawArguments& raw);

/// "0x1f2e"; nullopt: that is no id of a hold.
std::optional<std::uint64_t> read_hold_id(const std::string& text);

/// "sm" for "vader" and so on; other names as they are.
std::string canonical_transport(const std::string& name);

}  // namespace livebtl::tool
