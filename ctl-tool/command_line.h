// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/command_line.h -- btlctl's command line: what was asked for, as plain values, and the
// parser, which is built from the commands' own definitions (command.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/exit_code.h"

namespace CLI {
class App;
}

namespace livebtl::tool {

struct Command;

struct VmOptions {
  std::string guest_btlctl = "btlctl";
  // migrate
  std::string qmp, agent, to;
  std::string domain, destination_connect;  // libvirt's; domain: "" if QEMU's sockets are named
  std::vector<std::string> cards;
  std::vector<std::string> card_arguments;
  std::string destination_qmp, destination_agent;
  // snapshot, restore
  std::string directory;
  std::vector<std::string> machines;  // as read_machine() takes them
  bool disks_are_mine = false;
  std::string every;     // snapshot: "30m"; empty: once
  std::size_t keep = 0;  // snapshot: how many sets of a series stay; 0: directory is one set
};

struct CommandLine {
  const Command* definition = nullptr;  // what to run; null only with `generate`
  std::string command;                  // "hold"
  std::vector<std::string> arguments;  // "start"; transports (aliases resolved); assignments; hooks
  std::string job;
  std::string user;     // whose jobs of this node; empty: as choose_job.h says
  std::string connect;  // HOST:PORT of a relay; with vm, libvirt's URI; empty: jobs of this node
  std::string secret_file;             // with connect
  std::string scope;                   // job or node:NAME; empty: job
  std::string file;                    // secret: the file to write
  std::string hold_id;                 // empty: whichever hold there is
  std::optional<double> lease_s;       // of a hold
  bool hold = false;                   // checkpoint prepare: then hold the job
  std::string root = "/";              // hooks: root of the file system
  std::vector<std::string> words;      // doctor: a launch line; help: a command
  std::vector<std::string> relays;     // job restored: HOST:PORT[,HOST:PORT...] of each
  std::vector<std::string> hosts;      // checkpoint restore: NODE=HOST
  std::vector<std::string> addresses;  // checkpoint restore: OLD=NEW
  VmOptions vm;
  bool json = false;
  bool wide = false;  // more columns, and none cut to the terminal's width
  bool quiet = false;
  bool progress = false;
  bool dry_run = false;
  bool no_wait = false;
  bool peers = false;
  bool once = false;
  std::optional<double> timeout_s;
  double interval_s = 1.0;
  std::size_t last = SIZE_MAX;  // switches
  bool all = false;             // tables at full length
  bool svg = false;             // topology, trace: a picture
  std::string textfile;         // metrics: the file to write
  std::string listen;           // metrics: ADDRESS:PORT
  std::string generate;         // page | settings-man

  /// The given time-out, or the default, which is short for a look.
  TimeNs timeout_or(double seconds) const noexcept { return in_ns(timeout_s.value_or(seconds)); }
  TimeNs timeout_for_change() const noexcept { return timeout_or(30.0); }
  TimeNs timeout_for_look() const noexcept { return timeout_or(5.0); }
  TimeNs lease_or(double seconds) const noexcept { return in_ns(lease_s.value_or(seconds)); }
  TimeNs interval() const noexcept { return in_ns(interval_s); }

 private:
  static TimeNs in_ns(double seconds) noexcept { return static_cast<TimeNs>(seconds * 1e9); }
};

/// There is nothing to run: print the text and end.
struct EndNow {
  ExitCode exit_code = ExitCode::kDone;
  std::string text;  // to stdout if kDone, else to stderr
};

/// arguments: without the program's name; hostile. environment_job, environment_user: LIVEBTL_JOB and
/// LIVEBTL_USER, or "".
std::variant<CommandLine, EndNow> parse_command_line(std::vector<std::string> arguments,
                                                     const std::string& environment_job,
                                                     const std::string& environment_user = "");

/// The parser itself, which the generators use as well. Values go into `line`, which must outlive
/// it.
std::unique_ptr<CLI::App> define_command_line(CommandLine& line);

}  // namespace livebtl::tool
