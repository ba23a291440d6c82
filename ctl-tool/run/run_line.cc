// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/run/run_line.cc -- see run_line.h. CLI11's exceptions stay in here.
#include "ctl-tool/run/run_line.h"

#include <algorithm>
#include <sstream>

#include "base/nearest.h"
#include "ctl-tool/options.h"
#include "ctl-tool/table.h"

namespace livebtl::tool {
namespace {

constexpr const char* kDetail = R"(Examples:
  livebtl-run mpirun -n 4 ./program
  livebtl-run --show srun -N 2 -n 8 ./program
  livebtl-run --one-sided mpirun -n 4 ./program

Exit codes: the launcher's; if it was not started: 1, 2 or 3, as in btlctl.)";

/// The parser does not know of the launch line.
class RunFormatter : public CLI::Formatter {
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: livebtl-run [OPTIONS] LAUNCHER [ARGUMENTS]...\n";
  }
};

/// Options that take the next word as their value.
bool takes_value(const std::string& word) { return word == "--door"; }

/// Where the launch line begins: at the first word that is no option.
std::size_t launch_begins(const std::vector<std::string>& arguments) {
  std::size_t i = 0;
  while (i < arguments.size() && arguments[i].starts_with('-') && arguments[i] != "--")
    i += takes_value(arguments[i]) ? 2 : 1;
  return std::min(i, arguments.size());
}

EndNow wrong(const std::string& text) {
  return {ExitCode::kUsage, "livebtl-run: " + printable(text) + "\nTry: livebtl-run --help\n"};
}

std::string unknown_option(const CLI::App& app) {
  const auto unknown = app.remaining();
  if (unknown.empty()) return "";
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back(option->get_name());
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto near = nearest(unknown.front(), known);
  return "there is no option '" + unknown.front() + "'" +
         (near ? "; did you mean " + std::string(*near) + "?" : "");
}

}  // namespace

std::unique_ptr<CLI::App> define_run_line(RunLine& line) {
  auto app = std::make_unique<CLI::App>(
      "livebtl-run -- start an MPI job so that it runs over livebtl", "livebtl-run");
  app->formatter(std::make_shared<RunFormatter>());
  app->add_flag("--show", line.show, "Print what would be run, as a shell command, and exit");
  const auto take_door = [&line](const std::string& word) {
    if (word == "component") line.wishes.door = launch::Door::kComponent;
    if (word == "provider") line.wishes.door = launch::Door::kProvider;
  };
  app->add_option_function<std::string>(
         "--door", take_door,
         "How the program reaches livebtl: component (of Open MPI), provider (of libfabric), or "
         "auto: the component where Open MPI can load it, else the provider (auto)")
      ->type_name("DOOR")
      ->check(CLI::IsMember({"auto", "component", "provider"}).description(""));
  app->add_flag("--one-sided", line.wishes.one_sided,
                "Run MPI_Put, MPI_Get and the like over livebtl too");
  app->add_flag("--quiet", line.quiet, "Do not report when the job is up");
  app->set_version_flag("--version", std::string("livebtl-run ") + LIVEBTL_VERSION,
                        "Print the version");
  app->allow_extras();
  app->footer(kDetail);
  return app;
}

std::variant<RunLine, EndNow> parse_run_line(std::vector<std::string> arguments) {
  RunLine line;
  const auto app = define_run_line(line);
  const auto begin = arguments.begin() + static_cast<std::ptrdiff_t>(launch_begins(arguments));
  line.words.assign(begin, arguments.end());
  if (!line.words.empty() && line.words.front() == "--") line.words.erase(line.words.begin());
  arguments.erase(begin, arguments.end());
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app->parse(std::move(arguments));
  } catch (const CLI::Success& end) {  // --help, --version
    std::ostringstream text, ignored;
    app->exit(end, text, ignored);
    return EndNow{ExitCode::kDone, text.str()};
  } catch (const CLI::Error& error) {
    return wrong(error.what());
  }
  if (const std::string unknown = unknown_option(*app); !unknown.empty()) return wrong(unknown);
  if (line.words.empty())
    return wrong("a launch line is needed, as in: livebtl-run mpirun -n 4 ./program");
  if (!line.words.empty() && line.words.front().empty())
    return wrong("the launcher is an empty word; is a variable of your script not set?");
  return line;
}

}  // namespace livebtl::tool
