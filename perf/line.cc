// SPDX-License-Identifier: BSD-3-Clause
// perf/line.cc -- see line.h: the arguments, put together and checked. CLI11's exceptions stay in
// here.
#include "perf/line.h"

#include <algorithm>
#include <sstream>

#include "base/nearest.h"
#include "base/text.h"
#include "perf/units.h"

namespace livebtl::perf {
namespace {

constexpr std::size_t kLargeBytes = 8192;  // OSU's bound: fewer rounds above it

std::string unknown_option(const CLI::App& app) {
  const auto unknown = app.remaining();
  if (unknown.empty()) return "";
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back(option->get_name());
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string word = unknown.front().substr(0, unknown.front().find('='));
  const auto near = nearest(word, known);
  return word.starts_with('-') ? "there is no option '" + word + "'" +
                                     (near ? "; did you mean " + std::string(*near) + "?" : "")
                               : "one test at a time; '" + word + "' is one word too many";
}

/// "": all is well.
std::string contradiction_in(const Line& line) {
  const bool pair = !line.job.empty();
  if (pair != (line.rank >= 0) || pair != !line.meet.empty())
    return "--job, --rank and --meet go together: the job's name, 0 or 1, and a directory to meet "
           "in";
  if (pair && !is_plain_name(line.job))
    return "--job takes a name of letters, digits, '.', '-' and '_'";
  if (line.test == Test::kAtomic && line.sizes != std::vector<std::size_t>{8})
    return "atomic is about 8 bytes; leave --sizes out";
  if (line.switch_every > 0 && line.transports.size() != 2)
    return "--switch-every takes two transports, as in --transport sm,tcp";
  if (line.switch_every > 0 && line.transports[0] == line.transports[1])
    return "--switch-every takes two different transports";
  const bool one_sided = line.test == Test::kPut || line.test == Test::kGet;
  if (one_sided && std::count(line.sizes.begin(), line.sizes.end(), 0U) != 0)
    return "a put or a get has at least one byte";
  return "";
}

LineEnd wrong(const std::string& text) {
  std::string shown;
  for (const char c : text) shown += static_cast<unsigned char>(c) < ' ' || c == 127 ? '?' : c;
  return {ExitCode::kUsage, "btlperf: " + shown + "\nTry: btlperf --help\n", shown};
}

void fill_in(Line& line) {
  if (line.sizes.empty()) line.sizes = *parse_sizes(info_of(line.test).sizes);
  if (line.switch_every <= 0) return;
  line.check = true;
  if (line.transports.empty() && line.starts_both()) line.transports = {"sm", "tcp"};
}

}  // namespace

const TestInfo& info_of(Test test) noexcept { return kTests[static_cast<std::size_t>(test)]; }

bool is_stream(Test test) noexcept {
  return test == Test::kBandwidth || test == Test::kBidirectional || test == Test::kRate;
}

std::uint64_t Line::rounds_for(std::size_t bytes) const noexcept {
  if (rounds != 0) return rounds;
  if (is_stream(test)) return bytes > kLargeBytes ? 20 : 100;
  return bytes > kLargeBytes ? 1000 : 10'000;
}

std::uint64_t Line::warm_up_for(std::size_t bytes) const noexcept {
  if (warm_up_given) return warm_up;
  if (is_stream(test)) return bytes > kLargeBytes ? 2 : 10;
  return bytes > kLargeBytes ? 10 : 100;
}

std::size_t Line::window_for() const noexcept {
  if (test == Test::kLatency) return 1;
  return window != 0 ? window : is_stream(test) ? 64 : 1;
}

std::variant<Line, LineEnd> parse_line(std::vector<std::string> arguments) {
  Line line;
  const auto app = define_line(line);
  if (std::find(arguments.begin(), arguments.end(), "") != arguments.end())
    return wrong("an argument is empty; is a variable of your script not set?");
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app->parse(std::move(arguments));
  } catch (const CLI::Success& end) {  // --help, --version
    std::ostringstream text, ignored;
    app->exit(end, text, ignored);
    return LineEnd{ExitCode::kDone, text.str(), ""};
  } catch (const CLI::RequiredError&) {
    const std::string unknown = unknown_option(*app);
    return wrong(unknown.empty() ? "a test is needed, as in: btlperf latency" : unknown);
  } catch (const CLI::Error& error) {
    return wrong(error.what());
  }
  if (const std::string unknown = unknown_option(*app); !unknown.empty()) return wrong(unknown);
  line.warm_up_given = app->get_option("--warm-up")->count() != 0;
  fill_in(line);
  if (const std::string text = contradiction_in(line); !text.empty()) return wrong(text);
  return line;
}

std::string agreement(const Line& line) {
  std::string text = info_of(line.test).name;
  text += line.check ? " --check" : "";
  text += line.switch_every > 0 ? " --switch-every" : "";
  text += " --window " + std::to_string(line.window_for()) + " --sizes ";
  for (std::size_t i = 0; i < line.sizes.size(); ++i)
    text += (i == 0 ? "" : ",") + std::to_string(line.sizes[i]);
  return text;
}

}  // namespace livebtl::perf
