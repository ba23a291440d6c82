// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/direct/onesided.h -- the libfabric provider's own put, get and atomics (FI_RMA,
// FI_ATOMIC), for programs that use an ofi transport without the BML. A separate library,
// livebtl_ofi_direct, which is not part of liblivebtl.so.
//
// The BML has operations of its own, which stay correct while transports change beneath them. It
// uses none of these: a word on which both a device and processors do atomics is atomic to neither.
//
// Done means visible at the target (FI_DELIVERY_COMPLETE). Operations complete in any order; to
// flush, call progress() until outstanding() is 0. Ownership: memory is the user's; it stays in
// place until conceal(), and that of an operation until on_done(), or until the transport ends.
// When a lost provider is reopened, all that was under way is done with kDown, and nothing is
// exposed any more. Threads: the engine's lock.
#pragma once

#include <unordered_map>

#include "base/secret.h"
#include "livebtl/port.h"
#include "transports/ofi/ofi_extension.h"
#include "transports/ofi/ofi_transport.h"

namespace livebtl::ofi {

class OneSidedSink {
 public:
  /// Once for each operation that was kPosted. how: kDown if it failed or was lost; the contents of
  /// the target are then unknown, and the connection has ended. fetched: the bits of the scalar
  /// that an atomic found.
  virtual void on_done(std::uint64_t cookie, const Status& how, std::uint64_t fetched) noexcept = 0;

 protected:
  ~OneSidedSink() = default;
};

/// Memory for our own operations and those of peers. Sent by value: a process that has `remote`
/// may do what was allowed, at any address in the range.
struct Exposed {
  std::uint64_t number = 0;  // among ours, never reused
  std::uint64_t bytes = 0;
  Remote remote;
};

/// A range of our exposed memory.
struct Local {
  std::uint64_t number = 0;  // Exposed::number
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// An operation on one scalar.
struct Atomic {
  AtomicOp op = AtomicOp::kSum;
  Scalar scalar = Scalar::kU64;  // the operands are the lowest bits of the words below
  std::uint64_t operand = 0;
  std::uint64_t compare = 0;  // of compare-swaps and masked swaps
};

class OneSided final : public Extension {
 public:
  static constexpr std::uint32_t kOperationsMax = kExtensionOperationsMax;

  /// domain: opened for this; outlives it. sink: borrowed. Errors: kNoMemory, kSystem.
  static Result<std::unique_ptr<OneSided>> make(Domain& domain, OneSidedSink& sink);
  OneSided(const OneSided&) = delete;
  OneSided& operator=(const OneSided&) = delete;

  /// peers: what they may do there; our own operations may read and write it. Our provider refuses
  /// anything else that peers try, which ends with kDown there. Errors: kInvalid (no bytes),
  /// kUnsupported (this provider does not check rights, and peers may not do everything),
  /// kNoMemory, kSystem.
  Result<Exposed> expose(MutableBytes memory, Access peers);
  /// Peers cannot access it any more, if the provider checks keys (shm does not always) and caches
  /// no registrations (verbs does, unless FI_MR_CACHE_MAX_COUNT=0). Requires: nothing of ours is
  /// under way there. Ignores an unknown number.
  void conceal(std::uint64_t number) noexcept { regions_.erase(number); }

  // kPosted, or kRetry: busy or not open, nothing changed. Errors: kInvalid (not within exposed
  // memory of ours; empty or too long), kUnsupported (no such atomic here: see has()), kDown.
  Result<core::Post> put(OfiEndpoint& to, const Local& from, const Remote& remote,
                         std::uint64_t cookie) {
    return transfer(true, to, from, remote, cookie);
  }
  Result<core::Post> get(OfiEndpoint& from, const Remote& remote, const Local& to,
                         std::uint64_t cookie) {
    return transfer(false, from, to, remote, cookie);
  }
  Result<core::Post> atomic(OfiEndpoint& to, const Remote& remote, const Atomic& what,
                            std::uint64_t cookie);
  /// Can the provider do it?
  bool has(const Atomic& what) const noexcept;
  /// Longest put or get.
  std::uint64_t bytes_max() const noexcept { return domain_.info().ep_attr->max_msg_size; }

  /// Not done yet: to the process at the other end, and in all.
  std::uint32_t outstanding(const OfiEndpoint& to) const noexcept;
  std::uint32_t outstanding() const noexcept {
    return kOperationsMax - static_cast<std::uint32_t>(free_.size());
  }

  // For the transport.
  void done(Context& context, long code) noexcept override;
  void disown(const OfiEndpoint& endpoint) noexcept override;
  bool look(TimeNs now) noexcept override;
  void end() noexcept override;

 private:
  /// Where libfabric finds and leaves scalars.
  struct Words {
    std::uint64_t operand = 0, compare = 0, fetched = 0;
  };
  struct Operation : Context {
    Words* words = nullptr;
    OfiEndpoint* owner = nullptr;  // null: its connection has gone, or nothing is under way
    std::uint32_t peer = 0;
    std::uint32_t fetches_bytes = 0;
    std::uint64_t cookie = 0;
    bool under_way = false;
    TimeNs since = 0;  // first seen under way with this owner; 0: not yet
  };
  struct Region {
    MutableBytes memory;
    Registration registration;
  };

  OneSided(Domain& domain, OneSidedSink& sink) noexcept : domain_(domain), sink_(sink) {}
  Result<core::Post> transfer(bool writes, OfiEndpoint& peer, const Local& local,
                              const Remote& remote, std::uint64_t cookie);
  Operation* begin(OfiEndpoint& peer, std::uint64_t cookie) noexcept;
  Result<core::Post> began(Operation& operation, long code);
  void release(Operation& operation) noexcept;
  long post_atomic(Operation& operation, const Remote& remote, const Atomic& what) noexcept;

  Domain& domain_;
  OneSidedSink& sink_;
  // Random, so that numbers from before a loss name nothing here.
  std::uint64_t next_number_ = random_u64();
  std::unordered_map<std::uint64_t, Region> regions_;  // by their numbers
  std::array<Words, kOperationsMax> words_{};
  Registration words_registration_;
  void* words_descriptor_ = nullptr;
  std::array<Operation, kOperationsMax> operations_{};  // libfabric holds their addresses
  std::vector<Operation*> free_;
  std::vector<std::uint32_t> outstanding_;  // by peer
};

/// For Options::extension. sink: borrowed.
inline MakeExtension one_sided(OneSidedSink& sink) {
  return [&sink](Domain& domain) { return OneSided::make(domain, sink); };
}

/// The operations of a transport that was made with one_sided(). A new object after each loss that
/// Transport::usable() has repaired.
inline OneSided& one_sided(OfiTransport& transport) noexcept {
  return static_cast<OneSided&>(transport.extension());
}

}  // namespace livebtl::ofi
