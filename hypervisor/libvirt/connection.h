// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/libvirt/connection.h -- connections to libvirt's daemons, and calls over them that end
// in time.
//
// Threads: libvirt's calls block for as long as its daemon likes. So each runs in its own thread,
// and btlctl's one thread waits for it until its deadline; a late call goes on, and what it holds
// (its connection, the table of calls) lives until it has ended. One more thread runs libvirt's
// event loop, which keeps connections alive, notices that a daemon is gone, and delivers events.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/deadline.h"
#include "hypervisor/libvirt/calls.h"

namespace livebtl::hypervisor {

/// libvirt's last error in this thread, about `what` we asked for, as an error of vm.h.
Error libvirt_error(const LibvirtCalls& calls, const std::string& what);

/// Copies a text that libvirt allocated, and frees it.
std::string taken_text(char* text);

/// A call in a thread of its own.
class PendingCall {
 public:
  using Call = std::function<Status()>;
  /// `call` owns everything that it touches.
  explicit PendingCall(Call call);

  bool ended() const;
  /// After kTimeout and kCancelled the call goes on. `what`: for the user.
  Status wait(const Deadline& deadline, const std::string& what) const;

 private:
  struct State {
    mutable std::mutex mutex;
    std::condition_variable ends;
    std::optional<Status> status;
  };
  std::shared_ptr<State> state_;
};

/// libvirt's functions and its event loop, which runs as long as this exists.
class Libvirt {
 public:
  explicit Libvirt(const LibvirtCalls& calls);
  ~Libvirt();
  Libvirt(const Libvirt&) = delete;
  Libvirt& operator=(const Libvirt&) = delete;

  const LibvirtCalls& calls() const noexcept { return calls_; }

 private:
  LibvirtCalls calls_;
  std::atomic<bool> ending_{false};
  std::thread loop_;
};

/// One open connection.
class Connection {
 public:
  Connection(std::shared_ptr<const Libvirt> libvirt, virConnectPtr connection)
      : libvirt_(std::move(libvirt)), connection_(connection) {}
  ~Connection() { libvirt_->calls().close(connection_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  static Result<std::shared_ptr<Connection>> open(const std::shared_ptr<const Libvirt>& libvirt,
                                                  const std::string& uri, const Deadline& deadline);

  const LibvirtCalls& calls() const noexcept { return libvirt_->calls(); }
  virConnectPtr get() const noexcept { return connection_; }

 private:
  std::shared_ptr<const Libvirt> libvirt_;
  virConnectPtr connection_;
};

/// A domain that was looked up; freed with this. `get()` is null if there is none.
class Domain {
 public:
  Domain(const Connection& connection, const std::string& name)
      : calls_(connection.calls()), domain_(calls_.lookup(connection.get(), name.c_str())) {}
  ~Domain() {
    if (domain_ != nullptr) calls_.free_domain(domain_);
  }
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  virDomainPtr get() const noexcept { return domain_; }

 private:
  const LibvirtCalls& calls_;
  virDomainPtr domain_;
};

}  // namespace livebtl::hypervisor
