// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/monitor.h -- a QEMU's monitor by the path of its socket: connected when it is first
// needed. Used by btlctl's one thread; owns its connection.
#pragma once

#include <functional>
#include <optional>

#include "hypervisor/qmp/qmp.h"

namespace livebtl::hypervisor {

class Monitor {
 public:
  using Act = std::function<Status(Qmp&, const Deadline&)>;
  explicit Monitor(std::string path) : path_(std::move(path)) {}

  /// Of connecting, or of `act`. An error that makes the connection useless ends it, and the next
  /// call connects anew. After any other error it is kept: if another client waits for its turn, it
  /// would have QEMU to itself then.
  Status run(const Act& act, const Deadline& deadline);
  void close() noexcept { qmp_.reset(); }

 private:
  std::string path_;
  std::optional<Qmp> qmp_;
};

}  // namespace livebtl::hypervisor
