// SPDX-License-Identifier: BSD-3-Clause
// control/place/fork_watch.h -- what must not live on in a forked child: locks that say "this
// member is alive", and sockets whose end tells the other side that this process has ended.
//
// A child that does not exec keeps copies of our descriptors; those listed here are closed in it at
// once. Threads: any.
#pragma once

#include <utility>

namespace livebtl::control {

/// At most 256 at a time; call forget_in_child() before closing one. The caller is a member: a
/// child that calls this has already given up what it had from its parent.
void close_in_child(int fd) noexcept;
void forget_in_child(int fd) noexcept;

/// Keeps a descriptor on that list; to be destroyed before the descriptor is closed.
class ClosedInChild {
 public:
  explicit ClosedInChild(int fd) noexcept : fd_(fd) { close_in_child(fd_); }
  ClosedInChild(ClosedInChild&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ClosedInChild& operator=(ClosedInChild&&) = delete;
  ~ClosedInChild() {
    if (fd_ >= 0) forget_in_child(fd_);
  }

 private:
  int fd_;
};

/// Is this a child of a process that called close_in_child(), and not a member itself? Also true in
/// a child of a bare clone(), which runs no handlers and keeps the descriptors.
bool in_forked_child() noexcept;

}  // namespace livebtl::control
