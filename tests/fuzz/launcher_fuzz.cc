// SPDX-License-Identifier: BSD-3-Clause
// What launchers put into the environment, from hostile text: lines of NAME=VALUE.
#include "control/launcher.h"

#include <map>

#include "tests/fuzz/reached.h"

namespace {
using namespace livebtl;
using namespace livebtl::control;
using Variables = std::map<std::string, std::string, std::less<>>;

Variables parse(std::string_view text) {
  Variables variables;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos)
      variables.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return variables;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Variables variables = parse({reinterpret_cast<const char*>(data), size});
  const Lookup lookup = [&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  const auto facts = read_launcher(lookup, [] { return std::string("1-2"); });
  fuzz::Reached::note(facts.has_value());
  if (!facts) {
    fuzz::must_hold(!facts.error().text.empty(), "an error has a text");
    return 0;
  }
  fuzz::must_hold(facts->job.empty() || valid_job_id(facts->job), "a job id is a file's name");
  fuzz::must_hold(facts->rank < 0 || static_cast<std::uint32_t>(facts->rank) < facts->announced,
                  "a rank lies in its job");
  return 0;
}
