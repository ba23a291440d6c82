// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_domain.h -- an open provider: libfabric's fabric, domain, completion queue,
// addresses and the one endpoint that serves all connections, with the buffers of both directions.
//
// Ownership: all of it is given back by the destructor, which does not wait. Threads: the engine's
// lock (FI_THREAD_DOMAIN). libfabric makes progress only in our calls, unless the provider cannot
// but have a thread.
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <array>
#include <deque>
#include <span>
#include <vector>

#include "base/clock.h"
#include "livebtl/port.h"
#include "transports/messages/message.h"
#include "transports/ofi/ofi_address.h"
#include "transports/ofi/ofi_library.h"
#include "transports/ofi/ofi_peers.h"

namespace livebtl::ofi {

class OfiEndpoint;

/// The largest message, up to a whole number of cache lines.
inline constexpr std::size_t kBufferBytes =
    (sizeof(Route) + messages::kMessageBytesMax + 127) / 128 * 128;
/// Sends that may be under way at once, on all connections together, and those of them that are
/// kept for control messages.
inline constexpr std::uint32_t kSendsMax = 64;
inline constexpr std::uint32_t kControlSends = 16;
/// Operations of an extension that may be under way at once.
inline constexpr std::uint32_t kExtensionOperationsMax = 256;

/// A provider that has not told the end of an operation for so long after its connection has gone
/// never will.
inline constexpr TimeNs kForgottenAfter = 5 * kSecond;

enum class Use : std::uint8_t { kReceive, kFrame, kControl, kRemoteRead, kExtension };

/// What libfabric hands back when an operation is over.
struct Context {
  fi_context2 context{};  // first: by its address
  Use use = Use::kReceive;
  bool reads = false;  // memory of a peer's; the domain's own note
};

/// A buffer, and what libfabric is doing with it.
struct Buffer : Context {
  std::byte* bytes = nullptr;    // kBufferBytes
  void* descriptor = nullptr;    // of its registration, where the provider wants one
  OfiEndpoint* owner = nullptr;  // of a send; null: its connection has gone
  std::uint32_t peer = 0;        // of a send
  TimeNs orphan_since =
      0;  // of a send whose connection has gone: when that was seen; 0: it is none
};

/// Closes what libfabric has opened.
struct CloseFid {
  template <class Object>
  void operator()(Object* object) const noexcept {
    object->fid.ops->close(&object->fid);
  }
};
template <class Object>
class Opened {
 public:
  Opened() = default;
  ~Opened() { close(); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  void close() noexcept {
    if (object_ != nullptr) CloseFid()(std::exchange(object_, nullptr));
  }
  Object** out() noexcept { return &object_; }
  Object* get() const noexcept { return object_; }
  fid* base() const noexcept { return &object_->fid; }

 private:
  Object* object_ = nullptr;
};

/// Memory that is registered. To be closed before its domain.
using Registration = std::unique_ptr<fid_mr, CloseFid>;

/// Between memory here and a peer's.
struct Transfer {
  MutableBytes here;           // stays until the end of the operation
  void* descriptor = nullptr;  // of its registration, which a provider with FI_MR_LOCAL wants
  std::uint32_t peer = 0;
  Remote there;
};

/// Of a completion: something that a peer did to our memory, of which no context of ours knows.
constexpr bool is_a_peers(std::uint64_t flags) noexcept {
  return (flags & (FI_REMOTE_READ | FI_REMOTE_WRITE)) != 0;
}

class Domain {
 public:
  /// queue_entries: of the completion queue; 0: one for each operation that may be under way.
  /// Errors: kNoMemory, kSystem, kUnsupported.
  static Result<std::unique_ptr<Domain>> open(const Library& library, Info info,
                                              std::size_t queue_entries = 0);
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;
  ~Domain();

  std::string provider() const { return info_->fabric_attr->prov_name; }
  const fi_info& info() const noexcept { return *info_; }
  /// By which peers find our endpoint.
  const Blob& name() const noexcept { return name_; }
  /// What an error code of libfabric's means.
  std::string explain(long code) const;

  Peers& peers() noexcept { return *peers_; }
  /// For what has no call of its own here.
  fid_ep* endpoint() const noexcept { return endpoint_.get(); }
  /// access: FI_SEND, FI_REMOTE_WRITE and their like. Errors: kNoMemory, kSystem.
  Result<Registration> register_memory(MutableBytes memory, std::uint64_t access);
  static void* descriptor(const Registration& registration) noexcept {
    return registration ? fi_mr_desc(registration.get()) : nullptr;
  }
  /// How peers name the beginning of memory that is registered.
  Remote remote(const Registration& registration, MutableBytes memory) const noexcept {
    const bool by_address = has_mode(FI_MR_VIRT_ADDR);
    return {fi_mr_key(registration.get()),
            by_address ? reinterpret_cast<std::uint64_t>(memory.data()) : 0};
  }
  bool has_mode(int memory_mode) const noexcept {
    return (info_->domain_attr->mr_mode & memory_mode) != 0;
  }
  /// 0: it goes, and is told by the context. Else an error of libfabric's. Written: to be seen
  /// there when it is told.
  long begin_read(const Transfer& transfer, Context& context) noexcept;
  long begin_write(const Transfer& transfer, Context& context) noexcept;
  /// libfabric is at work on nobody's memory any more. Nothing goes from now on. Reads that are
  /// under way are waited for, for some milliseconds at most.
  void stop() noexcept;
  bool stopped() const noexcept { return stopped_; }
  /// Does it leave a part of libfabric open for good, as that would not survive its end?
  bool is_stuck() const noexcept { return stopped_ && endpoint_.get() != nullptr; }

  /// Adds buffers to receive, which the caller posts. Errors: kNoMemory, kSystem, kLimit.
  Result<std::span<Buffer* const>> add_receives();
  /// 0: the buffer is libfabric's; else an error of libfabric's, -FI_EAGAIN among them.
  long post_receive(Buffer& buffer) noexcept;

  /// owner: null if its connection has gone. nullptr: too many are under way.
  Buffer* begin_send(OfiEndpoint* owner, std::uint32_t peer, Use use) noexcept;
  /// 0: it goes; end_send() follows its completion. Else nothing is under way.
  long send(Buffer& buffer, std::size_t bytes) noexcept;
  void end_send(Buffer& buffer) noexcept;
  /// The connection has gone: what it had under way is nobody's.
  void disown(const OfiEndpoint& owner) noexcept;
  /// From time to time: a provider may forget sends to a peer that has gone, without a completion.
  /// What was nobody's for long is replaced; its memory stays, as libfabric might still look there.
  /// Errors: kLimit (too much has been forgotten: the provider is to be opened anew), kNoMemory.
  Status replace_forgotten(TimeNs now);

  /// Completions; how many, 0 or an error of libfabric's. -FI_EAVAIL: read_error() has one.
  long read(std::span<fi_cq_msg_entry> entries) noexcept;
  /// false: there was none.
  bool read_error(fi_cq_err_entry& entry) noexcept;

  /// -1: the provider has none.
  int wait_fd() const noexcept { return wait_fd_; }
  /// Before waiting for the descriptor. false: there is work already.
  bool may_wait() noexcept;

 private:
  /// Buffers that are registered as one.
  struct Piece {
    std::unique_ptr<std::byte[]> bytes;
    Registration region;
  };

  Domain(const Library& library, Info info) noexcept;
  Status set_up(std::size_t queue_entries);
  Status open_fabric();
  std::size_t receives_max() const noexcept;
  Status open_queue(std::size_t entries);
  void wait_for_reads() noexcept;
  void note_end(void* context, std::uint64_t flags) noexcept;
  Status take_name();
  std::uint64_t new_key() const noexcept;
  Status add_piece(std::deque<Buffer>& buffers, std::uint32_t count, std::uint64_t access);
  Status cannot(const char* what, long code) const;

  const Library& library_;
  Info info_;
  Blob name_;
  int wait_fd_ = -1;
  bool stopped_ = false;
  std::uint32_t reads_ = 0;  // under way
  // In this order: what was made later is closed first.
  Opened<fid_fabric> fabric_;
  Opened<fid_domain> domain_;
  std::deque<Piece> pieces_;
  Opened<fid_av> addresses_;
  Opened<fid_cq> completions_;
  Opened<fid_ep> endpoint_;
  std::deque<Buffer> receives_, sends_;  // their addresses are libfabric's
  std::vector<Buffer*> free_sends_;
  std::vector<Buffer*> added_;  // by the last add_receives()
  std::unique_ptr<Peers> peers_;
};

}  // namespace livebtl::ofi
