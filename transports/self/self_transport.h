// SPDX-License-Identifier: BSD-3-Clause
// transports/self/self_transport.h -- a process's transport to itself: the smallest one, and the
// reference for others.
//
// Ownership: endpoints are the engine's, borrowed here; an accepted end is owned until handed over.
#pragma once

#include <vector>

#include "transports/interface/node_facts.h"
#include "transports/self/self_endpoint.h"

namespace livebtl::self {

class SelfTransport final : public core::Transport {
 public:
  static const core::Caps kCaps;

  explicit SelfTransport(ProcessId process) : process_(process) {}

  std::string_view name() const noexcept override { return "self"; }
  const core::Caps& caps() const noexcept override { return kCaps; }
  Blob address() const override;
  bool reaches(Bytes address) const noexcept override;
  Result<std::unique_ptr<core::Endpoint>> connect(Bytes address) override;
  std::size_t progress(core::TransportSink& accept, TimeNs now,
                       std::size_t frames_max) noexcept override;
  int wait_fd() const noexcept override { return -1; }
  bool arm() noexcept override;
  /// All its work comes from this process's own calls.
  TimeNs wake_at() const noexcept override { return kNoDeadline; }

  void add(SelfEndpoint& endpoint) { endpoints_.push_back(&endpoint); }
  void remove(SelfEndpoint& endpoint) noexcept;

 private:
  std::size_t move(core::TransportSink& accept, std::size_t frames_max) noexcept;

  const ProcessId process_;
  std::vector<SelfEndpoint*> endpoints_;
  std::size_t turn_ = 0;  // whose turn it is
  std::vector<std::unique_ptr<SelfEndpoint>> to_accept_;
};

core::TransportKind self_kind();

}  // namespace livebtl::self
