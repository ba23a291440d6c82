// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/rig.cc -- see rig.h.
#include "tests/conformance/rig.h"

#include <doctest/doctest.h>

namespace livebtl::conformance {

Blob pattern(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  Blob blob(count);
  for (std::size_t i = 0; i < count; i += 8) {
    const std::uint64_t word = random.next();
    std::memcpy(blob.data() + i, &word, std::min<std::size_t>(8, count - i));
  }
  return blob;
}

void End::take(std::unique_ptr<Endpoint> endpoint) {
  REQUIRE(endpoint);
  endpoint_ = std::move(endpoint);
  endpoint_->attach(*this);
}

void End::close() { endpoint_.reset(); }

Post End::post_pattern(std::uint64_t seed, std::size_t header_bytes, std::size_t payload_bytes) {
  const Blob header = pattern(seed, header_bytes);
  const Blob payload = pattern(seed + 1, payload_bytes);
  return endpoint_->post({header, payload, seed, false});
}

MutableBytes End::on_place(Bytes header, std::size_t payload_bytes, bool) noexcept {
  CHECK(downs.empty());
  return place ? place(header, payload_bytes) : MutableBytes{};
}

void End::on_frame(Bytes header, Bytes payload) noexcept {
  CHECK_MESSAGE(downs.empty(), "a frame after on_down()");
  CHECK(header.size() >= 1);
  CHECK(header.size() <= core::kHeaderBytesMax);
  ++frames;
  if (keep_frames)
    received.push_back({Blob(header.begin(), header.end()), Blob(payload.begin(), payload.end())});
  if (on_each) on_each(header, payload);
}

void End::on_sent(std::uint64_t cookie) noexcept {
  CHECK_MESSAGE(downs.empty(), "on_sent() after on_down()");
  sent.push_back(cookie);
}

void End::on_down(const Error& why) noexcept {
  CHECK_MESSAGE(downs.empty(), "a second on_down()");
  CHECK_MESSAGE(why.code != Errc::kOk, "on_down() must say why");
  CHECK_MESSAGE(!why.text.empty(), "on_down() must say it to people, too");
  downs.push_back(why);
}

std::size_t Side::turn(std::size_t frames_max) {
  return transport->progress(*this, monotonic_now() + ahead, frames_max);
}

void Side::on_accept(std::unique_ptr<Endpoint> endpoint) noexcept {
  CHECK(endpoint != nullptr);
  accepted.push_back(std::move(endpoint));
}

namespace {

std::unique_ptr<Side> make_side(const Subject& subject, std::uint64_t process) {
  auto made = subject.make(process);
  REQUIRE_MESSAGE(made.has_value(), (made ? std::string() : made.error().text));
  return std::make_unique<Side>(std::move(*made));
}

}  // namespace

Rig::Rig(const Subject& subject) : subject_(subject), a_(make_side(subject, 1)) {
  if (!subject.loopback) b_ = make_side(subject, 2);
}

void Rig::start_b() {
  REQUIRE(!subject_.loopback);
  b_ = make_side(subject_, 2);
}

void Rig::turn() {
  a_->turn();
  if (b_) b_->turn();
}

void Rig::turn_sender(Side& sender) {
  if (!subject_.loopback) sender.turn();
}

bool Rig::until(const std::function<bool()>& condition) {
  const TimeNs deadline = monotonic_now() + kDeadlineNs;
  while (!condition()) {
    if (monotonic_now() > deadline) return false;
    turn();
  }
  return true;
}

bool Rig::until_usable() {
  return until([&] { return a().transport->usable() && b().transport->usable(); });
}

bool Rig::post_soon(Side& sender, End& end, const Expected& frame) {
  const TimeNs deadline = monotonic_now() + kDeadlineNs;
  while (end.post_pattern(frame.seed, frame.header_bytes, frame.payload_bytes) == Post::kRetry) {
    if (monotonic_now() > deadline) return false;
    turn_sender(sender);
  }
  return true;
}

void Rig::settle_long() {
  settle();
  for (int steps = 0; steps < 30; ++steps) {
    for (Side* side : {&a(), &b()}) side->ahead += kSecond;
    turn();
  }
}

void Rig::settle() {
  // Enough turns for what a transport does rarely, and enough time for what it does by the clock.
  const TimeNs end = monotonic_now() + 20 * kMillisecond;
  for (int i = 0; i < 2000 || monotonic_now() < end; ++i) turn();
}

std::unique_ptr<Endpoint> Rig::dial(Side& from, Side& to) {
  auto dialled = from.transport->connect(to.transport->contact());
  REQUIRE_MESSAGE(dialled.has_value(), (dialled ? std::string() : dialled.error().text));
  if (!from.transport->caps().by_ticket) return std::move(*dialled);
  auto admitted = to.transport->by_ticket()->admit((*dialled)->by_ticket()->ticket());
  REQUIRE_MESSAGE(admitted.has_value(), (admitted ? std::string() : admitted.error().text));
  (*dialled)->by_ticket()->take_ticket((*admitted)->by_ticket()->ticket());
  to.accepted.push_back(std::move(*admitted));
  return std::move(*dialled);
}

Link Rig::link(Side& from, Side& to, bool trusted) {
  Link link;
  link.a->take(dial(from, to));
  bool taken = false;
  REQUIRE(until([&] {
    if (!taken) taken = link.a->post_pattern(7, 8, 16) != Post::kRetry;
    if (!link.b->open() && !to.accepted.empty()) {
      link.b->take(std::move(to.accepted.front()));
      to.accepted.pop_front();
    }
    if (!link.a->downs.empty()) FAIL(link.a->downs[0].text);
    return link.b->frames == 1 && link.a->endpoint().in_flight() == 0;
  }));
  link.b->received.clear();
  link.b->frames = 0;
  if (trusted) {
    link.a->endpoint().trust();
    link.b->endpoint().trust();
  }
  return link;
}

bool transfer(Rig& rig, End& from, End& to, const std::vector<Expected>& frames) {
  std::size_t next = 0;
  const std::size_t before = to.frames;
  return rig.until([&] {
    while (next < frames.size() && from.post_pattern(frames[next].seed, frames[next].header_bytes,
                                                     frames[next].payload_bytes) != Post::kRetry)
      ++next;
    return to.frames == before + frames.size();
  });
}

void check_received(const End& end, const std::vector<Expected>& frames, bool whole) {
  if (whole) REQUIRE(end.received.size() == frames.size());
  REQUIRE(end.received.size() <= frames.size());
  for (std::size_t i = 0; i < end.received.size(); ++i) {
    INFO("frame " << i << ", header " << frames[i].header_bytes << ", payload "
                  << frames[i].payload_bytes);
    REQUIRE(end.received[i].header == pattern(frames[i].seed, frames[i].header_bytes));
    REQUIRE(end.received[i].payload == pattern(frames[i].seed + 1, frames[i].payload_bytes));
  }
}

}  // namespace livebtl::conformance
