// SPDX-License-Identifier: BSD-3-Clause
// core/bml/slots.h -- the transports of this process, open or closed, and what of them peers are told.
//
// Threads: under the engine's lock. Ownership: owns the transports; paths by one are gone before it
// is closed (Losses::close_transport).
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

/// How the relay's contact is told from transports' addresses in a hello.
inline constexpr const char* kRelayAddress = "relay";
inline constexpr std::size_t kRelayBytesMax = 256;

class Slots final : private TransportSink {
 public:
  /// Lists every transport of the configuration, closed.
  Slots(const Context& context, Peers& peers, Sender& sender, Connector& connector);

  std::vector<std::unique_ptr<TransportSlot>>& all() noexcept { return slots_; }
  const std::vector<std::unique_ptr<TransportSlot>>& all() const noexcept { return slots_; }
  TransportSlot* find(std::string_view name) noexcept;
  /// A peer is known to listen there, and may dial.
  void expect(TransportSlot& slot, Bytes address) noexcept;
  /// Errors: there is no such transport, it cannot be opened now, or its frames are too small.
  Status open(const std::string& name);
  /// Moves the open ones. Returns frames moved.
  std::size_t progress(std::size_t frames_max) noexcept;
  /// Frames have come otherwise: whoever waits now most likely waits for such.
  void note_traffic() noexcept { quiet_rounds_ = 0; }
  /// Somebody is about to sleep: frames of all transports are as welcome as those of the busy ones.
  void welcome_all() noexcept;
  /// Destroys all transports.
  void clear() noexcept { slots_.clear(); }

  /// For a hello, or for one peer: each transport in service, and the relay.
  const std::vector<TransportAddress>& addresses_to_tell();
  /// Raised whenever peers are told something else than those before.
  std::uint32_t addresses_version() const noexcept { return addresses_version_; }
  /// Tells connected peers what the addresses have become; nothing where no transport was opened and all know them.
  void announce() noexcept;
  /// The control plane's contact travels beside the transports' addresses.
  void publish_relay(const std::string& relay) noexcept;
  /// This process may be on another machine now: see Transport::relocated(). Those who connect are told.
  void relocated() noexcept;
  /// Transports whose contacts go into an Address, the most useful first.
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
  std::uint32_t quiet_rounds_ = 0;      // since a frame came; wraps, which costs a few looks
  std::string relay_;                   // of this process; empty: none
  std::vector<TransportAddress> told_;  // what peers were told last
  bool to_announce_ = false;  // ... but not all of them; or they may have dialled in vain meanwhile
  std::uint32_t addresses_version_ = 0;
};

}  // namespace livebtl::core
