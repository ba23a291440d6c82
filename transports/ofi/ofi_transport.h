// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_transport.h -- frames over any provider of libfabric's that has reliable
// datagrams (FI_EP_RDM) with messages (FI_MSG) in order: one libfabric endpoint for all peers.
//
// Threads: none of its own; every call under the engine's lock. Formats: docs/WIRE.md, "ofi". Peers
// exchange tickets over another path of the pair: only the holder of a ticket knows the token by
// which messages are accepted.
#pragma once

#include <array>

#include "transports/messages/message_transport.h"
#include "transports/ofi/ofi_endpoint.h"
#include "transports/ofi/ofi_extension.h"
#include "transports/ofi/ofi_pending_byes.h"
#include "transports/ofi/ofi_provider.h"
#include "transports/ofi/ofi_sleep.h"

namespace livebtl::ofi {

/// For uses of the transport without the BML, and for tests.
struct Options {
  MakeExtension extension = {};      // called whenever the provider is opened; empty: none
  int memory_modes = kMemoryModes;   // as Wanted
  std::size_t queue_entries = 0;     // as for Domain::open()
  const Library* library = nullptr;  // outlives the transport; null: the installed one
};

/// The number of an endpoint is its token.
class OfiTransport final : public messages::MessageTransport<OfiEndpoint, std::uint64_t> {
 public:
  /// provider: as for choose_provider(). name: among transports. Errors: of choose_provider() and
  /// Domain::open().
  static Result<std::unique_ptr<OfiTransport>> make(const core::NodeFacts& facts,
                                                    const std::string& provider,
                                                    const std::string& name = "ofi",
                                                    const Options& options = {});
  ~OfiTransport() override;

  std::string_view name() const noexcept override { return name_; }
  const core::Caps& caps() const noexcept override { return caps_; }
  Blob address() const override { return encode_address(address_); }
  bool reaches(Bytes address) const noexcept override;
  Result<std::unique_ptr<core::Endpoint>> connect(Bytes address) override;
  Result<std::unique_ptr<core::Endpoint>> admit(Bytes ticket) override;
  std::size_t progress(core::TransportSink& accept, TimeNs now,
                       std::size_t frames_max) noexcept override;
  Status usable() override;
  std::vector<int> descriptors() const override;
  std::size_t pinned_bytes() const noexcept override { return 0; }  // libfabric does not tell
  int wait_fd() const noexcept override { return sleep_.fd(); }
  bool arm() noexcept override;
  TimeNs wake_at() const noexcept override;

  /// What Options::extension made. A new one after each loss that usable() has repaired.
  Extension& extension() noexcept { return *extension_; }

  // For endpoints.
  Domain& domain() noexcept { return *domain_; }
  const ProviderAddress& own_address() const noexcept { return address_; }
  PendingByes& pending_byes() noexcept { return pending_byes_; }
  /// Before leave(): whatever it has under way is disowned.
  void end_all_of(OfiEndpoint& endpoint) noexcept;
  void buffer_free(Buffer& buffer) noexcept;
  /// For a payload to be read into.
  BounceBuffer take_bounce();
  void give_bounce(BounceBuffer bounce);
  /// Stops the domain: libfabric touches no user memory any more. All connections go down in the
  /// next progress(), and the provider is reopened.
  void stop(const char* why) noexcept;
  /// Takes over a read that its endpoint gives up, and keeps it until it has ended.
  void leave_read(std::unique_ptr<RemoteRead> read) noexcept;
  /// Frames of one connection that may be under way, so that a stalled peer blocks nobody else.
  std::uint32_t sends_for_each() const noexcept;

 private:
  OfiTransport(const core::NodeFacts& facts, const Library& library, const std::string& provider,
               const std::string& name, const Options& options, Sleep sleep);
  Status open_domain();
  void end_domain() noexcept;
  Status make_room(Domain& domain, messages::Credits& credits);
  Result<std::unique_ptr<OfiEndpoint>> make_endpoint(bool dialled);
  std::size_t take_seen(std::size_t frames_max) noexcept;
  std::size_t poll(std::size_t frames_max) noexcept;
  std::size_t complete(const fi_cq_msg_entry& entry, std::size_t frames_max) noexcept;
  std::size_t finish(Context& context, long code) noexcept;
  void take_error() noexcept;
  std::size_t read_done(RemoteRead& read, long code) noexcept;
  bool has_forgotten_reads() noexcept;
  std::size_t received(Buffer& buffer, std::size_t bytes, std::size_t frames_max) noexcept;
  void sent(Buffer& buffer, long code) noexcept;
  void post_again() noexcept;
  void all_down() noexcept;
  void look() noexcept;
  void lose(const std::string& why) noexcept;

  const Library& library_;
  const std::string provider_;
  const std::string name_;
  const Options options_;
  core::Caps caps_;
  Sleep sleep_;
  std::unique_ptr<Domain> domain_;
  std::unique_ptr<Extension> extension_;  // null: not asked for
  std::vector<std::unique_ptr<RemoteRead>> left_reads_;
  PendingByes pending_byes_;
  std::vector<BounceBuffer> bounces_;  // not in use
  ProviderAddress address_;
  std::string lost_;               // why the provider cannot be used any more; empty: it can
  std::string untold_;             // the same, until usable() has reported it
  std::vector<Buffer*> unposted_;  // free receive buffers that libfabric did not take at once
  // Read by arm(), for the next progress().
  std::array<fi_cq_msg_entry, 16> seen_{};
  std::size_t seen_count_ = 0;
  bool foreign_told_ = false;
  TimeNs sweep_at_ = 0;
};

/// "ofi", over the provider that the settings name.
core::TransportKind ofi_kind();
/// "ofi:PROVIDER": there may be several at once.
core::TransportKind ofi_kind(const std::string& provider);

}  // namespace livebtl::ofi
