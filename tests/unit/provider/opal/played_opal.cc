// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/provider/opal/played_opal.cc -- plays the two functions with which Open MPI's library
// looks up a parameter.
#include <array>
#include <cstring>

namespace {

struct Parameter {
  const char* name;
  const char* value;
};
std::array<Parameter, 2> parameters{
    {{"opal_common_ofi_provider_include", "tcp,livebtl"}, {"no_value", nullptr}}};

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int mca_base_var_find_by_name(const char* name, int* index);
[[gnu::visibility("default")]] int mca_base_var_get_value(int index, const void* value, int* source,
                                                          const char** file);

int mca_base_var_find_by_name(const char* name, int* index) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (std::strcmp(parameters[i].name, name) != 0) continue;
    *index = static_cast<int>(i);
    return 0;
  }
  return -13;
}

/// value: in fact a `const char**`; set to where the text is.
int mca_base_var_get_value(int index, const void* value, int*, const char**) {
  const char* const* const place = &parameters[static_cast<std::size_t>(index)].value;
  std::memcpy(const_cast<void*>(value), &place, sizeof place);
  return 0;
}
}
