// SPDX-License-Identifier: BSD-3-Clause
// transports/interface/transport.h -- the engine's lower interface: all that a transport must
// provide. docs/TRANSPORTS.md shows how.
//
// Threads: every call, and every call back into a sink, is made under the engine's lock: one at a
// time, but not always from the same thread. A transport starts no thread of its own.
// Blocking: nothing here blocks. connect() only starts; progress() shows the outcome.
// Ownership: the engine owns each Endpoint and destroys it before its Transport. A sink is
// borrowed: it outlives its endpoint. A sink must not destroy the endpoint during a call into the
// sink.
// Errors: busy is Post::kRetry; an operating error is a Result or on_down(); a bug is an assertion.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/single_copy.h"
#include "livebtl/result.h"
#include "transports/interface/endpoint_stats.h"
#include "transports/interface/fast_box.h"
#include "transports/interface/pace.h"

namespace livebtl::core {

/// A frame's header: at most this long; a transport never looks into it.
inline constexpr std::size_t kHeaderBytesMax = 64;
/// A transport's payload_bytes_max is at least this: puts of 8192 bytes with 8 of remote data, get
/// replies and active messages travel in one frame over whatever path the pair has.
inline constexpr std::uint32_t kPayloadBytesMin = 8200;
/// Largest payload of a frame on an endpoint that has not been trusted yet (the hello frames).
inline constexpr std::size_t kUntrustedPayloadMax = 2048;
/// Largest ticket of an endpoint.
inline constexpr std::size_t kTicketBytesMax = 128;

enum class Post : std::uint8_t {
  kDone,  // taken, and `payload` is the caller's again; no on_sent() follows
  // taken; `payload` stays in use until exactly one on_sent(cookie), until on_down(), or until
  // the endpoint is destroyed
  kPosted,
  // not taken, nothing changed; try again after progress(). Also while still connecting, unless the
  // frame goes with what makes the connection
  kRetry,
  // Exposed payloads only: not taken, and will not be for a while; pieces of at most
  // caps().payload_bytes_max can be
  kSmaller,
};

struct Frame {
  Bytes header;              // [1..kHeaderBytesMax], copied by post()
  Bytes payload;             // [0..caps().payload_bytes_max], if it is not exposed
  std::uint64_t cookie = 0;  // handed back by on_sent()
  // payload may stay in use after post(): kPosted is allowed. Otherwise it is copied
  bool stable = false;
  // the peer is to read it in place; needs a stable payload of caps().zero_copy_bytes_min to max
  bool exposed = false;
};

/// What a transport can do; constant while it lives.
struct Caps {
  // Largest payload of one frame: at least kPayloadBytesMin, and at least the eager_bytes_max of
  // every transport in the process: a frame that one of them may have lost is resent over another.
  std::uint32_t payload_bytes_max = 0;
  // Data of large messages go in pieces of at most this size unless exposed. 0: payload_bytes_max.
  // Less where both ends copy: one copies a piece while the other copies the next.
  std::uint32_t piece_bytes_max = 0;
  // Stable payloads from min to max may also be exposed for a zero-copy read: the peer (its device,
  // its kernel) reads them from where they lie to where on_place() wants them; post() answers
  // kPosted, kSmaller or kRetry. 0: there are no zero-copy reads here.
  std::uint32_t zero_copy_bytes_min = 0;
  std::uint32_t zero_copy_bytes_max = 0;
  // Whether exposing a payload pays depends on the machine and is measured. false: it does.
  bool copying_may_be_faster = false;
  std::uint32_t eager_bytes_max = 0;  // above this, rendezvous is expected to be faster
  // true: frames can be lost when a path breaks, so the BML keeps them until they are acknowledged.
  // false (self and sm): what was posted is delivered; the BML need not see it acknowledged.
  bool keeps = false;
  // true: reaches only processes of its own node
  bool same_node_only = false;
  // true: an address is not enough to connect; both ends exchange tickets, see ByTicket
  bool by_ticket = false;
  std::uint32_t exclusivity = 0;     // default; the highest that both ends reach is used
  std::uint32_t latency_ns = 0;      // typical, for ranking only
  std::uint32_t bandwidth_mbps = 0;  // typical, for weights only; 0: unknown
};

/// What an endpoint reports to its owner.
class EndpointSink {
 public:
  /// Where should the payload of this frame, which is still to be read, go? Empty: the transport's
  /// own buffer. Asked only by transports that read from a socket or from exposed memory. `header`
  /// has been checked for corruption, the payload has not: the bytes in that place mean nothing
  /// until on_frame(). to_be_checked: they have a checksum, which may turn out wrong. The result
  /// has at least payload_bytes bytes, or none.
  virtual MutableBytes on_place(Bytes header, std::size_t payload_bytes,
                                bool to_be_checked) noexcept = 0;
  /// Asked before a payload is read out of exposed memory, and again if it could not be read. false:
  /// nobody needs what it holds now, and the frame may be delivered without a payload. true: the
  /// sink has made room for it, on_place() says where, and this frame is the next one that is
  /// delivered on this endpoint; without a payload if its sender has ended meanwhile.
  virtual bool is_wanted(Bytes /*header*/) noexcept { return true; }
  /// header: a private copy (never memory that another process can still change); valid during the
  /// call. payload: valid during the call; may be shared memory that its sender can still change.
  virtual void on_frame(Bytes header, Bytes payload) noexcept = 0;
  virtual void on_sent(std::uint64_t cookie) noexcept = 0;
  /// The path is broken; the last call an endpoint ever makes. Frames that were kPosted and not
  /// on_sent() are lost or delivered: only the peer knows.
  virtual void on_down(const Error& why) noexcept = 0;

 protected:
  ~EndpointSink() = default;
};

/// What an endpoint can also do if its transport connects by tickets.
class TicketEnd {
 public:
  /// What the other end must know of this one, for instance a queue number. At most kTicketBytesMax
  /// bytes, never changes. The engine carries the dialler's ticket to the peer's admit(), and the
  /// admitted endpoint's back, over another path of the pair.
  virtual Blob ticket() const = 0;
  /// Gives the dialler's endpoint the admitted one's ticket. At most once. Hostile; an unusable one
  /// leads to on_down().
  virtual void take_ticket(Bytes ticket) noexcept = 0;

 protected:
  ~TicketEnd() = default;
};

class Endpoint {
 public:
  virtual ~Endpoint() = default;  // closes; makes no call into the sink

  /// Once, before any other call. No frame is delivered before it.
  virtual void attach(EndpointSink& sink) noexcept = 0;
  virtual Post post(const Frame& frame) noexcept = 0;
  /// Frames that are kPosted and not yet on_sent(), plus those taken as kDone that still wait in
  /// the endpoint's own buffers for the wire. 0: nothing of ours is left here.
  virtual std::size_t in_flight() const noexcept = 0;
  /// Stops referring to anybody else's memory: what is still to be sent of posted payloads is
  /// copied (their on_sent() follows as before), and the rest of a payload that is being read into
  /// a place goes to the transport's own buffer. For owners that want their memory back at once;
  /// rare. Memory that a device is working on can only be taken by force: the connection ends,
  /// on_down() follows in progress(), and the frames under way are lost.
  virtual void let_go() noexcept = 0;
  /// The peer has proved who it is: payloads up to caps().payload_bytes_max are now accepted.
  virtual void trust() noexcept = 0;
  /// If the kernel can copy exposed payloads in several ways: the way for those posted from now on.
  /// Unset: the one with which the process was started.
  virtual void copy_by(std::optional<SingleCopy> /*way*/) noexcept {}
  /// The kernel has shown (peer credentials) that the other end is a process on this machine, with
  /// our user id or root's.
  virtual bool kernel_vouched() const noexcept = 0;
  virtual EndpointStats stats() const noexcept = 0;
  /// Null unless the transport connects by tickets. Constant.
  virtual TicketEnd* by_ticket() noexcept { return nullptr; }
  /// Asked after trust(). Null unless frames cannot be lost and both ends share memory.
  virtual FastBox* fast_box() noexcept { return nullptr; }
  /// For people: "tcp 10.0.0.1:4242 -> 10.0.0.2:5151".
  virtual std::string describe() const = 0;
};

class TransportSink {
 public:
  /// A peer connected. The engine attaches, and drops it unless a good hello arrives in time.
  virtual void on_accept(std::unique_ptr<Endpoint> endpoint) noexcept = 0;

 protected:
  ~TransportSink() = default;
};

/// What a transport can also do if an address is not enough to connect.
class ByTicket {
 public:
  /// A peer dials with its endpoint's ticket. Hostile. Errors: as connect().
  virtual Result<std::unique_ptr<Endpoint>> admit(Bytes ticket) = 0;

 protected:
  ~ByTicket() = default;
};

/// What a transport also reports if it holds a device, so that a release can be proved.
class HoldsDevice {
 public:
  /// Descriptors that it holds now (not files of its endpoints' peers): after the transport is
  /// destroyed, the engine checks in /proc whether this process or a child still has any of them.
  virtual std::vector<int> descriptors() const = 0;
  /// How much memory is registered with its device now, which the kernel counts as pinned by this
  /// process: checked like the descriptors. 0: none, or unknown.
  virtual std::size_t pinned_bytes() const noexcept = 0;

 protected:
  ~HoldsDevice() = default;
};

class Transport {
 public:
  /// Everything is released: no descriptor, mapping or thread is left.
  virtual ~Transport() = default;

  virtual std::string_view name() const noexcept = 0;
  virtual const Caps& caps() const noexcept = 0;
  /// What a peer passes to connect(): in full (at most 512 bytes), sent in hellos, and in a short
  /// form (at most 20) that fits into an Address. Both begin with a version byte.
  virtual Blob address() const = 0;
  virtual Blob contact() const { return address(); }
  /// Could a connection to a peer with that address or contact be tried? Symmetric; does no I/O.
  virtual bool reaches(Bytes address) const noexcept = 0;
  /// Among transports of equal exclusivity, the one with the lowest cost towards a peer is
  /// preferred. Symmetric, like reaches().
  virtual std::uint32_t cost(Bytes /*address*/) const noexcept { return 0; }
  /// A peer with that address or contact may connect at any time: a transport that shuts out other
  /// nodes (NodeFacts::one_node) lets it in from now on. Hostile; never refused. true: address()
  /// has changed.
  virtual bool expect(Bytes /*address*/) noexcept { return false; }
  /// This process was restored, maybe on another machine with other addresses: what the transport
  /// knows of them may be stale.
  virtual void relocated() noexcept {}
  /// Starts to connect. Errors: kInvalid (malformed address), kUnreachable, kNoMemory, kSystem.
  virtual Result<std::unique_ptr<Endpoint>> connect(Bytes address) = 0;
  /// Moves at most `frames_max` frames and returns how many; reads no clock. accept: receives new
  /// endpoints.
  virtual std::size_t progress(TransportSink& accept, TimeNs now,
                               std::size_t frames_max) noexcept = 0;
  /// Is all that it needs outside this process there (a device, an active port, an address)?
  /// Reopens what was lost. Reports a loss once, even if all is well again. Called when something
  /// went wrong, and then about once a second until all is well; connect() and admit() are not
  /// called meanwhile.
  virtual Status usable() { return {}; }
  /// A descriptor that, after arm(), poll() shows readable when progress() has work; -1: none.
  virtual int wait_fd() const noexcept = 0;
  /// Before sleeping on wait_fd(). false: there is work already.
  virtual bool arm() noexcept = 0;
  /// After arm(): when to call progress() even if the descriptor shows nothing. kNoDeadline: no
  /// need. The call may come late.
  virtual TimeNs wake_at() const noexcept { return wait_fd() >= 0 ? kNoDeadline : 0; }

  /// Not null exactly if caps().by_ticket; otherwise it connects by addresses. Constant.
  virtual ByTicket* by_ticket() noexcept { return nullptr; }
  /// Null: there is no device that it could hold. Constant.
  virtual const HoldsDevice* holds_device() const noexcept { return nullptr; }
  /// For a transport whose progress() costs system calls even when nothing has come: the engine
  /// skips it in rounds that are not due. Null: it is called in every round. Constant.
  virtual Pace* pace() noexcept { return nullptr; }
};

}  // namespace livebtl::core
