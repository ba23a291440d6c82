// SPDX-License-Identifier: BSD-3-Clause
// A settings file from hostile text: what is accepted has names and values that each stand in one
// of its lines, each name once, and none that belongs to a single job.
#include "base/process_settings.h"
#include "tests/fuzz/reached.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace livebtl;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto parsed = parse_config(text, "FILE");
  if (parsed) {
    for (const Assignment& each : *parsed) {
      fuzz::must_hold(text.find(each.value) != std::string::npos, "a value stands in the text");
      fuzz::must_hold(each.value.find('\n') == std::string::npos, "a value is of one line");
      fuzz::must_hold(each.name != "JOB" && each.name != "SIZE", "a job is not named in a file");
      (void)unknown_assignment_warning(each);
    }
    (void)check_assignments(*parsed);
  }
  if (!text.empty()) fuzz::Reached::note(parsed.has_value());
  return 0;
}
