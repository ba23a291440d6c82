// SPDX-License-Identifier: BSD-3-Clause
// ompi/component.cc -- mca_pml_livebtl.so as Open MPI sees it: registered, queried, chosen, ended.
//
// Threads: the one that is in MPI_Init or MPI_Finalize. Ownership: Open MPI may copy the tables;
// the Door is opened in init() and closed in finalize().
#include "ompi/component.h"

#include <exception>
#include <string>

#include "ompi/calls.h"
#include "ompi/door.h"
#include "ompi/losses.h"
#include "ompi/matching.h"
#include "ompi/running_version.h"

namespace livebtl::ompi {
namespace {

int priority = 10;  // below ob1's 20. Open MPI queries us only if `pml` names us

int enable(bool) { return OMPI_SUCCESS; }
int progress() { return door->progress(); }
int dump(ompi_communicator_t*, int) { return OMPI_SUCCESS; }

mca_pml_base_module_t made_module() noexcept {
  mca_pml_base_module_t made{};
  made.pml_add_procs = add_procs;
  made.pml_del_procs = del_procs;
  made.pml_enable = enable;
  made.pml_progress = progress;
  made.pml_add_comm = add_comm;
  made.pml_del_comm = del_comm;
  made.pml_irecv_init = irecv_init;
  made.pml_irecv = irecv;
  made.pml_recv = recv;
  made.pml_isend_init = isend_init;
  made.pml_isend = isend;
  made.pml_send = send;
  made.pml_iprobe = iprobe;
  made.pml_probe = probe;
  made.pml_start = start;
  made.pml_improbe = improbe;
  made.pml_mprobe = mprobe;
  made.pml_imrecv = imrecv;
  made.pml_mrecv = mrecv;
  made.pml_dump = dump;
  made.pml_max_contextid = kContextMax;
  made.pml_max_tag = static_cast<int>(kAnyUserTag);
  add_calls_of_version(made);
  return made;
}

mca_pml_base_module_t module = made_module();

/// With fault tolerance on, Open MPI 5.0 takes each of our requests for a longer structure, and
/// reads past its end. In a build without it, the parameter's value points to nothing valid.
Status refuse_fault_tolerance() {
  int index = -1;
  const mca_base_var_t* parameter = nullptr;
  if (mca_base_var_find_by_name("mpi_ft_enable", &index) != OPAL_SUCCESS || index < 0 ||
      mca_base_var_get(index, &parameter) != OPAL_SUCCESS ||
      parameter->mbv_scope == MCA_BASE_VAR_SCOPE_CONSTANT || !parameter->mbv_storage->boolval)
    return {};
  return fail(Errc::kUnsupported,
              "Open MPI's own fault tolerance is on (mpi_ft_enable), which this component does not "
              "take part in; leave out --with-ft, or use the provider");
}

Status serve() {
  if (Status same = check_running_version(); !same) return same;
  if (Status refused = refuse_fault_tolerance(); !refused) return refused;
  if (Status opened = Door::open(); !opened) return opened;
  const Address own = door->port.address();
  if (publish_address(component_version(), own.raw.data(), own.raw.size())) return {};
  Door::close();
  return fail(Errc::kSystem, "the launcher did not take this process's address; see its messages");
}

/// Null: we cannot be used.
mca_pml_base_module_t* init(int* wanted_priority, bool progress_threads, bool threads) {
  try {
    const Status serves = serve();
    if (!serves) {
      tell_user({serves.error().code, "pml/livebtl cannot be used: " + serves.error().text});
      return nullptr;
    }
    if (!start_btls(progress_threads, threads)) {  // it reports why itself
      Door::close();
      return nullptr;
    }
    *wanted_priority = priority;
    return &module;
  } catch (const std::exception& error) {
    opal_output(0, "livebtl: pml/livebtl cannot be used: %s", error.what());
    return nullptr;
  }
}

int finalize() {
  end_btls();
  Door::close();
  return OMPI_SUCCESS;
}

int nothing() { return OMPI_SUCCESS; }

/// For ompi_info, which livebtl-run asks whether this component can be used: "yes", or why not.
void register_serves() {
  static std::string text;
  const Status same = check_running_version();
  text = same ? "yes" : same.error().text;
  static char* value = text.data();
  mca_base_component_var_register(&component_version(), "serves",
                                  "Can this component be used with this Open MPI? yes, or why not",
                                  MCA_BASE_VAR_TYPE_STRING, nullptr, 0,
                                  MCA_BASE_VAR_FLAG_DEFAULT_ONLY, OPAL_INFO_LVL_3,
                                  MCA_BASE_VAR_SCOPE_CONSTANT, &value);
}

int register_parameters() {
  mca_base_component_var_register(
      &component_version(), "priority",
      "Priority of livebtl among the components that the parameter pml names",
      MCA_BASE_VAR_TYPE_INT, nullptr, 0, static_cast<mca_base_var_flag_t>(0), OPAL_INFO_LVL_3,
      MCA_BASE_VAR_SCOPE_LOCAL, &priority);
  register_serves();
  register_counters();
  return OMPI_SUCCESS;
}

}  // namespace
}  // namespace livebtl::ompi

mca_pml_base_component_t mca_pml_livebtl_component = {
    .pmlm_version = {LIVEBTL_PML_VERSION, .mca_component_name = "livebtl",
                     .mca_component_major_version = 0, .mca_component_minor_version = 1,
                     .mca_component_release_version = 0,
                     .mca_open_component = livebtl::ompi::nothing,
                     .mca_close_component = livebtl::ompi::nothing, .mca_query_component = nullptr,
                     .mca_register_component_params = livebtl::ompi::register_parameters,
                     .mca_component_flags = 0, .reserved = {}},
    .pmlm_data = {.param_field = MCA_BASE_METADATA_PARAM_NONE, .reserved = {}},
    .pmlm_init = livebtl::ompi::init,
    .pmlm_finalize = livebtl::ompi::finalize,
};
