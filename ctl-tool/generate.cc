// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/generate.cc -- see generate.h.
#include "ctl-tool/generate.h"

#include <sstream>

#include "base/exit_code.h"
#include "base/settings.h"
#include "ctl-tool/command_line.h"
#include "ctl-tool/options.h"

namespace livebtl::tool {
namespace {

/// Text in roff: nothing in it is a request or an escape.
std::string roff(const std::string& text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_start = c == '\n';
  }
  return out;
}

/// Explanation, then "Example:" and commands, which keep their lines.
void write_detail(std::ostringstream& page, const std::string& detail) {
  const auto example = detail.find("Example");
  std::string text = detail.substr(0, example);
  text.erase(text.find_last_not_of('\n') + 1);
  if (!text.empty()) page << ".PP\n" << roff(text) << "\n";
  if (example == std::string::npos) return;
  const auto commands = detail.find('\n', example);
  page << ".PP\nFor example:\n.PP\n.nf\n" << roff(detail.substr(commands + 1)) << "\n.fi\n";
}

void write_option(std::ostringstream& page, const CLI::Option& option) {
  if (option.get_group().empty()) return;
  const bool flag = option.get_expected_max() == 0;
  page << ".TP\n.B "
       << roff(option.get_positional() ? shown_name(option) : option.get_name(false, true));
  if (!flag && !option.get_positional()) page << " \\fI" << roff(option.get_type_name()) << "\\fR";
  page << "\n" << roff(option.get_description()) << ".\n";
}

/// "hold start", "switch FROM TO", "hooks check [NAME...]"
std::string usage_of(const CLI::App& command, const std::string& parents) {
  std::string text = parents + command.get_name();
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) text += " " + usage_of_word(*option);
  }
  return text;
}

void write_command(std::ostringstream& page, const CLI::App& command, const std::string& parents) {
  const auto actions = command.get_subcommands({});
  page << ".SS btlctl " << roff(usage_of(command, parents)) << (actions.empty() ? "" : " ...")
       << "\n"
       << roff(command.get_description()) << ".\n";
  write_detail(page, command.get_footer());
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_name() != "--help") write_option(page, *option);
  }
  for (const CLI::App* action : actions)
    write_command(page, *action, parents + command.get_name() + " ");
}

void write_outside(std::ostringstream& page) {
  page << ".SH FROM OUTSIDE\nOn a node of the job btlctl needs no options. From elsewhere it takes "
          "the address of a relay and the job's secret. One process of each node relays if the job "
          "has several nodes, or if LIVEBTL_RELAY=on was set for it; \\fBbtlctl jobs\\fR on that "
          "node shows where. All commands then work by this one relay, on all nodes of the job; "
          "should its process end meanwhile, use another node's, or ask \\fBbtlctl jobs\\fR "
          "again, and \\fBbtlctl resume\\fR what was begun. Where connections are refused no relay "
          "listens any more, which is said at once. The secret is the file that "
          "LIVEBTL_SECRET_FILE named for the job; where the job got it otherwise, \\fBbtlctl "
          "secret\\fR writes it to a file.\n.PP\nA job with LIVEBTL_AUTH=none has no secret: "
          "\\-\\-connect then reaches the processes of the relay's own node alone.\n";
}

void write_exit_codes(std::ostringstream& page) {
  page << ".SH EXIT STATUS\n";
  for (const auto& entry : kExitCodes) {
    page << ".TP\n.B " << static_cast<int>(entry.code) << "\n" << roff(entry.meaning) << ".\n";
  }
}

// A schema, and by which commands it comes.
constexpr std::pair<const char*, const char*> kDocuments[] = {
    {"livebtl.jobs/1", "jobs; with --connect without directory, user, announced and pids"},
    {"livebtl.list/1",
     "list: by process; of a transport peers counts the pairs that send messages on it, "
     "bulk_peers "
     "those that share the data of large ones; own_pair: the process's pair with itself is among "
     "them; silent: who did not answer"},
    {"livebtl.status/1",
     "status: by process; transports as in list; of a peer transport is what messages are sent "
     "on, "
     "bulk what the data of large ones is shared by, receiving what its messages came on last; "
     "silent: who did not answer"},
    {"livebtl.settings/1", "settings"},
    {"livebtl.watch/1",
     "watch: one for each line; of a standing also rung, reached, undoing, verb and arguments; "
     "unix_ms is when it was heard"},
    {"livebtl.hooks/1", "hooks: for each hook its file, whether all is well, and why not"},
    {"livebtl.vm/1",
     "vm: phases with the time of each; moved: it runs at the destination; left: what is left to "
     "be done by hand; plan: with --dry-run; cards: what device_add takes; migration: QEMU's "
     "figures"},
    {"livebtl.outcome/1",
     "all commands that change something, and whatever ends before it could begin: exit_code and "
     "text say what came of it"}};

void write_documents(std::ostringstream& page) {
  page
      << ".SH JSON DOCUMENTS\nWith \\-\\-json exactly one document goes to standard output, on one "
         "line. Its schema says which fields there are; within a version fields are only added.\n";
  for (const auto& [schema, meaning] : kDocuments) {
    page << ".TP\n.B " << schema << "\n" << roff(meaning) << ".\n";
  }
}

}  // namespace

std::string manual_page() {
  CommandLine line;
  const auto app = define_command_line(line);
  std::ostringstream page;
  page << ".\\\" SPDX-License-Identifier: BSD-3-Clause\n"
       << ".\\\" Made by: btlctl --generate man\n"
       << ".TH BTLCTL 1 \"\" \"livebtl " << LIVEBTL_VERSION << "\" \"livebtl\"\n"
       << ".SH NAME\nbtlctl \\- changes the network under a running MPI job\n"
       << ".SH SYNOPSIS\n.B btlctl\n[\\fIoptions\\fR] \\fIcommand\\fR [\\fIarguments\\fR]\n"
       << ".SH DESCRIPTION\nMoves the traffic of a running, unmodified MPI job from one transport "
          "to "
          "another, closes transports and brings them back. The job runs on; no message is lost, "
          "repeated or reordered. Names from Open MPI are understood: vader is sm, openib is "
          "verbs.\n"
       << ".PP\nbtlctl is no daemon's client: it speaks to every process of the job itself. Killed "
          "at "
          "any point it leaves a job that runs; \\fBbtlctl resume\\fR or \\fBbtlctl abort\\fR ends "
          "what "
          "was begun, and if nobody comes the job finishes it by itself after some seconds "
          "(LIVEBTL_TAKEOVER). Data goes to standard output, all else to standard error.\n"
       << ".SH OPTIONS\n";
  for (const CLI::Option* option : app->get_options()) write_option(page, *option);
  page << ".SH COMMANDS\n";
  for (const CLI::App* command : app->get_subcommands({})) write_command(page, *command, "");
  write_outside(page);
  write_exit_codes(page);
  write_documents(page);
  page << ".SH ENVIRONMENT\n.TP\n.B LIVEBTL_JOB\nThe job, if \\-\\-job is not given.\n"
       << ".TP\n.B LIVEBTL_RUNDIR\nWhere jobs are looked for, if not in the usual places "
          "(/run/livebtl/UID, $XDG_RUNTIME_DIR/livebtl, /tmp/livebtl\\-UID).\n"
       << ".TP\n.B LIVEBTL_SECRET_FILE\nThe job's secret for \\-\\-connect, if "
          "\\-\\-secret\\-file is not given.\n"
       << ".SH SEE ALSO\n.BR livebtl\\-settings (7)\n";
  return page.str();
}

std::string settings_page() {
  std::ostringstream page;
  page
      << ".\\\" SPDX-License-Identifier: BSD-3-Clause\n"
      << ".\\\" Made by: btlctl --generate settings-man\n"
      << ".TH LIVEBTL\\-SETTINGS 7 \"\" \"livebtl " << LIVEBTL_VERSION << "\" \"livebtl\"\n"
      << ".SH NAME\nlivebtl\\-settings \\- settings of the livebtl library\n"
      << ".SH DESCRIPTION\nEach is read from the environment of the job's processes when the "
         "library "
         "starts, as LIVEBTL_\\fINAME\\fR, or else as FI_LIVEBTL_\\fINAME\\fR. A wrong value is an "
         "error that names it; an unknown name is warned of. \\fBbtlctl settings\\fR prints this "
         "list.\n.SH SETTINGS\n";
  for (const SettingInfo& setting : setting_table()) {
    page << ".TP\n.B LIVEBTL_" << setting.name << " \\fR(" << roff(std::string(setting.type))
         << ", default: "
         << (setting.fallback.empty() ? "empty" : roff(std::string(setting.fallback))) << ")\n"
         << roff(std::string(setting.meaning)) << ".\n";
  }
  page << ".SH SEE ALSO\n.BR btlctl (1)\n";
  return page.str();
}

}  // namespace livebtl::tool
