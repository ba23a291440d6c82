// SPDX-License-Identifier: BSD-3-Clause
// ompi/compat.h -- Open MPI's own headers, made fit for C++, and all that differs between its
// versions. No other file includes them.
//
// Written for Open MPI 4.1. What 5.0 does differently is named beside each function here, so that
// serving it means an #if in this file and in the table of component.cc.
#pragma once

#include <ompi_config.h>
#include <opal/threads/thread_usage.h>

// In C a pointer to void becomes any other by itself; the original relies on it.
#undef OPAL_ATOMIC_COMPARE_EXCHANGE_STRONG_PTR
#define OPAL_ATOMIC_COMPARE_EXCHANGE_STRONG_PTR(place, expected, wanted)               \
  opal_thread_compare_exchange_strong_ptr(reinterpret_cast<volatile intptr_t*>(place), \
                                          reinterpret_cast<void**>(expected),          \
                                          reinterpret_cast<void*>(wanted))

#include <mpi.h>
#include <ompi/communicator/communicator.h>
#include <ompi/constants.h>
#include <ompi/datatype/ompi_datatype.h>
#include <ompi/mca/pml/base/base.h>
#include <ompi/mca/pml/base/pml_base_bsend.h>
#include <ompi/mca/pml/pml.h>
#include <ompi/message/message.h>
#include <ompi/proc/proc.h>
#include <ompi/request/request.h>
#include <opal/datatype/opal_convertor.h>
#include <opal/mca/base/mca_base_var.h>
#include <opal/mca/pmix/pmix.h>
#include <opal/runtime/opal_progress.h>

extern "C" {  // it does not say so itself
#include <opal/mca/base/mca_base_pvar.h>
}

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace livebtl::ompi {

/// Number of the communicator that all its members share. 5.0: c_index, beside a long identifier.
inline std::uint32_t context_of(const ompi_communicator_t& comm) noexcept {
  return comm.c_contextid;
}

/// How many ranks can be named as a peer in calls on this communicator.
inline int peers_of(const ompi_communicator_t& comm) noexcept {
  return comm.c_remote_group->grp_proc_count;
}

/// The bytes of `count` elements are one piece.
inline bool lies_straight(const ompi_datatype_t& datatype, std::size_t count) noexcept {
  const std::uint16_t flags = datatype.super.flags;
  return (flags & OPAL_DATATYPE_FLAG_CONTIGUOUS) != 0 &&
         (count == 1 || (flags & OPAL_DATATYPE_FLAG_NO_GAPS) != 0);
}

/// Hands our address to all processes that may want it. 5.0: the same macro, in another header.
inline bool publish_address(const mca_base_component_t& component, const void* address,
                            std::size_t bytes) noexcept {
  int code = OMPI_ERROR;
  OPAL_MODEX_SEND(code, OPAL_PMIX_GLOBAL, &component, address, static_cast<int32_t>(bytes));
  return code == OMPI_SUCCESS;
}

/// What a process has published; free() it. Null: nothing. May wait for the launcher.
inline void* published_address(const mca_base_component_t& component,
                               const opal_process_name_t& process, std::size_t& bytes) noexcept {
  void* found = nullptr;
  int code = OMPI_ERROR;
  OPAL_MODEX_RECV(code, &component, &process, &found, &bytes);
  return code == OMPI_SUCCESS ? found : nullptr;
}

}  // namespace livebtl::ompi
