// SPDX-License-Identifier: BSD-3-Clause
// ompi/compat.h -- Open MPI's own headers, made usable from C++, and all that differs between its
// versions 4.1 and 5.0. No other file includes these headers or asks for the version.
#pragma once

#include <ompi_config.h>

#if OMPI_MAJOR_VERSION >= 5
#include "ompi/headers_of_5_0.h"
#else
#include <opal/mca/pmix/pmix.h>
#include <opal/threads/thread_usage.h>

// C converts a pointer to void to any other implicitly; the original macro relies on it.
#undef OPAL_ATOMIC_COMPARE_EXCHANGE_STRONG_PTR
#define OPAL_ATOMIC_COMPARE_EXCHANGE_STRONG_PTR(place, expected, wanted)               \
  opal_thread_compare_exchange_strong_ptr(reinterpret_cast<volatile intptr_t*>(place), \
                                          reinterpret_cast<void**>(expected),          \
                                          reinterpret_cast<void*>(wanted))
#endif

#include <mpi.h>
#include <ompi/communicator/communicator.h>
#include <ompi/constants.h>
#include <ompi/datatype/ompi_datatype.h>
#include <ompi/mca/bml/base/base.h>
#include <ompi/mca/bml/bml.h>
#include <ompi/mca/pml/base/base.h>
#include <ompi/mca/pml/base/pml_base_bsend.h>
#include <ompi/mca/pml/pml.h>
#include <ompi/message/message.h>
#include <ompi/proc/proc.h>
#include <ompi/request/request.h>
#include <opal/datatype/opal_convertor.h>
#include <opal/mca/base/mca_base_var.h>
#include <opal/runtime/opal_progress.h>

extern "C" {  // the header does not say so itself
#include <opal/mca/base/mca_base_pvar.h>
}

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "ompi/threads.h"

namespace livebtl::ompi {

#if OMPI_MAJOR_VERSION >= 5
#define LIVEBTL_PML_VERSION MCA_PML_BASE_VERSION_2_1_0
constexpr auto kPublishScope = PMIX_GLOBAL;
#else
#define LIVEBTL_PML_VERSION MCA_PML_BASE_VERSION_2_0_0
constexpr auto kPublishScope = OPAL_PMIX_GLOBAL;
#endif

/// Calls that only one version has. What 5.0 has instead may stay null: it then reports by itself
/// that it cannot revoke communicators, and knows no transport names.
inline void add_calls_of_version(mca_pml_base_module_t& module) noexcept {
#if OMPI_MAJOR_VERSION < 5
  module.pml_ft_event = [](int) -> int { return OMPI_SUCCESS; };  // see docs/HOLD.md
#else
  (void)module;
#endif
}

inline Threads calling_threads() noexcept {
  return opal_using_threads() ? Threads::kSeveral : Threads::kOne;
}

/// Open MPI's own transports (BTLs), which osc/rdma uses. 4.1 starts and ends them whatever the PML
/// is; in 5.0 the PML has to.
inline bool start_btls([[maybe_unused]] bool progress_threads,
                       [[maybe_unused]] bool threads) noexcept {
#if OMPI_MAJOR_VERSION >= 5
  return mca_bml_base_init(progress_threads, threads) == OMPI_SUCCESS;
#else
  return true;
#endif
}
inline void end_btls() noexcept {
#if OMPI_MAJOR_VERSION >= 5
  if (mca_bml.bml_finalize != nullptr) (void)mca_bml.bml_finalize();
#endif
}

/// The communicator's number, the same on all its members. In 5.0 this holds for components that do
/// not ask for the longer identifiers.
inline std::uint32_t context_of(const ompi_communicator_t& comm) noexcept {
#if OMPI_MAJOR_VERSION >= 5
  return comm.c_index;
#else
  return comm.c_contextid;
#endif
}

/// How many ranks can be named as a peer in calls on this communicator.
inline int peers_of(const ompi_communicator_t& comm) noexcept {
  return comm.c_remote_group->grp_proc_count;
}

/// The name of the peer with that rank; known for every peer.
inline opal_process_name_t process_at(const ompi_communicator_t& comm, int rank) noexcept {
  return ompi_group_get_proc_name(comm.c_remote_group, rank);
}

/// Are the bytes of `count` elements contiguous?
inline bool lies_straight(const ompi_datatype_t& datatype, std::size_t count) noexcept {
  const std::uint16_t flags = datatype.super.flags;
  return (flags & OPAL_DATATYPE_FLAG_CONTIGUOUS) != 0 &&
         (count == 1 || (flags & OPAL_DATATYPE_FLAG_NO_GAPS) != 0);
}

/// Hands our address to all processes that may want it.
inline bool publish_address(const mca_base_component_t& component, const void* address,
                            std::size_t bytes) noexcept {
  int code = OMPI_ERROR;
  OPAL_MODEX_SEND(code, kPublishScope, &component, const_cast<void*>(address),
                  static_cast<std::int32_t>(bytes));
  return code == OMPI_SUCCESS;
}

/// What a process has published; to be freed by free(). Null: nothing. May wait for the launcher.
inline void* published_address(const mca_base_component_t& component,
                               const opal_process_name_t& process, std::size_t& bytes) noexcept {
  void* found = nullptr;
  int code = OMPI_ERROR;
  OPAL_MODEX_RECV(code, &component, &process, &found, &bytes);
  return code == OMPI_SUCCESS ? found : nullptr;
}

}  // namespace livebtl::ompi
