// SPDX-License-Identifier: BSD-3-Clause
// perf/complete.cc -- see complete.h.
#include "perf/complete.h"

#include "perf/line.h"

namespace livebtl::perf {
namespace {

std::string line_of(const std::string& word, const std::string& meaning, const std::string& typed) {
  return word.starts_with(typed) ? word + "\t" + meaning + "\n" : "";
}

std::string of_options(const CLI::App& app, const std::string& typed) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) continue;
    for (const std::string& name : option->get_lnames())
      text += line_of("--" + name, option->get_description(), typed);
  }
  return text;
}

std::string of_tests(const std::string& typed) {
  std::string text;
  for (const TestInfo& each : kTests) text += line_of(each.name, each.measures, typed);
  return text;
}

/// The built-in transports; others, such as ofi:PROVIDER, have names that no list has.
std::string of_value(const CLI::Option& option, const std::string& typed) {
  const std::string type = option.get_type_name();
  if (type == "DIRECTORY") return ":directories\n";
  if (type == "FILE") return ":files\n";
  std::string text;
  if (type != "NAMES") return text;
  const std::size_t comma = typed.rfind(',');
  const std::string before = comma == std::string::npos ? "" : typed.substr(0, comma + 1);
  for (const char* name : {"sm", "tcp", "verbs", "ofi"}) text += line_of(before + name, "", typed);
  return text;
}

}  // namespace

std::string completion_text(const std::vector<std::string>& words) {
  Line line;
  const auto app = define_line(line);
  const std::string typed = words.empty() ? "" : words.back();
  const CLI::Option* awaits_value = nullptr;
  bool has_test = false;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const bool is_value = awaits_value != nullptr;
    awaits_value = nullptr;
    if (is_value) continue;
    if (!words[i].starts_with("--")) {
      has_test = true;
      continue;
    }
    const CLI::Option* option = app->get_option_no_throw(words[i]);
    if (option != nullptr && option->get_expected_max() != 0) awaits_value = option;
  }
  if (awaits_value != nullptr) return of_value(*awaits_value, typed);
  if (typed.starts_with('-')) return of_options(*app, typed);
  return has_test ? "" : of_tests(typed);
}

}  // namespace livebtl::perf
