// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/semantics_types.cc -- see semantics.h.
#include <algorithm>
#include <cstddef>

#include "semantics.h"

namespace e2e {
namespace {

constexpr int kTag = 50;

struct Pair {
  double number;
  char letter;
};

MPI_Datatype pairs() {
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {offsetof(Pair, number), offsetof(Pair, letter)};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_CHAR};
  MPI_Datatype made, resized;
  MPI_Type_create_struct(2, lengths, places, types, &made);
  MPI_Type_create_resized(made, 0, sizeof(Pair), &resized);
  MPI_Type_commit(&resized);
  MPI_Type_free(&made);
  return resized;
}

/// Every second element; what lies between must stay unchanged.
void vectors(Semantics& s, int count) {
  MPI_Datatype every_second;
  MPI_Type_vector(count, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  const auto places = static_cast<std::size_t>(2 * count);
  std::vector<int> out(places), in(places, -1);
  for (std::size_t i = 0; i < places; ++i) out[i] = s.rank * 1000003 + static_cast<int>(i);
  MPI_Request send;
  MPI_Isend(out.data(), 1, every_second, s.next(), kTag, s.comm, &send);
  MPI_Type_free(&every_second);  // while the send is active
  MPI_Type_vector(count, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  MPI_Request receive;
  MPI_Irecv(in.data(), 1, every_second, s.previous(), kTag, s.comm, &receive);
  MPI_Type_free(&every_second);  // while the receive is active
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  bool good = true;
  for (std::size_t i = 0; i < places; ++i) {
    const int sent = s.previous() * 1000003 + static_cast<int>(i);
    good = good && in[i] == (i % 2 == 0 ? sent : -1);
  }
  s.proof.note_sent(places);
  s.proof.note_received(places);
  s.proof.expect(good, "a vector came with other content, or spilt into its gaps");
}

void structures(Semantics& s, std::size_t count, bool blocking) {
  MPI_Datatype type = pairs();
  std::vector<Pair> out(count), in(count);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = {static_cast<double>(i) + s.rank, static_cast<char>(i % 100)};
  const int n = static_cast<int>(count);
  MPI_Request send;
  MPI_Status status;
  MPI_Issend(out.data(), n, type, s.next(), kTag + 1, s.comm, &send);
  if (blocking) {
    MPI_Recv(in.data(), n, type, s.previous(), kTag + 1, s.comm, &status);
  } else {
    MPI_Request receive;
    MPI_Irecv(in.data(), n, type, s.previous(), kTag + 1, s.comm, &receive);
    MPI_Wait(&receive, &status);
  }
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Type_free(&type);
  bool good = true;
  for (std::size_t i = 0; i < count; ++i) {
    good = good && in[i].letter == static_cast<char>(i % 100) &&
           in[i].number == static_cast<double>(i) + s.previous();
  }
  s.proof.note_sent(count);
  s.proof.note_received(count);
  s.proof.expect(good, "structures came with other content");
}

/// Sent with gaps, received without.
void gathered(Semantics& s, int count) {
  MPI_Datatype type;
  MPI_Type_vector(count, 1, 3, MPI_INT, &type);
  MPI_Type_commit(&type);
  std::vector<int> out(static_cast<std::size_t>(3 * count)), in(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int>(i) ^ s.rank;
  MPI_Sendrecv(out.data(), 1, type, s.next(), kTag + 2, in.data(), count, MPI_INT, s.previous(),
               kTag + 2, s.comm, MPI_STATUS_IGNORE);
  MPI_Type_free(&type);
  bool good = true;
  for (std::size_t i = 0; i < in.size(); ++i)
    good = good && in[i] == (static_cast<int>(3 * i) ^ s.previous());
  s.proof.note_sent(in.size());
  s.proof.note_received(in.size());
  s.proof.expect(good, "a gathered vector came with other content");
}

void expect_truncated(Semantics& s, int error, const MPI_Status& status, bool gaps) {
  int code = MPI_SUCCESS;
  MPI_Error_class(error, &code);
  s.proof.expect(code == MPI_ERR_TRUNCATE, gaps ? "a message with gaps was cut without an error"
                                                : "a message was cut without an error");
  s.proof.expect(status.MPI_SOURCE == s.previous(), "a cut message has no source");
}

/// A message twice as long as the buffer; nothing is written past the buffer.
void cut(Semantics& s, std::size_t bytes, bool blocking) {
  const Buffer out = s.message(s.rank, kTag + 3, 2 * bytes);
  Buffer in(bytes + 64, std::byte{0xab});
  MPI_Request send;
  MPI_Status status;
  MPI_Isend(out.data(), static_cast<int>(2 * bytes), MPI_BYTE, s.next(), kTag + 3, s.comm, &send);
  int error = MPI_SUCCESS;
  if (blocking) {
    error = MPI_Recv(in.data(), static_cast<int>(bytes), MPI_BYTE, s.previous(), kTag + 3, s.comm,
                     &status);
  } else {
    MPI_Request receive;
    MPI_Irecv(in.data(), static_cast<int>(bytes), MPI_BYTE, s.previous(), kTag + 3, s.comm,
              &receive);
    error = MPI_Wait(&receive, &status);
  }
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  s.proof.note_sent(bytes);
  s.proof.note_received(bytes);
  expect_truncated(s, error, status, false);
  s.proof.expect(std::all_of(in.begin() + static_cast<std::ptrdiff_t>(bytes), in.end(),
                             [](std::byte byte) { return byte == std::byte{0xab}; }),
                 "a cut message wrote behind its buffer");
}

void cut_with_gaps(Semantics& s) {
  MPI_Datatype type;
  MPI_Type_vector(10, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  std::vector<int> out(40, 7), in(20, -1);
  MPI_Request send;
  MPI_Status status;
  MPI_Isend(out.data(), 40, MPI_INT, s.next(), kTag + 4, s.comm, &send);
  const int error = MPI_Recv(in.data(), 1, type, s.previous(), kTag + 4, s.comm, &status);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Type_free(&type);
  expect_truncated(s, error, status, true);
  s.proof.expect(in[19] == -1 && in[1] == -1, "a cut vector spilt into its gaps");
}

}  // namespace

void datatypes(Semantics& s) {
  for (const int count : {1, 10, 1000, 1025, 100000}) vectors(s, count);
  for (const std::size_t count : {1u, 20u, 1000u, 50000u}) {
    structures(s, count, true);
    structures(s, count, false);
  }
  for (const int count : {5, 5000}) gathered(s, count);
}

void truncation(Semantics& s) {
  for (const std::size_t bytes : {1u, 100u, 4096u, 1u << 20}) {
    cut(s, bytes, true);
    cut(s, bytes, false);
  }
  cut_with_gaps(s);
}

}  // namespace e2e
