// SPDX-License-Identifier: BSD-3-Clause
// core/path/hello_wire.h -- the five messages of the handshake as bytes (docs/WIRE.md, "Hello").
// For handshake.cc.
//
// Pure. Decoding checks every length, number and character that has a rule; MACs are the
// handshake's business.
#pragma once

#include "core/path/handshake.h"

namespace livebtl::core {

inline constexpr std::uint8_t kHelloVersion = 3;
inline constexpr std::size_t kTryInsteadMax = 8;

enum class HelloType : std::uint8_t {
  kHello = 1,
  kChallenge = 2,
  kProof = 3,
  kWelcome = 4,
  kRefuse = 5,
};

struct HelloHead {
  std::uint8_t version = kHelloVersion;
  HelloType type{};
  std::uint8_t authenticated = 0;  // 1: the sender has a secret
  std::uint8_t reserved = 0;
};
static_assert(sizeof(HelloHead) == 4);

struct HelloMessage {
  Nonce nonce{};
  ProcessId dialled{};  // 0: any process that answers
  HelloFacts facts;
};
struct ChallengeMessage {
  Nonce nonce{};
  HelloFacts facts;
};
struct RefuseMessage {
  RefuseReason reason{};
  ProcessId process{};  // the refusing one; 0: the other has not proved that it may know
  std::vector<std::string> try_instead;
};

/// A head alone: PROOF and WELCOME have nothing else before the MAC that ends each message.
Blob encode_hello_head(HelloType type, bool authenticated);
Blob encode(const HelloMessage& message, bool authenticated);
Blob encode(const ChallengeMessage& message, bool authenticated);
Blob encode(const RefuseMessage& message, bool authenticated);

/// The head of a message of this version with a known type; nullopt: malformed.
std::optional<HelloHead> decode_hello_head(Bytes message) noexcept;
/// Requires: decode_hello_head() gave this type. The MAC is already cut off. nullopt: malformed.
std::optional<HelloMessage> decode_hello(Bytes body);
std::optional<ChallengeMessage> decode_challenge(Bytes body);
std::optional<RefuseMessage> decode_refuse(Bytes body);

}  // namespace livebtl::core
