// SPDX-License-Identifier: BSD-3-Clause
// core/bml/slots.h -- this process's transports, open or closed, and what peers are told of them.
//
// Threads: under the engine's lock. Ownership: owns the transports; a transport's paths are gone
// before it is closed (Losses::close_transport).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/admin.h"
#include "core/engine/parts.h"
#include "core/path/handshake.h"
#include "core/path/transport_slot.h"

namespace livebtl::core {

/// Marks the relay's contact among the transports' addresses in a hello.
inline constexpr const char* kRelayAddress = "relay";
inline constexpr std::size_t kRelayBytesMax = 256;

class Slots final : private TransportSink {
 public:
  /// Lists every transport of the configuration, closed.
  Slots(const Context& context, Peers& peers, Sender& sender, Connector& connector);

  std::vector<std::unique_ptr<TransportSlot>>& all() noexcept { return slots_; }
  const std::vector<std::unique_ptr<TransportSlot>>& all() const noexcept { return slots_; }
  TransportSlot* find(std::string_view name) noexcept;
  /// A peer is known to listen at `address`, and may dial.
  void expect(TransportSlot& slot, Bytes address) noexcept;
  /// Errors: there is no such transport, it cannot be opened now, or its frames are too small.
  Status open(const std::string& name);
  /// Moves the open transports. Returns the number of frames moved.
  std::size_t progress(std::size_t frames_max) noexcept;
  /// Frames have come by fast boxes: whoever waits now most likely waits for more of those.
  void note_traffic() noexcept { quiet_rounds_ = 0; }
  /// Somebody is about to sleep: frames of any transport are as welcome as those of the busy ones.
  void welcome_all() noexcept;
  /// Destroys all transports.
  void clear() noexcept { slots_.clear(); }

  /// The addresses of each transport in service and of the relay, for a hello or for one peer.
  const std::vector<TransportAddress>& addresses_to_tell();
  /// Raised whenever peers are told other addresses than before.
  std::uint32_t addresses_version() const noexcept { return addresses_version_; }
  /// Tells connected peers the addresses, unless all know them and no transport was opened.
  void announce() noexcept;
  /// Announces the control plane's contact, which travels with the transports' addresses.
  void publish_relay(const std::string& relay) noexcept;
  /// This process may now be on another machine: see Transport::relocated(). Peers are told.
  void relocated() noexcept;
  /// The transports whose contacts go into an Address, the most useful first.
  std::vector<const TransportSlot*> contacted() const;
  Address own_address(PortNumber port) const;
  /// Where this process listens, for Admin.
  Contacts contacts() const;

 private:
  std::vector<TransportAddress> own_addresses() const;
  bool note_addresses();
  Status check_caps(const std::string& name, const Caps& caps) const;
  void on_accept(std::unique_ptr<Endpoint> endpoint) noexcept override;

  const Context& context_;
  Peers& peers_;
  Sender& sender_;
  Connector& connector_;
  std::vector<std::unique_ptr<TransportSlot>> slots_;
  TransportSlot* accepting_ = nullptr;  // whose progress() runs, or ran last
  std::uint32_t quiet_rounds_ = 0;      // since a frame came; wraps, which costs a few polls
  std::string relay_;                   // of this process; empty: none
  std::vector<TransportAddress> told_;  // what peers were told last
  bool to_announce_ = false;  // not all peers were told; or they may have dialled in vain meanwhile
  std::uint32_t addresses_version_ = 0;
};

}  // namespace livebtl::core
