// SPDX-License-Identifier: BSD-3-Clause
// provider/hidden_devices.cc -- see hidden_devices.h.
#include "provider/hidden_devices.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/config_file.h"
#include "provider/imports.h"

namespace livebtl::fi {
namespace {

/// Each means that a launcher has started this process as part of a job.
constexpr const char* kLaunched[] = {"PMIX_NAMESPACE", "OMPI_MCA_orte_precondition_transports",
                                     "PMI_RANK", "SLURM_STEP_NUM_TASKS"};

bool is_set(const Environment& environment, const char* name) {
  const char* const value = environment(name);
  return value != nullptr && *value != '\0';
}

std::string_view setting(const Environment& environment) {
  for (const char* name : {"LIVEBTL_HIDE_DEVICES", "FI_LIVEBTL_HIDE_DEVICES"})
    if (is_set(environment, name)) return environment(name);
  return "";
}

/// wished: devices are to be hidden from every process that a launcher has started.
bool is_of_our_job(const Environment& environment, const Parameters& parameters, bool wished) {
  if (names_job(environment)) return true;  // enough without a launcher
  const bool launched = std::any_of(std::begin(kLaunched), std::end(kLaunched),
                                    [&](const char* name) { return is_set(environment, name); });
  // If the provider is merely installed and another one is used, that one keeps its devices.
  return launched && (wished || is_chosen(environment, parameters));
}

// The last file takes precedence.
bool files_say_off(const std::vector<std::string>& paths) {
  const auto files = read_config_files(paths);
  if (!files) return false;
  const auto last = std::find_if(files->rbegin(), files->rend(), [](const Assignment& each) {
    return each.name == "HIDE_DEVICES" && !each.value.empty();
  });
  return last != files->rend() && last->value == "off";
}

// What ibv_get_device_list() returns if there is no device; ibv_free_device_list() accepts it.
void** no_devices(int* count) noexcept {
  if (count != nullptr) *count = 0;
  return static_cast<void**>(std::calloc(1, sizeof(void*)));
}

}  // namespace

bool devices_are_to_be_hidden(const Environment& environment, const Parameters& parameters,
                              const std::vector<std::string>& files) {
  const std::string_view wish = setting(environment);
  if (wish == "off" || !is_of_our_job(environment, parameters, !wish.empty())) return false;
  return !wish.empty() || !files_say_off(files);
}

Status hide_devices() {
  for (const char* library : {"librdmacm.so.1", "libfabric.so.1"}) {
    const auto done =
        redirect_import(library, "ibv_get_device_list", reinterpret_cast<void*>(&no_devices));
    // A library that is not loaded opens nothing, and libfabric may leave it all to librdmacm.
    if (!done && done.error().code == Errc::kNotFound) continue;
    const bool missed = done && *done == 0 && std::string_view(library) == "librdmacm.so.1";
    if (done && !missed) continue;
    return fail(missed ? Errc::kUnsupported : done.error().code,
                std::string("RDMA devices cannot be hidden from libfabric's own verbs provider: ") +
                    library + ": " +
                    (missed ? "it does not import ibv_get_device_list" : done.error().text) +
                    "; if it opens one, `btlctl remove verbs` ends with code 7, and the device "
                    "cannot be unplugged before the job has ended");
  }
  return {};
}

}  // namespace livebtl::fi
