// SPDX-License-Identifier: BSD-3-Clause
// What launchers put into the environment, from hostile text: lines of NAME=VALUE.
#include "control/place/launcher.h"

#include "tests/fuzz/lines.h"
#include "tests/fuzz/reached.h"

using namespace livebtl;
using namespace livebtl::control;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto found = find_variable(text, "PMIX_NAMESPACE");
  fuzz::must_hold(!found || found->size() < size, "a value lies within the text");
  const fuzz::Variables variables = fuzz::variables_of(text);
  const Lookup lookup = [&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  const auto facts = read_launcher(lookup, lookup, [] { return std::string("1-2"); });
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
