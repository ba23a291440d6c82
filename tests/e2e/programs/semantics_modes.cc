// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/semantics_modes.cc -- see semantics.h.
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "semantics.h"

namespace e2e {
namespace {

// Sizes on both sides of the limit between what is sent at once and what is offered first.
constexpr std::size_t kSizes[] = {0, 1, 8, 64, 4095, 4096, 4097, 65536, 300000, 1 << 20, 4 << 20};
constexpr int kSizesCount = static_cast<int>(std::size(kSizes));
constexpr int kTagModes = 10;

using Send = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
using Isend = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
struct Mode {
  const char* name;
  Send send;
  Isend isend;
  Isend init;
};
const Mode kModes[] = {{"standard", MPI_Send, MPI_Isend, MPI_Send_init},
                       {"buffered", MPI_Bsend, MPI_Ibsend, MPI_Bsend_init},
                       {"synchronous", MPI_Ssend, MPI_Issend, MPI_Ssend_init},
                       {"ready", MPI_Rsend, MPI_Irsend, MPI_Rsend_init}};

/// The memory that buffered sends may use.
class Attached {
 public:
  explicit Attached(std::size_t bytes) : memory_(bytes + 16 * MPI_BSEND_OVERHEAD) {
    MPI_Buffer_attach(memory_.data(), static_cast<int>(memory_.size()));
  }
  ~Attached() {
    void* memory = nullptr;
    int bytes = 0;
    MPI_Buffer_detach(&memory, &bytes);
  }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

 private:
  Buffer memory_;
};

bool over_pml(std::string_view name) {
  const char* const pml = std::getenv("OMPI_MCA_pml");
  return pml != nullptr && name == pml;
}

/// Open MPI's ob1, and 5.0's cm, send other content when a buffered send is started again.
int turns_of(const Mode& mode) {
  const bool faulty = over_pml("ob1") || (OMPI_MAJOR_VERSION >= 5 && over_pml("cm"));
  return faulty && mode.send == MPI_Bsend ? 1 : 3;
}

/// The receives are posted before anybody sends, as ready mode requires.
void exchange(Semantics& s, const Mode& mode, std::size_t bytes, bool blocking) {
  const int count = static_cast<int>(bytes);
  Buffer out = s.message(s.rank, kTagModes, bytes);
  Buffer in(bytes);
  MPI_Request receive, send = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Irecv(in.data(), count, MPI_BYTE, s.previous(), kTagModes, s.comm, &receive);
  MPI_Barrier(s.comm);
  if (blocking) {
    const int error = mode.send(out.data(), count, MPI_BYTE, s.next(), kTagModes, s.comm);
    s.proof.expect(error == MPI_SUCCESS, mode.name);
    std::fill(out.begin(), out.end(), std::byte{0xee});  // the buffer is ours again
  } else {
    const int error = mode.isend(out.data(), count, MPI_BYTE, s.next(), kTagModes, s.comm, &send);
    s.proof.expect(error == MPI_SUCCESS, mode.name);
  }
  MPI_Wait(&receive, &status);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  s.judge(in, status, kTagModes, mode.name);
}

/// A synchronous send does not end before it is received.
void synchronous_waits(Semantics& s) {
  Buffer out = s.message(s.rank, kTagModes + 1, 8), in(8);
  MPI_Request send;
  int ended = 0;
  MPI_Issend(out.data(), 8, MPI_BYTE, s.next(), kTagModes + 1, s.comm, &send);
  for (int i = 0; i < 100; ++i) MPI_Test(&send, &ended, MPI_STATUS_IGNORE);
  s.proof.expect(ended == 0, "a synchronous send ended before it was received");
  MPI_Barrier(s.comm);
  MPI_Recv(in.data(), 8, MPI_BYTE, s.previous(), kTagModes + 1, s.comm, MPI_STATUS_IGNORE);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  s.judge(in, kTagModes + 1, "a synchronous send that waited");
}

/// A request may be freed while it is active; the message still arrives.
void freed_while_active(Semantics& s) {
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{1} << 20}) {
    Buffer out = s.message(s.rank, kTagModes + 2, bytes), in(bytes);
    MPI_Request send;
    MPI_Issend(out.data(), static_cast<int>(bytes), MPI_BYTE, s.next(), kTagModes + 2, s.comm,
               &send);
    MPI_Request_free(&send);
    MPI_Recv(in.data(), static_cast<int>(bytes), MPI_BYTE, s.previous(), kTagModes + 2, s.comm,
             MPI_STATUS_IGNORE);
    s.judge(in, kTagModes + 2, "a send whose request was freed");
    MPI_Barrier(s.comm);  // only now is `out` free
  }
}

/// One message of each size, sent and received by requests that are started repeatedly.
class Repeated {
 public:
  Repeated(Semantics& s, const Mode& mode) : s_(s), name_(mode.name) {
    for (int i = 0; i < kSizesCount; ++i) {
      const std::size_t bytes = kSizes[static_cast<std::size_t>(i)];
      Buffer& out = out_.emplace_back(s.message(s.rank, 20 + i, bytes));
      Buffer& in = in_.emplace_back(bytes);
      const int count = static_cast<int>(bytes);
      MPI_Recv_init(in.data(), count, MPI_BYTE, s.previous(), 20 + i, s.comm,
                    &receives_.emplace_back());
      mode.init(out.data(), count, MPI_BYTE, s.next(), 20 + i, s.comm, &sends_.emplace_back());
    }
  }
  ~Repeated() {
    for (MPI_Request& request : receives_) MPI_Request_free(&request);
    for (MPI_Request& request : sends_) MPI_Request_free(&request);
  }
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;

  void turn() {
    MPI_Startall(kSizesCount, receives_.data());
    MPI_Barrier(s_.comm);
    MPI_Startall(kSizesCount, sends_.data());
    MPI_Waitall(kSizesCount, receives_.data(), MPI_STATUSES_IGNORE);
    MPI_Waitall(kSizesCount, sends_.data(), MPI_STATUSES_IGNORE);
    for (int i = 0; i < kSizesCount; ++i) {
      Buffer& got = in_[static_cast<std::size_t>(i)];
      s_.judge(got, 20 + i, name_);
      std::fill(got.begin(), got.end(), std::byte{0});
    }
  }

 private:
  Semantics& s_;
  const char* name_;
  std::vector<Buffer> out_, in_;
  std::vector<MPI_Request> receives_, sends_;
};

}  // namespace

// Room for the largest message twice: the sender may not know yet that it has been received.
void modes(Semantics& s) {
  const Attached attached(std::size_t{12} << 20);
  for (const Mode& mode : kModes) {
    for (const std::size_t bytes : kSizes) {
      exchange(s, mode, bytes, false);
      // All ranks are in a blocking send at once: the receives are posted.
      exchange(s, mode, bytes, true);
    }
  }
  synchronous_waits(s);
  freed_while_active(s);
}

void persistent(Semantics& s) {
  const Attached attached(std::size_t{12} << 20);
  for (const Mode& mode : kModes) {
    Repeated repeated(s, mode);
    for (int turn = 0; turn < turns_of(mode); ++turn) repeated.turn();
  }
}

void to_oneself(Semantics& s) {
  Semantics self{s.proof, MPI_COMM_SELF, 0, 1};
  for (const std::size_t bytes : kSizes) {
    const int count = static_cast<int>(bytes);
    const Buffer out = self.message(0, 40, bytes);
    Buffer in(bytes);
    MPI_Request send;
    MPI_Status status;
    MPI_Isend(out.data(), count, MPI_BYTE, 0, 40, self.comm, &send);
    MPI_Recv(in.data(), count, MPI_BYTE, 0, 40, self.comm, &status);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    self.judge(in, status, 40, "a message to oneself");
  }
}

}  // namespace e2e
