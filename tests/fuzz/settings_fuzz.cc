// SPDX-License-Identifier: BSD-3-Clause
// Settings from hostile text. The input is lines of NAME=VALUE; each is a variable in an
// environment and a single setting. What is accepted must lie within the documented limits.
#include "base/nearest.h"
#include "base/settings.h"
#include "tests/fuzz/lines.h"
#include "tests/fuzz/reached.h"

namespace {

using namespace livebtl;

void check_limits(const Settings& settings) {
  fuzz::must_hold(settings.job.size() <= 64 && settings.job.find('/') == std::string::npos &&
                      !settings.job.starts_with('.'),
                  "a job id is a file's name");
  fuzz::must_hold(settings.rundir.empty() || settings.rundir.front() == '/', "RUNDIR is absolute");
  fuzz::must_hold(settings.window_bytes >= 65536 && settings.window_bytes <= 1u << 30,
                  "WINDOW_BYTES is in range");
  fuzz::must_hold(settings.sm_ring_bytes >= 131072, "SM_RING_BYTES is in range");
  fuzz::must_hold(settings.size <= 1u << 20, "SIZE is in range");
  for (const std::string& name : settings.transports)
    fuzz::must_hold(!name.empty() && name.size() <= 32 && name.find('/') == std::string::npos,
                    "a transport's name is short, and no path");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::Variables variables = fuzz::variables_of({reinterpret_cast<const char*>(data), size});
  bool used = false;
  const auto settings = read_settings([&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    used = used || !found->second.empty();
    return found->second;
  });
  if (settings) check_limits(*settings);
  if (used) fuzz::Reached::note(settings.has_value());

  for (const auto& [name, value] : variables) (void)unknown_setting_warning(name);
  return 0;
}
