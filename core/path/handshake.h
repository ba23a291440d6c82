// SPDX-License-Identifier: BSD-3-Clause
// core/path/handshake.h -- the first frames on a new path: who are you, prove it, where do we go
// on. docs/WIRE.md, "Hello".
//
// Pure: bytes in, bytes out; no socket, no clock: the engine closes a path that opens too late.
//
//   dialler                          acceptor
//   HELLO facts, nonce        ->
//                             <-     CHALLENGE facts, nonce, MAC over both   (or REFUSE reason)
//   PROOF MAC over both       ->
//                             <-     WELCOME                                 (or REFUSE reason)
//
// The MACs are keyed with the job secret over the job, both facts (process ids, incarnations,
// sequences) and both nonces, each side with its own purpose string, so a replayed or reflected
// message proves nothing. Without a secret (auth none) the MACs are zero and both sides must agree
// that there is none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/secret.h"
#include "livebtl/result.h"
#include "livebtl/types.h"

namespace livebtl::core {

inline constexpr std::size_t kAddressBytesMax = 512;
struct TransportAddress {
  std::string transport;  // is_transport_name()
  Blob address;           // at most kAddressBytesMax
  friend bool operator==(const TransportAddress&, const TransportAddress&) = default;
};

/// What one process tells the other.
struct HelloFacts {
  std::string job;  // at most 128 characters
  ProcessId process{};
  Incarnation incarnation{};
  std::uint64_t node = 0;
  std::string label;  // for people: "rank 3 on node17"; at most 96 characters
  std::uint32_t epoch = 0;
  std::uint8_t rung = 0;
  std::uint64_t path = 0;           // the new path's id, drawn by the dialler
  std::uint64_t replaces = 0;       // the lost path that this one replaces; 0: none
  std::uint64_t next_expected = 1;  // ordered lane, from the other: resume here
  // ordered lane, towards the other: the first number that the other has not acknowledged
  std::uint64_t acknowledged = 1;
  std::uint32_t credit_bytes = 0;
  std::uint32_t credit_headers = 0;
  std::vector<TransportAddress> addresses;  // at most 8, and kHelloAddressBytesMax in all
};
/// Bytes of a hello's encoded addresses: keeps all messages within kUntrustedPayloadMax.
inline constexpr std::size_t kHelloAddressBytesMax = 1650;

/// Are these facts within the limits above? A process checks its own once, when it knows them;
/// Handshake asserts it. Errors: kLimit, kInvalid.
Status check_facts(const HelloFacts& facts);

enum class RefuseReason : std::uint8_t {
  kNone = 0,
  kMalformed,  // answered once, then closed
  kWrongJob,
  kNotAuthentic,
  kDuplicate,     // you and I dialled at once, and mine stays
  kNotNow,        // this transport is not open to you on my rung; try again, or try those named
  kInconsistent,  // our streams do not fit together
  kNotMe,         // the process id dialled is not mine
};

/// The list in the format of hellos and kAddresses frames. Decoding checks every limit. Errors:
/// kInvalid.
Blob encode_addresses(const std::vector<TransportAddress>& addresses);
Result<std::vector<TransportAddress>> decode_addresses(Bytes bytes);

/// For logs: "wrong job", "not authentic", ...
const char* to_text(RefuseReason reason) noexcept;

/// An acceptor's identity, before it is asked for its facts.
struct Identity {
  std::string job;
  ProcessId process{};
};

struct RefuseMessage;  // hello_wire.h

class Handshake {
 public:
  /// expected: whom we dial; ProcessId{0}: any process that answers. nonce: an argument for tests
  /// alone.
  static Handshake dial(const Secret& secret, HelloFacts mine, ProcessId expected,
                        const Nonce& nonce = random_nonce());
  /// own: this process, to which the HELLO must be addressed.
  static Handshake accept(const Secret& secret, const Identity& own,
                          const Nonce& nonce = random_nonce());

  struct Step {
    std::optional<Blob> send = {};  // payload of a kHello frame to post
    // acceptor: peer() belongs to the job and dialled this process, though perhaps some time ago,
    // as a HELLO can be replayed: answer or refuse
    bool ask = false;
    // both sides proved: the path may carry frames, after `send` if there is one. peer() is proved
    bool open = false;
    // it is over, after `send`. From the peer: its reason if it proved that it knows the secret, or
    // if the reason is one that an unauthenticated peer may give (malformed, wrong job, not
    // authentic); any other unproved refusal counts as kNotAuthentic
    RefuseReason refused = RefuseReason::kNone;
    bool refused_by_peer = false;
    std::string text = {};                      // refused: for the log
    std::vector<std::string> try_instead = {};  // refused by the peer, proved: transports to try
  };
  /// dialler: the first message. Call once.
  Step start();
  /// message: the payload of a kHello frame from the peer; hostile until proved, and in memory that
  /// the peer cannot change. After the end: refused again. An acceptor by itself refuses messages
  /// that are of another job, prove nothing, or are for another process.
  Step receive(Bytes message);
  /// acceptor, after `ask`: our facts, whose `path` becomes the peer's. Sends the challenge.
  Step answer(HelloFacts mine);
  /// acceptor, from `ask` until the welcome has been posted: say no. At most 8 transports.
  Step refuse(RefuseReason reason, std::vector<std::string> try_instead);

  const HelloFacts& peer() const noexcept { return peer_; }
  bool open() const noexcept { return state_ == State::kOpen; }

 private:
  enum class State : std::uint8_t {
    kNew,             // dialler, before start()
    kAwaitChallenge,  // dialler
    kAwaitWelcome,    // dialler
    kAwaitHello,      // acceptor
    kAsked,           // acceptor, the engine is to answer or refuse
    kAwaitProof,      // acceptor
    kOpen,
    kOver,
  };

  Handshake(const Secret& secret, const Nonce& nonce, bool dialler) noexcept
      : secret_(secret), nonce_(nonce), dialler_(dialler) {}

  Step on_hello(Bytes message);
  Step on_challenge(Bytes message);
  Step on_proof(Bytes message);
  Step on_welcome(Bytes message);
  Step on_refuse(Bytes message);
  bool by_whom_it_is_due(const RefuseMessage& refusal) const noexcept;
  Step stop(RefuseReason reason, std::string text, std::vector<std::string> try_instead = {});
  Mac mac_of_refusal(Bytes body, bool by_dialler) const;
  Blob seal(Blob body, std::string_view purpose);
  bool unseal(Bytes& message, std::string_view purpose);

  Secret secret_;
  Nonce nonce_;
  bool dialler_;
  bool peer_proved_ = false;  // it belongs to the job: it may be told which process this is
  State state_ = State::kNew;
  HelloFacts mine_;
  HelloFacts peer_;
  ProcessId dialled_{};  // whom the dialler expects
  Blob hello_;           // the HELLO as it was sent: every refusal's MAC covers it
  Blob transcript_;      // all that both have said so far: every other MAC covers it
};

}  // namespace livebtl::core
