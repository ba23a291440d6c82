// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/provider/named_test.cc -- the provider is offered only to those who name it.
#include "provider/named.h"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "pair.h"

using namespace livebtl;
using namespace livebtl::fi;

namespace {

using Variables = std::map<std::string, std::string>;

bool named(const Variables& variables, const std::string& parameter = "",
           const fi_info* hints = nullptr) {
  const auto variable = [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  return is_named(hints, variable, [&](const char* name) {
    return std::string(name) == "opal_common_ofi_provider_include" ? parameter : "";
  });
}

}  // namespace

TEST_CASE("a program that names no provider, or another one, is not offered ours") {
  CHECK_FALSE(named({}));
  CHECK_FALSE(named({{"FI_PROVIDER", "tcp"}, {"PMIX_NAMESPACE", "1"}}));
  CHECK_FALSE(named({{"FI_PROVIDER", "^livebtl"}}));
  CHECK_FALSE(named({{"OMPI_MCA_mtl", "ofi"}, {"LIVEBTL_JOB", ""}}, "tcp,verbs"));
  const fake::Info hints(fi_allocinfo());
  CHECK_FALSE(named({}, "", hints.get()));
  hints->fabric_attr->prov_name = ::strdup("tcp;ofi_rxm");
  CHECK_FALSE(named({}, "", hints.get()));
}

TEST_CASE("it is named in the environment, by Open MPI's parameters, or by the hints") {
  for (const char* variable :
       {"FI_PROVIDER", "MPIR_CVAR_OFI_USE_PROVIDER", "OMPI_MCA_opal_common_ofi_provider_include",
        "OMPI_MCA_mtl_ofi_provider_include", "OMPI_MCA_btl_ofi_provider_include"})
    CHECK_MESSAGE(named({{variable, "tcp,livebtl"}}), variable);
  CHECK(named({{"LIVEBTL_JOB", "pair"}}));
  CHECK(named({}, "livebtl"));
  fake::Info hints(fi_allocinfo());
  hints->fabric_attr->prov_name = ::strdup("livebtl");
  CHECK(named({}, "", hints.get()));
  hints.reset(fi_allocinfo());
  hints->fabric_attr->name = ::strdup("livebtl");  // from an info that was returned before
  CHECK(named({}, "", hints.get()));
}

TEST_CASE("fi_getinfo answers a program that names nobody as if the provider were not there") {
  ::unsetenv("FI_PROVIDER");
  fi_info* found = nullptr;
  CHECK(fi_prov_ini()->getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, nullptr, &found) ==
        -FI_ENODATA);
  CHECK(found == nullptr);
}

TEST_CASE(
    "Open MPI's parameters are read from the library that the process has loaded, if it has") {
  CHECK(open_mpi_parameter("opal_common_ofi_provider_include").empty());
  void* const library = ::dlopen(LIVEBTL_PLAYED_OPAL, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  CHECK(open_mpi_parameter("opal_common_ofi_provider_include") == "tcp,livebtl");
  CHECK(open_mpi_parameter("mtl_ofi_nothing").empty());
  CHECK(open_mpi_parameter("no_value").empty());
  ::dlclose(library);
}
