// SPDX-License-Identifier: BSD-3-Clause
// tests/fuzz/sm/neighbour.h -- a member on the same node, connected over shared memory, that has
// proved itself: it uses rings, fast boxes and exposures as a member should, and also writes what
// the input says into any word of the segment. One thread; both processes are this one.
#pragma once

#include "tests/fuzz/sm/words.h"
#include "transports/sm/sm_socket.h"

namespace livebtl::fuzz {

class Neighbour {
 public:
  static constexpr std::uint64_t kNode = 1;

  Neighbour(const sm::SocketDirectory& directory, const Secret& secret, ProcessId engine,
            conformance::FakeKnem& knem, bool by_knem)
      : directory_(directory),
        engine_(engine),
        member_(line_, secret, engine, place()),
        by_knem_(by_knem),
        knem_(knem.device()) {}

  Member& member() noexcept { return member_; }

  /// A connection as the protocol requires, except for what the input has first put into the
  /// memory.
  void connect(Input& input) {
    auto made = sm::Segment::make(kRingBytes);
    must_hold(made.has_value(), "shared memory can be made");
    segment_ = std::move(made->segment);
    words_.begin(segment_);
    out_ = segment_.writer(0);
    in_ = segment_.reader(1);
    exposures_ = 0;
    confirmed_ = false;
    // What the engine exposes is accepted without being read.
    segment_.exposures(1).readable = sm::kByCma | sm::kByKnem;
    words_.put(segment_.exposures(0).probe, probe_);
    words_.put(segment_.exposures(0).probe_address,
               static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&probe_)));
    words_.put(segment_.exposures(0).probe_cookie, probe_region_.cookie());
    for (std::size_t left = input.below(4); left != 0; --left) words_.scribble(input);
    introduce(setup(), made->memory);
    Input none(nullptr, 0);
    member_.dial(none);
  }
  /// A connection with a faulty setup.
  void connect_badly(Input& input) {
    sm::Setup bad = setup();
    const std::uint8_t how = input.byte();
    if ((how & 1) != 0) bad.version = static_cast<std::uint16_t>(input.number(2));
    if ((how & 2) != 0) bad.ring_bytes = kRingBytes << input.below(16);
    if ((how & 4) != 0) bad.node = input.number(1);
    if ((how & 8) != 0) bad.to = ProcessId{input.number(1)};
    if ((how & 16) != 0) bad.from = ProcessId{input.number(1)};
    auto made = sm::Segment::make((how & 32) != 0 ? sm::kRingBytesMin : kRingBytes);
    must_hold(made.has_value(), "shared memory can be made");
    introduce(bad, made->memory);
  }

  /// Puts what is queued into the ring, and reads what the engine has written.
  void pump() {
    while (!line_.to_engine.empty() && post(line_.to_engine.front())) line_.to_engine.pop_front();
    if (reads_) read();
    if (shares_) share();
    member_.read();
    if (member_.proved() && !std::exchange(confirmed_, true)) member_.probe();
  }
  /// Does something that a member may do.
  void act(Input& input) {
    switch (input.below(10)) {
      case 0:
        return turn_over(reads_);
      case 1:
        exposed_bytes_ =
            exposed_bytes_ == 0 ? 16385 + static_cast<std::uint32_t>(input.number(2)) : 0;
        return;
      case 2:
        return turn_over(takes_exposures_);
      case 8:
        return turn_over(lends_);
      case 9:
        return turn_over(shares_);
      case 3:
        return member_.tell_of_box(core::BoxNote::kAsk, ++ordinal_);
      case 4:
        return member_.tell_of_box(static_cast<core::BoxNote>(1 + input.below(4)),
                                   static_cast<std::uint32_t>(input.below(4)));
      case 5:
        return words_.write_into_box(input, true);
      case 6:
        if (socket_) sm::ring_bell(socket_);
        return;
      default:
        return act_seldom(input);
    }
  }
  /// Changes some word of the memory.
  void scribble(Input& input) { words_.scribble(input); }

 private:
  void act_seldom(Input& input) {
    const std::size_t which = input.below(8);
    if (which == 1) socket_.reset();  // looks like the end of the process
    if (which == 2 || which == 3) turn_over(by_knem_);
  }
  static void turn_over(bool& habit) noexcept { habit = !habit; }
  static Member::Place place() {
    ByteWriter address;
    address.put(sm::kSegmentVersion);  // the version
    address.put(kNode);
    address.put(Member::kProcess);
    return {kNode, {"sm", address.take()}};
  }
  sm::Setup setup() const {
    sm::Setup setup;
    setup.node = kNode;
    setup.from = ProcessId{Member::kProcess};
    setup.to = engine_;
    setup.ring_bytes = kRingBytes;
    return setup;
  }
  void introduce(const sm::Setup& setup, const Fd& memory) {
    auto socket = directory_.connect(sm::socket_name(engine_));
    must_hold(socket.has_value() && *socket, "the engine listens");
    must_hold(sm::send_setup(*socket, setup, memory).has_value(), "a setup can be sent");
    socket_ = std::move(*socket);
  }

  // Uses the ring as intended.
  bool post(const LineFrame& frame) {
    const auto head = core::decode_head(frame.header);
    if (exposed_bytes_ != 0 && head && head->kind == core::FrameKind::kData)
      return expose(frame, exposed_bytes_);
    if (exposed_bytes_ != 0 && head && head->kind == core::FrameKind::kRts)
      return expose(frame, bytes_offered(core::decode_body<core::RtsBody>(frame.header).length));
    if (frame.payload.size() > sm::ring_payload_max(kRingBytes)) return true;
    return out_.push(frame.header, frame.payload);
  }
  // As many as the offer says, if there are so many: only then are they read into place.
  std::uint32_t bytes_offered(std::uint64_t length) const noexcept {
    return length > 16384 && length <= lent_.size() ? static_cast<std::uint32_t>(length)
                                                    : exposed_bytes_;
  }
  bool expose(const LineFrame& frame, std::uint32_t bytes) {
    const std::size_t record = sm::record_bytes(frame.header.size(), sizeof(sm::ExposureRecord));
    if (!out_.fits(record) && !out_.make_room(record)) return false;
    const sm::ExposureRecord exposure{
        ++exposures_, static_cast<std::uint16_t>(exposures_ % sm::kExposuresMax),
        static_cast<std::uint16_t>(by_knem_ ? sm::kByKnem : sm::kByCma), bytes};
    sm::ExposureWords& its = segment_.exposures(0).exposures[exposure.slot];
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(lent_.data());
    if (by_knem_ && lends_) lent_region_ = sm::KnemRegion(knem_, Bytes(lent_).first(bytes), probe_);
    words_.put(its.place, !lends_ ? 8 : by_knem_ ? lent_region_.cookie() : address);
    words_.put(its.state, exposure.number << 3U | 1U);
    out_.put<true>(frame.header, bytes_of(exposure), record, sm::RecordKind::kExposure);
    return true;
  }
  /// Puts what the engine could not read into the segment, as a member would.
  void share() {
    constexpr std::uint64_t kRefused = 4, kShared = 5;
    for (sm::ExposureWords& its : segment_.exposures(0).exposures) {
      if ((its.state & 7) == kRefused)
        words_.put(its.state, (its.state & ~std::uint64_t{7}) | kShared);
    }
  }
  void read() {
    sm::RingReader::Record record;
    for (std::size_t left = 64; left != 0 && in_.waiting(); --left) {
      switch (in_.look(sm::ring_payload_max(kRingBytes), record)) {
        case sm::RingReader::Look::kFrame:
          deliver({record.header, record.header_bytes}, record.payload);
          break;
        case sm::RingReader::Look::kExposure:
          take_exposure(record.payload);
          deliver({record.header, record.header_bytes}, {});
          break;
        case sm::RingReader::Look::kNothing:
          return;
        case sm::RingReader::Look::kCorrupt:
          must_hold(words_.spoilt(), "the engine writes no malformed record");
          reads_ = false;
          return;
      }
      in_.release();
    }
  }
  void deliver(Bytes header, Bytes payload) {
    if (core::decode_head(header)) {
      line_.from_engine.push_back(
          {Blob(header.begin(), header.end()), Blob(payload.begin(), payload.end())});
    } else {
      must_hold(words_.spoilt(), "the engine posts no malformed header");
    }
  }
  void take_exposure(Bytes payload) {
    sm::ExposureRecord exposure;
    if (!takes_exposures_ || payload.size() != sizeof exposure) return;
    std::memcpy(&exposure, payload.data(), sizeof exposure);
    words_.put(segment_.exposures(1).exposures[exposure.slot % sm::kExposuresMax].state,
               exposure.number << 3U | 3U);
  }

  const sm::SocketDirectory& directory_;
  const ProcessId engine_;
  Line line_;  // between member_ and the ring
  Member member_;
  Fd socket_;
  sm::Segment segment_;
  sm::RingWriter out_;
  sm::RingReader in_;
  std::uint64_t exposures_ = 0;
  std::uint32_t exposed_bytes_ =
      0;  // of an exposure in place of data, or with an offer; 0: none is exposed
  std::uint32_t ordinal_ = 0;  // of its last request for a box
  bool confirmed_ = false;
  bool reads_ = true;
  bool takes_exposures_ = true;
  bool lends_ = true;                        // the engine can read what is exposed to it
  bool by_knem_;                             // ... in that way
  bool shares_ = true;                       // ... or is given a copy
  const std::uint64_t probe_ = 0x1234'5678;  // shows that the engine can read here
  const std::vector<std::byte> lent_ = std::vector<std::byte>(sm::kExposureBytesMax);
  const sm::KnemDevice knem_;
  const sm::KnemRegion probe_region_{knem_, {}, probe_};
  sm::KnemRegion lent_region_;  // the last exposure; earlier ones can no longer be read
  Words words_{member_, lent_.data(), probe_region_.cookie()};
};

}  // namespace livebtl::fuzz
