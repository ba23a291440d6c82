// SPDX-License-Identifier: BSD-3-Clause
// core/path/hello_wire.cc -- encodes and decodes the handshake's messages. Pure; any thread.
#include "core/path/hello_wire.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/text.h"
#include "base/transport_name.h"
#include "core/engine/admin.h"
#include "transports/interface/transport.h"

namespace livebtl::core {
namespace {

constexpr std::size_t kJobMax = 128;
constexpr std::size_t kLabelMax = 96;
constexpr std::size_t kAddressesMax = kTransportsMax + 1;  // and the relay's

bool is_job(std::string_view text) noexcept {
  return !text.empty() && text.size() <= kJobMax && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

// For people, in any language; nothing that moves a cursor.
bool is_label(std::string_view text) noexcept {
  if (text.size() > kLabelMax) return false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (control_bytes(text.substr(at)) != 0) return false;
  }
  return true;
}

bool numbers_are_good(const HelloFacts& facts) noexcept {
  return facts.process != ProcessId{0} && facts.rung <= static_cast<std::uint8_t>(Rung::kNew) &&
         facts.next_expected >= 1 && facts.acknowledged >= 1;
}

std::string take_text(ByteReader& reader, std::size_t bytes_max) {
  const Bytes bytes = reader.take_counted(bytes_max);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::optional<std::vector<TransportAddress>> take_addresses(ByteReader& reader) {
  const std::size_t count = reader.take<std::uint8_t>();
  if (count > kAddressesMax) return std::nullopt;
  std::vector<TransportAddress> addresses;
  for (std::size_t i = 0; i < count; ++i) {
    std::string transport = take_text(reader, kTransportNameMax);
    const Bytes address = reader.take_counted(kAddressBytesMax);
    if (!reader.ok() || !is_transport_name(transport)) return std::nullopt;
    addresses.push_back({std::move(transport), Blob(address.begin(), address.end())});
  }
  return addresses;
}

/// Of encode_addresses().
std::size_t encoded_bytes(const std::vector<TransportAddress>& addresses) noexcept {
  std::size_t bytes = sizeof(std::uint8_t);
  for (const TransportAddress& each : addresses)
    bytes += 2 * sizeof(std::uint16_t) + each.transport.size() + each.address.size();
  return bytes;
}

/// The numbers among the facts, in the order of the wire.
template <class Facts>
auto numbers_of(Facts& facts) noexcept {
  return std::tie(facts.process, facts.incarnation, facts.epoch, facts.node, facts.path,
                  facts.replaces, facts.next_expected, facts.acknowledged, facts.credit_bytes,
                  facts.credit_headers, facts.rung);
}

void put_facts(ByteWriter& writer, const HelloFacts& facts) {
  std::apply([&](const auto&... number) { (writer.put(number), ...); }, numbers_of(facts));
  writer.put_counted(as_bytes(facts.job));
  writer.put_counted(as_bytes(facts.label));
  writer.put_bytes(encode_addresses(facts.addresses));
}

// The facts are the last part of the messages that have them.
std::optional<HelloFacts> take_last_facts(ByteReader& reader) {
  HelloFacts facts;
  const auto take = [&]<class Number>(Number& number) { number = reader.take<Number>(); };
  std::apply([&](auto&... number) { (take(number), ...); }, numbers_of(facts));
  facts.job = take_text(reader, kJobMax);
  facts.label = take_text(reader, kLabelMax);
  auto addresses = take_addresses(reader);
  if (!addresses || !reader.finished()) return std::nullopt;
  facts.addresses = std::move(*addresses);
  if (!check_facts(facts)) return std::nullopt;
  return facts;
}

ByteReader after_head(Bytes message) noexcept {
  return ByteReader(message.subspan(sizeof(HelloHead)));
}

}  // namespace

const char* to_text(RefuseReason reason) noexcept {
  static constexpr const char* kNames[] = {"none",          "malformed", "wrong job",
                                           "not authentic", "duplicate", "not now",
                                           "inconsistent",  "not me"};
  const auto index = static_cast<std::size_t>(reason);
  return index < std::size(kNames) ? kNames[index] : "unknown";
}

Status check_facts(const HelloFacts& facts) {
  if (!numbers_are_good(facts) || !is_job(facts.job) || !is_label(facts.label))
    return fail(Errc::kInvalid, "a process id, job id, label or number is not one for a hello");
  if (facts.addresses.size() > kAddressesMax)
    return fail(Errc::kLimit, "more than 8 transports; set LIVEBTL_TRANSPORTS to fewer");
  for (const TransportAddress& each : facts.addresses)
    if (!is_transport_name(each.transport) || each.address.size() > kAddressBytesMax)
      return fail(Errc::kInvalid, "transport " + each.transport + " has a bad name or address");
  if (encoded_bytes(facts.addresses) > kHelloAddressBytesMax)
    return fail(Errc::kLimit,
                "the transports' addresses do not fit into a hello; set LIVEBTL_TCP_IF or "
                "LIVEBTL_TRANSPORTS to fewer");
  return {};
}

Blob encode_addresses(const std::vector<TransportAddress>& addresses) {
  ByteWriter writer;
  writer.put(static_cast<std::uint8_t>(addresses.size()));
  for (const TransportAddress& each : addresses) {
    writer.put_counted(as_bytes(each.transport));
    writer.put_counted(each.address);
  }
  return writer.take();
}

Result<std::vector<TransportAddress>> decode_addresses(Bytes bytes) {
  ByteReader reader(bytes);
  auto addresses = take_addresses(reader);
  if (!addresses || !reader.finished())
    return fail(Errc::kInvalid, "a list of transports' addresses is malformed");
  return std::move(*addresses);
}

Blob encode_hello_head(HelloType type, bool authenticated) {
  ByteWriter writer;
  writer.put(HelloHead{.type = type, .authenticated = authenticated});
  return writer.take();
}

Blob encode(const HelloMessage& message, bool authenticated) {
  ByteWriter writer;
  writer.put_bytes(encode_hello_head(HelloType::kHello, authenticated));
  writer.put(message.nonce);
  writer.put(message.dialled);
  put_facts(writer, message.facts);
  return writer.take();
}

Blob encode(const ChallengeMessage& message, bool authenticated) {
  ByteWriter writer;
  writer.put_bytes(encode_hello_head(HelloType::kChallenge, authenticated));
  writer.put(message.nonce);
  put_facts(writer, message.facts);
  return writer.take();
}

Blob encode(const RefuseMessage& message, bool authenticated) {
  ByteWriter writer;
  writer.put_bytes(encode_hello_head(HelloType::kRefuse, authenticated));
  writer.put(message.reason);
  writer.put(message.process);
  writer.put(static_cast<std::uint8_t>(message.try_instead.size()));
  for (const std::string& transport : message.try_instead) writer.put_counted(as_bytes(transport));
  return writer.take();
}

std::optional<HelloHead> decode_hello_head(Bytes message) noexcept {
  if (message.size() > kUntrustedPayloadMax) return std::nullopt;
  ByteReader reader(message);
  const auto head = reader.take<HelloHead>();
  const bool known = head.type >= HelloType::kHello && head.type <= HelloType::kRefuse;
  if (!reader.ok() || head.version != kHelloVersion || !known || head.authenticated > 1 ||
      head.reserved != 0)
    return std::nullopt;
  return head;
}

std::optional<HelloMessage> decode_hello(Bytes body) {
  ByteReader reader = after_head(body);
  HelloMessage hello;
  hello.nonce = reader.take<Nonce>();
  hello.dialled = reader.take<ProcessId>();
  auto facts = take_last_facts(reader);
  if (!facts) return std::nullopt;
  hello.facts = std::move(*facts);
  return hello;
}

std::optional<ChallengeMessage> decode_challenge(Bytes body) {
  ByteReader reader = after_head(body);
  ChallengeMessage challenge;
  challenge.nonce = reader.take<Nonce>();
  auto facts = take_last_facts(reader);
  if (!facts) return std::nullopt;
  challenge.facts = std::move(*facts);
  return challenge;
}

std::optional<RefuseMessage> decode_refuse(Bytes body) {
  ByteReader reader = after_head(body);
  RefuseMessage refusal;
  refusal.reason = reader.take<RefuseReason>();
  refusal.process = reader.take<ProcessId>();
  const std::size_t count = reader.take<std::uint8_t>();
  if (refusal.reason == RefuseReason::kNone || refusal.reason > RefuseReason::kNotMe ||
      count > kTryInsteadMax)
    return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) {
    refusal.try_instead.push_back(take_text(reader, kTransportNameMax));
    if (!is_transport_name(refusal.try_instead.back())) return std::nullopt;
  }
  if (!reader.finished()) return std::nullopt;
  return refusal;
}

}  // namespace livebtl::core
