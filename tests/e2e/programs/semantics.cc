// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/semantics.cc -- what MPI promises of point-to-point calls, each in a part
// whose name says what is wrong if it fails. It passes on any MPI.
#include "semantics.h"

namespace e2e {

Buffer Semantics::message(int source, int tag, std::size_t bytes) const {
  Buffer made(bytes);
  fill(made.data(), bytes,
       {static_cast<std::uint32_t>(source), 0, static_cast<std::uint32_t>(tag), 0, proof.round()});
  return made;
}

void Semantics::judge(const Buffer& got, int tag, const char* what) {
  proof.note_sent(got.size());
  proof.note_received(got.size());
  if (got == message(previous(), tag, got.size())) return;
  proof.error(Proof::Fault::kCorrupt, std::string(what) + " of " + std::to_string(got.size()) +
                                          " bytes came with other content");
}

void Semantics::judge(const Buffer& got, const MPI_Status& status, int tag, const char* what) {
  judge(got, tag, what);
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  const bool good = status.MPI_SOURCE == previous() && status.MPI_TAG == tag &&
                    static_cast<std::size_t>(count) == got.size();
  proof.expect(good, (std::string(what) + ": the status names another message").c_str());
}

namespace {

constexpr Part kParts[] = {modes,      persistent, to_oneself, datatypes,  truncation,
                           unreceived, wildcards,  probes,     cancelling, communicators};

Semantics on(Proof& proof, MPI_Comm comm) {
  Semantics s{proof, comm, 0, 1};
  MPI_Comm_rank(comm, &s.rank);
  MPI_Comm_size(comm, &s.size);
  return s;
}

void meet(Proof& proof) {
  Semantics s = on(proof, MPI_COMM_WORLD);
  connected(s);
}

void round(Proof& proof, MPI_Comm comm) {
  Semantics s = on(proof, comm);
  for (const Part part : kParts) part(s);
}

}  // namespace
}  // namespace e2e

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  {
    e2e::Proof proof(argc, argv, "semantics");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    e2e::meet(proof);
    while (proof.next_round()) e2e::round(proof, MPI_COMM_WORLD);
    code = proof.finish();
  }
  MPI_Finalize();
  return code;
}
