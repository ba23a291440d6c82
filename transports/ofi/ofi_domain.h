// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_domain.h -- an open provider: libfabric's fabric, domain, completion queue,
// addresses, the one endpoint that serves all connections, and the send and receive buffers.
//
// Ownership: the destructor releases everything; it waits as stop() does. Threads: the engine's
// lock (FI_THREAD_DOMAIN). libfabric makes progress only in our calls, unless the provider insists
// on a thread of its own.
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

/// The largest message, rounded up to whole cache lines.
inline constexpr std::size_t kBufferBytes =
    (sizeof(Route) + messages::kMessageBytesMax + 127) / 128 * 128;
/// Sends that may be under way at once on all connections together, and how many of them are
/// reserved for control messages.
inline constexpr std::uint32_t kSendsMax = 64;
inline constexpr std::uint32_t kControlSends = 16;
/// Operations of an extension that may be under way at once.
inline constexpr std::uint32_t kExtensionOperationsMax = 256;

/// A provider that has not reported the end of an operation this long after the connection has
/// gone never will.
inline constexpr TimeNs kForgottenAfter = 5 * kSecond;

enum class Use : std::uint8_t { kReceive, kFrame, kControl, kRemoteRead, kExtension };

/// What libfabric hands back when an operation has ended.
struct Context {
  fi_context2 context{};  // first: libfabric returns its address
  Use use = Use::kReceive;
  bool reads = false;  // a peer's memory; for the domain alone
};

/// A buffer, and what libfabric is doing with it.
struct Buffer : Context {
  std::byte* bytes = nullptr;    // kBufferBytes
  void* descriptor = nullptr;    // of its registration, if the provider wants one
  OfiEndpoint* owner = nullptr;  // of a send; null: its connection has gone
  std::uint32_t peer = 0;        // of a send
  TimeNs orphan_since = 0;       // of a send: when its connection was seen to be gone; 0: it is not
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

/// Registered memory. Must be closed before its domain.
using Registration = std::unique_ptr<fid_mr, CloseFid>;

/// A copy between our memory and a peer's.
struct Transfer {
  MutableBytes here;           // stays in place until the operation ends
  void* descriptor = nullptr;  // of its registration; needed with FI_MR_LOCAL
  std::uint32_t peer = 0;
  Remote there;
};

/// flags: of a completion. true: a peer accessed our memory, so the context is not one of ours.
constexpr bool is_a_peers(std::uint64_t flags) noexcept {
  return (flags & (FI_REMOTE_READ | FI_REMOTE_WRITE)) != 0;
}

class Domain {
 public:
  /// queue_entries: in the completion queue; 0: one for each operation that may be under way.
  /// Errors: kNoMemory, kSystem, kUnsupported.
  static Result<std::unique_ptr<Domain>> open(const Library& library, Info info,
                                              std::size_t queue_entries = 0);
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;
  ~Domain();

  std::string provider() const { return info_->fabric_attr->prov_name; }
  const fi_info& info() const noexcept { return *info_; }
  /// Peers address our endpoint by it.
  const Blob& name() const noexcept { return name_; }
  /// The text of a libfabric error code.
  std::string explain(long code) const;

  Peers& peers() noexcept { return *peers_; }
  /// For operations without a wrapper here.
  fid_ep* endpoint() const noexcept { return endpoint_.get(); }
  /// access: FI_SEND, FI_REMOTE_WRITE and the like. Errors: kNoMemory, kSystem.
  Result<Registration> register_memory(MutableBytes memory, std::uint64_t access);
  static void* descriptor(const Registration& registration) noexcept {
    return registration ? fi_mr_desc(registration.get()) : nullptr;
  }
  /// How peers address the beginning of registered memory.
  Remote remote(const Registration& registration, MutableBytes memory) const noexcept {
    const bool by_address = has_mode(FI_MR_VIRT_ADDR);
    return {fi_mr_key(registration.get()),
            by_address ? reinterpret_cast<std::uint64_t>(memory.data()) : 0};
  }
  bool has_mode(int memory_mode) const noexcept {
    return (info_->domain_attr->mr_mode & memory_mode) != 0;
  }
  /// 0: begun; `context` reports its end. Else a libfabric error. When a write ends, its data is
  /// visible there.
  long begin_read(const Transfer& transfer, Context& context) noexcept;
  long begin_write(const Transfer& transfer, Context& context) noexcept;
  /// From now on libfabric touches nobody's memory, and nothing can be posted. Waits for reads
  /// under way, for at most 200 ms.
  void stop() noexcept;
  bool stopped() const noexcept { return stopped_; }
  /// Does a part of libfabric stay open for good, as it would not survive being closed?
  bool is_stuck() const noexcept { return stopped_ && endpoint_.get() != nullptr; }

  /// Adds receive buffers, which the caller posts. Errors: kNoMemory, kSystem, kLimit.
  Result<std::span<Buffer* const>> add_receives();
  /// 0: the buffer now belongs to libfabric; else a libfabric error, such as -FI_EAGAIN.
  long post_receive(Buffer& buffer) noexcept;

  /// owner: null if its connection has gone. nullptr: too many are under way.
  Buffer* begin_send(OfiEndpoint* owner, std::uint32_t peer, Use use) noexcept;
  /// 0: under way; end_send() must follow its completion. Else it has ended.
  long send(Buffer& buffer, std::size_t bytes) noexcept;
  void end_send(Buffer& buffer) noexcept;
  /// The connection has gone: its sends have no owner any more.
  void disown(const OfiEndpoint& owner) noexcept;
  /// From time to time: a provider may forget sends to a peer that has gone and not complete them.
  /// Buffers that had no owner for long are replaced; their memory stays, as libfabric might still
  /// access it. Errors: kLimit (too many: the provider must be reopened), kNoMemory, kSystem.
  Status replace_forgotten(TimeNs now);

  /// Reads completions. Returns how many, or a libfabric error. -FI_EAVAIL: see read_error().
  long read(std::span<fi_cq_msg_entry> entries) noexcept;
  /// false: there was none.
  bool read_error(fi_cq_err_entry& entry) noexcept;

  /// -1: the provider has none.
  int wait_fd() const noexcept { return wait_fd_; }
  /// Before waiting on the descriptor. false: there is work already.
  bool may_wait() noexcept;

 private:
  /// Buffers that share a registration.
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
  // In this order: what was opened last is closed first.
  Opened<fid_fabric> fabric_;
  Opened<fid_domain> domain_;
  std::deque<Piece> pieces_;
  Opened<fid_av> addresses_;
  Opened<fid_cq> completions_;
  Opened<fid_ep> endpoint_;
  std::deque<Buffer> receives_, sends_;  // libfabric holds their addresses
  std::vector<Buffer*> free_sends_;
  std::vector<Buffer*> added_;  // by the last add_receives()
  std::unique_ptr<Peers> peers_;
};

}  // namespace livebtl::ofi
