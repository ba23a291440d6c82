// SPDX-License-Identifier: BSD-3-Clause
// ompi/communicators.cc -- processes and communicators as they come and go. Processes spawned or
// connected later arrive the same way as those of MPI_COMM_WORLD.
#include "ompi/calls.h"
#include "ompi/door.h"
#include "ompi/matching.h"

namespace livebtl::ompi {
namespace {

/// Communicator numbers are reused: a later communicator must not find unreceived messages.
void discard_unexpected(std::uint32_t context) noexcept {
  ReceiveRequest like;
  like.tag = tag_of(context, 0);
  like.ignore = kWholeContext;
  Completion found;
  ClaimedMessage* claimed = nullptr;
  while (door->port.peek(like, found, &claimed)) door->port.discard_claimed(claimed);
}

}  // namespace

// Addresses are looked up at first use. Here we only check that the processes also use this
// component: we could not talk to others.
int add_procs(ompi_proc_t** processes, std::size_t count) {
  return mca_pml_base_pml_check_selected("livebtl", processes, count);
}

int del_procs(ompi_proc_t** processes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) door->processes.forget(processes[i]->super.proc_name);
  return OMPI_SUCCESS;
}

int add_comm(ompi_communicator_t* comm) {
  return CommPeers::attach(*comm) == nullptr ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}

int del_comm(ompi_communicator_t* comm) {
  if (comm->c_pml_comm == nullptr) return OMPI_SUCCESS;
  CommPeers::detach(*comm);
  if (door == nullptr) return OMPI_SUCCESS;  // none of its messages is left
  discard_unexpected(context_of(*comm));
  return OMPI_SUCCESS;
}

}  // namespace livebtl::ompi
