// SPDX-License-Identifier: BSD-3-Clause
// ompi/calls.h -- the functions of Open MPI's point-to-point interface (specified in pml.h), by the
// file that defines them; component.cc puts them into its table.
//
// Threads: any of the application's, several at once under MPI_THREAD_MULTIPLE. No function throws.
// Errors: an MPI or Open MPI error code; what the user can fix is reported in one line.
#pragma once

#include "ompi/compat.h"
#include "ompi/request.h"

namespace livebtl::ompi {

// send.cc
int isend(const void* buffer, std::size_t count, ompi_datatype_t* datatype, int rank, int tag,
          mca_pml_base_send_mode_t mode, ompi_communicator_t* comm, ompi_request_t** request);
int send(const void* buffer, std::size_t count, ompi_datatype_t* datatype, int rank, int tag,
         mca_pml_base_send_mode_t mode, ompi_communicator_t* comm);
/// Starts what the request's Call describes. `ended`: it is already done; no completion follows.
int start_send(Request& request, bool& ended) noexcept;

// receive.cc
int irecv(void* buffer, std::size_t count, ompi_datatype_t* datatype, int rank, int tag,
          ompi_communicator_t* comm, ompi_request_t** request);
int recv(void* buffer, std::size_t count, ompi_datatype_t* datatype, int rank, int tag,
         ompi_communicator_t* comm, ompi_status_public_t* status);
int imrecv(void* buffer, std::size_t count, ompi_datatype_t* datatype, ompi_message_t** message,
           ompi_request_t** request);
int mrecv(void* buffer, std::size_t count, ompi_datatype_t* datatype, ompi_message_t** message,
          ompi_status_public_t* status);
/// Fills in what to match, but no buffer. Returns an MPI error code.
int describe(int rank, int tag, ompi_communicator_t& comm, ReceiveRequest& request) noexcept;
int start_receive(Request& request) noexcept;

// probe.cc
int iprobe(int rank, int tag, ompi_communicator_t* comm, int* matched,
           ompi_status_public_t* status);
int probe(int rank, int tag, ompi_communicator_t* comm, ompi_status_public_t* status);
int improbe(int rank, int tag, ompi_communicator_t* comm, int* matched, ompi_message_t** message,
            ompi_status_public_t* status);
int mprobe(int rank, int tag, ompi_communicator_t* comm, ompi_message_t** message,
           ompi_status_public_t* status);

// persistent.cc
int isend_init(const void* buffer, std::size_t count, ompi_datatype_t* datatype, int rank, int tag,
               mca_pml_base_send_mode_t mode, ompi_communicator_t* comm, ompi_request_t** request);
int irecv_init(void* buffer, std::size_t count, ompi_datatype_t* datatype, int rank, int tag,
               ompi_communicator_t* comm, ompi_request_t** request);
int start(std::size_t count, ompi_request_t** requests);

// communicators.cc
int add_procs(ompi_proc_t** processes, std::size_t count);
int del_procs(ompi_proc_t** processes, std::size_t count);
int add_comm(ompi_communicator_t* comm);
int del_comm(ompi_communicator_t* comm);

/// Waits for a request that nobody else refers to, and gives it back. Returns its error.
int wait_and_free(Request& request, ompi_status_public_t* status) noexcept;

}  // namespace livebtl::ompi
