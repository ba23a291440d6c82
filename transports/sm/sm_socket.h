// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_socket.h -- the Unix socket of a connection: it carries the memory once, then
// bells; its end means that the peer has closed or died.
//
// The kernel says who is at the other end (SO_PEERCRED): only our own user or root is accepted.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/bytes.h"
#include "base/fd.h"
#include "livebtl/result.h"

namespace livebtl::sm {

/// The first and only message on the socket, with the memory's descriptor beside it. Hostile until
/// checked.
struct Setup {
  std::uint32_t magic = kMagic;
  std::uint16_t version = 2;
  std::uint16_t reserved = 0;
  std::uint64_t node = 0;
  ProcessId from{};
  ProcessId to{};
  std::uint64_t ring_bytes = 0;
  static constexpr std::uint32_t kMagic = 0x6d73'626c;  // "lbsm"
};
static_assert(sizeof(Setup) == 40);

/// "<directory>/<process id in 16 hexadecimal digits>.sm"
std::string socket_name(ProcessId process);

/// The job directory, kept open so that socket paths longer than the kernel's 107 bytes can go
/// through it.
class SocketDirectory {
 public:
  static Result<SocketDirectory> open(std::string path);

  /// A listening socket, non-blocking; a stale one of that name is replaced. Errors: kNoMemory,
  /// kSystem.
  Result<Fd> listen(const std::string& name) const;
  /// A connected socket, non-blocking; an empty Fd: the peer's queue is full, try again. Errors:
  /// kUnreachable, kAuth, kNoMemory, kSystem.
  Result<Fd> connect(const std::string& name) const;
  void remove(const std::string& name) const noexcept;

 private:
  std::string path_of(const std::string& name) const;

  std::string path_;
  Fd directory_;
};

/// The process at the other end, if the kernel vouches for it: our user or root. Errors: kAuth,
/// kSystem.
Result<pid_t> check_peer(const Fd& socket);

/// Errors: kDown.
Status send_setup(const Fd& socket, const Setup& setup, const Fd& memory);

struct ReceivedSetup {
  bool complete = false;  // false: nothing is there yet
  Setup setup;
  Fd memory;
};
/// Errors: kDown (closed), kInvalid (not a setup).
Result<ReceivedSetup> receive_setup(const Fd& socket);

/// Consumes the bells. false: the peer has closed or died.
bool take_bells(const Fd& socket) noexcept;
/// Never blocks; a full socket holds enough bells.
void ring_bell(const Fd& socket) noexcept;

}  // namespace livebtl::sm
