// SPDX-License-Identifier: BSD-3-Clause
// tests/fuzz/session/member.h -- a member of the job that has proved itself, then sends what the
// input says: frames of all kinds, with fields that mostly mean something to the engine.
#pragma once

#include <array>

#include "core/engine/engine_core.h"
#include "core/path/fast_box.h"
#include "core/path/handshake.h"
#include "tests/fuzz/reached.h"
#include "tests/fuzz/session/input.h"
#include "tests/fuzz/session/line.h"

namespace livebtl::fuzz {

class Member {
 public:
  static constexpr std::uint64_t kProcess = 7;
  static constexpr PortNumber kPort = 1;

  /// Where it says that it can be reached.
  struct Place {
    std::uint64_t node = 9;
    core::TransportAddress address{"line", Blob(2, std::byte{1})};
  };

  Member(Line& line, const Secret& secret, ProcessId engine) : Member(line, secret, engine, {}) {}
  Member(Line& line, const Secret& secret, ProcessId engine, Place place)
      : line_(line), secret_(secret), engine_(engine), place_(std::move(place)) {}

  bool open() const noexcept { return proved() && line_.end != nullptr; }
  bool proved() const noexcept { return handshake_ && handshake_->open(); }
  /// The number of its next ordered frame, and of the engine's next one.
  std::uint64_t next_seq() const noexcept { return next_seq_; }
  std::uint64_t next_expected() const noexcept { return next_expected_; }
  /// One of its numbers was sent other than by post().
  void count_sent() noexcept { ++next_seq_; }
  /// The name of the path that it dialled last.
  std::uint64_t path() const noexcept { return path_; }

  /// Dials. The numbers that it states are correct, or as the input says.
  void dial(Input& input) {
    core::HelloFacts facts;
    facts.job = "fuzz";
    facts.process = ProcessId{kProcess};
    facts.path = ++path_;
    facts.replaces = input.below(4) == 1 ? path_ - 1 : 0;
    facts.label = "rank 7";
    facts.node = place_.node;
    const bool honest = input.below(4) != 1;
    facts.next_expected = honest ? next_expected_ : number(input);
    facts.acknowledged = honest ? acknowledged_ : number(input);
    facts.credit_bytes = 1U << (23 - input.below(24));
    facts.credit_headers = 256 - static_cast<std::uint32_t>(input.below(256));
    facts.addresses = {place_.address};
    if (!core::check_facts(facts)) return;  // such a hello cannot even be written
    line_.from_engine.clear();
    line_.to_engine.clear();
    line_.severed = false;
    line_.offered = true;
    handshake_ = core::Handshake::dial(secret_, facts, engine_, Nonce{});
    say(handshake_->start().send);
  }
  /// Reads what the engine has posted: continues the handshake and remembers names.
  void read() {
    for (; !line_.from_engine.empty(); line_.from_engine.pop_front()) {
      const LineFrame& frame = line_.from_engine.front();
      const auto head = core::decode_head(frame.header);
      must_hold(head.has_value(), "the engine posts no malformed header");
      if (head->kind == core::FrameKind::kHello) {
        if (handshake_) say(handshake_->receive(frame.payload).send);
        continue;
      }
      next_expected_ = std::max(next_expected_, head->seq + 1);
      acknowledged_ = std::max(acknowledged_, head->ack);
      if (head->kind == core::FrameKind::kEager) {
        taken_bytes_ += frame.payload.size();
        ++taken_messages_;
      }
      remember(frame.header);
      unanswered_.push_back(frame.header);
      if (unanswered_.size() > kRememberedMax) unanswered_.pop_front();
    }
  }
  /// Answers the oldest unanswered frame, as an honest member would.
  void answer() {
    if (unanswered_.empty()) return;
    const Blob header = std::move(unanswered_.front());
    unanswered_.pop_front();
    answer(*core::decode_head(header), header);
  }
  /// Confirms a path over which frames cannot be lost: the engine sends on it only then.
  void probe() { post(core::FrameKind::kProbe, core::PathBody{path_, 0}); }
  /// Says something about a fast box.
  void tell_of_box(core::BoxNote note, std::uint32_t ordinal) {
    post(core::FrameKind::kBox,
         core::PathBody{path_, std::uint64_t{ordinal} << 8 | static_cast<std::uint8_t>(note)});
  }
  /// Sends a frame that the input describes.
  void invent(Input& input) {
    constexpr core::FrameKind kKinds[] = {
        core::FrameKind::kEager,      core::FrameKind::kRts,         core::FrameKind::kCts,
        core::FrameKind::kFin,        core::FrameKind::kDone,        core::FrameKind::kActive,
        core::FrameKind::kPut,        core::FrameKind::kGet,         core::FrameKind::kGetReply,
        core::FrameKind::kAtomic,     core::FrameKind::kAtomicReply, core::FrameKind::kAddresses,
        core::FrameKind::kData,       core::FrameKind::kAck,         core::FrameKind::kMarker,
        core::FrameKind::kMarkerAck,  core::FrameKind::kPathDown,    core::FrameKind::kProbe,
        core::FrameKind::kHello,      core::FrameKind::kGoodbye,     core::FrameKind::kTicket,
        core::FrameKind::kTicketBack, core::FrameKind::kBox};
    const core::FrameKind kind = kKinds[input.below(std::size(kKinds))];
    const core::FrameShape& shape = core::kFrameShapes[static_cast<std::uint8_t>(kind)];
    core::FrameHead head{.kind = kind};
    const std::uint8_t how = input.byte();
    head.flags = input.byte();
    if ((how & 1) == 0) head.flags &= shape.flags_allowed;
    head.target_port = (how & 2) == 0 ? target : static_cast<PortNumber>(number(input));
    head.source_port = kPort;
    if (core::is_ordered(kind)) head.seq = (how & 12) != 12 ? next_seq_++ : number(input);
    head.ack = (how & 48) == 48 ? number(input) : next_expected_;
    Blob header(shape.header_bytes, std::byte{0});
    std::memcpy(header.data(), &head, sizeof head);
    for (std::size_t at = sizeof head; at + sizeof(std::uint64_t) <= header.size();
         at += sizeof(std::uint64_t)) {
      const std::uint64_t value = number(input);
      std::memcpy(header.data() + at, &value, sizeof value);
    }
    if ((how & 128) != 0 && !header.empty()) header.resize(input.below(65));
    post(std::move(header), payload(input));
  }

  PortNumber target = 0;  // the engine's

 private:
  static constexpr std::size_t kRememberedMax = 16;

  void say(const std::optional<Blob>& message) {
    if (!message) return;
    const core::FrameHead head{.kind = core::FrameKind::kHello};
    const Bytes header = bytes_of(head);
    post(Blob(header.begin(), header.end()), *message);
  }
  void post(Blob header, Blob payload) {
    if (header.empty()) return;  // a transport delivers no such frame
    line_.to_engine.push_back({std::move(header), std::move(payload)});
  }
  template <class Body>
  void post(core::FrameKind kind, const Body& body, Blob payload = {}, std::uint8_t flags = 0) {
    const core::Header<Body> header{{.kind = kind,
                                     .flags = flags,
                                     .target_port = target,
                                     .source_port = kPort,
                                     .seq = core::is_ordered(kind) ? next_seq_++ : 0,
                                     .ack = next_expected_},
                                    body};
    const Bytes bytes = bytes_of(header);
    post(Blob(bytes.begin(), bytes.end()), std::move(payload));
  }

  void answer(const core::FrameHead& head, const Blob& header) {
    using core::FrameKind;
    switch (head.kind) {
      case FrameKind::kEager:
        return answer_message(head);
      case FrameKind::kRts: {
        const auto rts = core::decode_body<core::RtsBody>(header);
        return post(FrameKind::kCts, core::CtsBody{rts.transfer, 0, rts.length, ++handle_, 0, 0},
                    {}, head.flags & core::kFlagAhead);
      }
      case FrameKind::kCts: {
        const auto cts = core::decode_body<core::CtsBody>(header);
        const std::size_t bytes = std::min<std::uint64_t>(cts.length, LineTransport::kPayloadMax);
        return post(FrameKind::kData, core::DataBody{cts.handle, cts.offset, cts.attempt, 0},
                    Blob(bytes, std::byte{1}));
      }
      case FrameKind::kPut:
      case FrameKind::kGet:
      case FrameKind::kAtomic:
        return answer_request(head, header);
      case FrameKind::kData:  // all of it has arrived
        return post(FrameKind::kFin,
                    core::FinBody{core::decode_body<core::DataBody>(header).handle, 0, 0});
      case FrameKind::kMarker:
        return post(FrameKind::kMarkerAck, core::decode_body<core::PathBody>(header));
      default:
        return;
    }
  }

  void answer_message(const core::FrameHead& head) {
    if ((head.flags & core::kFlagWantDone) != 0)
      post(core::FrameKind::kDone, core::FinBody{head.seq, 0, 0}, {}, core::kFlagWantDone);
    post(core::FrameKind::kAck, core::CreditBody{taken_bytes_, taken_messages_});
  }
  void answer_request(const core::FrameHead& head, const Blob& header) {
    using core::FrameKind;
    if (head.kind == FrameKind::kAtomic) {
      const auto asked = core::decode_body<core::AtomicBody>(header);
      const bool fetch = asked.fetch != 0;
      return post(fetch ? FrameKind::kAtomicReply : FrameKind::kDone,
                  core::FinBody{asked.operation, 0, 0},
                  Blob(fetch ? asked.count * sizeof(std::uint64_t) : 0, std::byte{1}));
    }
    const auto asked = core::decode_body<core::RemoteBody>(header);
    const bool put = head.kind == FrameKind::kPut;
    post(put ? FrameKind::kDone : FrameKind::kGetReply, core::FinBody{asked.operation, 0, 0},
         Blob(put ? 0 : std::min<std::uint64_t>(asked.length, 8192), std::byte{1}));
  }

  void remember(const Blob& header) {
    for (std::size_t at = sizeof(core::FrameHead); at + sizeof(std::uint64_t) <= header.size();
         at += sizeof(std::uint64_t))
      std::memcpy(&known_[++known_at_ % known_.size()], header.data() + at, sizeof(std::uint64_t));
  }
  /// A name that the engine has used, a number that may be a limit, or any number.
  std::uint64_t number(Input& input) {
    constexpr std::uint64_t kNotable[] = {0,    1,    2,     5,     8,     63,      64,      4096,
                                          8192, 8193, 16384, 32768, 40000, 1 << 20, 1 << 30, ~0ULL};
    const std::uint8_t how = input.byte();
    if (how < 96) return known_[how % known_.size()];
    if (how < 192) return kNotable[how % std::size(kNotable)];
    if (how < 224) return next_seq_ + input.below(16);
    if (how < 248) return input.byte();
    return input.number(8);
  }
  static Blob payload(Input& input) {
    constexpr std::size_t kSizes[] = {0, 0, 1, 8, 16, 64, 1000, 4096, 8192, 8200, 16384};
    return Blob(kSizes[input.below(std::size(kSizes))], std::byte{2});
  }

  Line& line_;
  const Secret secret_;
  const ProcessId engine_;
  const Place place_;
  std::optional<core::Handshake> handshake_;
  std::uint64_t path_ = 100;
  std::uint64_t next_seq_ = 1, next_expected_ = 1, acknowledged_ = 1;
  std::uint64_t taken_bytes_ = 0, taken_messages_ = 0;
  std::uint64_t handle_ = 0;  // of transfers that it has requested
  std::deque<Blob> unanswered_;
  std::array<std::uint64_t, 32> known_{};
  std::size_t known_at_ = 0;
};

}  // namespace livebtl::fuzz
