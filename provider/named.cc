// SPDX-License-Identifier: BSD-3-Clause
// provider/named.cc -- see named.h.
#include "provider/named.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "provider/provider.h"

namespace livebtl::fi {
namespace {

/// Lists of providers that the program is to use or, with ^ in front, not to use.
constexpr const char* kVariables[] = {
    "FI_PROVIDER", "MPIR_CVAR_OFI_USE_PROVIDER", "OMPI_MCA_opal_common_ofi_provider_include",
    "OMPI_MCA_mtl_ofi_provider_include", "OMPI_MCA_btl_ofi_provider_include"};
/// Open MPI's parameter has synonyms, which share its value.
constexpr const char* kParameter = "opal_common_ofi_provider_include";
constexpr const char* kJobs[] = {"LIVEBTL_JOB", "FI_LIVEBTL_JOB"};

bool names_us(std::string_view list) {
  if (list.starts_with('^')) return false;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(",;"), list.size());
    if (list.substr(0, end) == kProviderName) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

std::string_view text(const char* value) { return value == nullptr ? "" : value; }

/// The path of the loaded library whose file name begins with `name`; "": none.
std::string loaded(const char* name) {
  struct Search {
    std::string_view name;
    std::string path;
  } search{name, ""};
  const auto look = [](dl_phdr_info* object, std::size_t, void* data) {
    auto& wanted = *static_cast<Search*>(data);
    const std::string_view path = text(object->dlpi_name);
    if (!path.substr(path.rfind('/') + 1).starts_with(wanted.name)) return 0;
    wanted.path = path;
    return 1;
  };
  ::dl_iterate_phdr(look, &search);
  return search.path;
}

struct CloseLibrary {
  void operator()(void* library) const noexcept { ::dlclose(library); }
};

}  // namespace

// Calls Open MPI's own functions (opal/mca/base/mca_base_var.h, the same in 4.1 and 5.0). They are
// found by path: a program may have loaded it where the dynamic linker does not look by itself.
std::string open_mpi_parameter(const char* name) {
  const std::string path = loaded("libopen-pal.so");
  if (path.empty()) return "";
  const std::unique_ptr<void, CloseLibrary> library(
      ::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD));
  if (library == nullptr) return "";
  using Find = int (*)(const char* name, int* index);
  using Value = int (*)(int index, const void* value, int* source, const char** file);
  const auto find = reinterpret_cast<Find>(::dlsym(library.get(), "mca_base_var_find_by_name"));
  const auto value_of = reinterpret_cast<Value>(::dlsym(library.get(), "mca_base_var_get_value"));
  int index = -1;
  const char* const* value = nullptr;
  if (find == nullptr || value_of == nullptr || find(name, &index) != 0 || index < 0 ||
      value_of(index, &value, nullptr, nullptr) != 0 || value == nullptr)
    return "";
  return std::string(text(*value));
}

bool names_job(const Environment& environment) {
  return std::any_of(std::begin(kJobs), std::end(kJobs),
                     [&](const char* name) { return !text(environment(name)).empty(); });
}

bool is_chosen(const Environment& environment, const Parameters& parameters) {
  return std::any_of(std::begin(kVariables), std::end(kVariables),
                     [&](const char* name) { return names_us(text(environment(name))); }) ||
         names_us(parameters(kParameter));
}

bool is_named(const fi_info* hints, const Environment& environment, const Parameters& parameters) {
  const auto is_it = [](const char* name) { return names_us(text(name)); };
  if (hints != nullptr && hints->fabric_attr != nullptr &&
      (is_it(hints->fabric_attr->prov_name) || is_it(hints->fabric_attr->name)))
    return true;
  return names_job(environment) || is_chosen(environment, parameters);
}

}  // namespace livebtl::fi
