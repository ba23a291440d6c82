// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/zero_copy_memory.cc -- behaviours of transports with zero-copy reads: who owns
// memory when it is wanted back, when a connection ends, and when it is remapped.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>

#include "tests/conformance/behaviours.h"
#include "tests/conformance/zero_copy.h"

namespace livebtl::conformance {
namespace {

/// In mid-transfer `wants` takes its memory back: what it writes there stays, and what arrives is
/// right, or the connection ends.
void memory_is_wanted_back(const Subject& subject, std::unique_ptr<End> Link::*wants) {
  for (const int turns : {0, 1, 2, 3, 4, 5, 20}) {
    Rig rig(subject);
    if (!exposes_and_ends(rig)) return;
    Link link = rig.link();
    Blob place(rig.zero_copy_max(), std::byte{0});
    link.b->place = [&](Bytes, std::size_t) { return MutableBytes(place); };
    Exposures exposures(*link.a);
    exposures.expose_at_once(2, rig.zero_copy_max());
    for (int i = 0; i < turns; ++i) rig.turn();
    link.b->place = nullptr;
    const Blob seen = place;
    (link.*wants)->endpoint().let_go();
    if (wants == &Link::a) exposures.overwrite();
    if (wants == &Link::b) std::fill(place.begin(), place.end(), std::byte{0xDD});
    rig.settle_long();
    REQUIRE(rig.until([&] {
      return link.b->frames == exposures.posted.size() ||
             (!link.a->downs.empty() && !link.b->downs.empty());
    }));
    rig.settle();
    for (std::size_t i = 0; i < link.b->received.size(); ++i)
      CHECK(link.b->received[i].payload == pattern(i + 1, rig.zero_copy_max()));
    if (wants == &Link::b)
      CHECK(std::ranges::all_of(place, [](std::byte each) { return each == std::byte{0xDD}; }));
  }
}
void the_lender_wants_its_memory_back(const Subject& subject) {
  memory_is_wanted_back(subject, &Link::a);
}
void the_reader_wants_its_memory_back(const Subject& subject) {
  memory_is_wanted_back(subject, &Link::b);
}

/// Each payload is right, or was taken along by a sender that may have closed.
void check_whole(const End& end, std::size_t bytes, bool may_lack) {
  for (std::size_t i = 0; i < end.received.size(); ++i) {
    const Blob& payload = end.received[i].payload;
    CHECK(((may_lack && payload.empty()) || payload == pattern(i + 1, bytes)));
  }
}

/// One end closes in mid-transfer; from then on both ends own their memory.
void closing_in_the_middle(const Subject& subject) {
  for (int turns = 0; turns < 8; ++turns) {
    Rig rig(subject);
    if (!exposes_and_ends(rig)) return;
    Link link = rig.link();
    Blob place(rig.zero_copy_max());
    link.b->place = [&](Bytes, std::size_t) { return MutableBytes(place); };
    Exposures exposures(*link.a);
    exposures.expose_at_once(2, rig.zero_copy_max());
    for (int i = 0; i < turns / 2; ++i) rig.turn();
    End& closing = turns % 2 == 0 ? *link.a : *link.b;
    End& other = turns % 2 == 0 ? *link.b : *link.a;
    closing.close();
    if (turns % 2 == 0) exposures.overwrite();
    if (turns % 2 == 1) std::fill(place.begin(), place.end(), std::byte{0xDD});
    rig.settle_long();
    REQUIRE(rig.until([&] { return !other.downs.empty(); }));
    rig.settle();
    check_whole(*link.b, rig.zero_copy_max(), turns % 2 == 0);
    if (turns % 2 == 1)
      CHECK(std::ranges::all_of(place, [](std::byte each) { return each == std::byte{0xDD}; }));
    other.close();
    REQUIRE(rig.until_usable());
    Link again = rig.link();
    REQUIRE(transfer(rig, *again.a, *again.b, {{1, 8, 8}}));
  }
}

/// A payload that nobody wants, or whose sender has ended, holds up nothing that lies behind it.
void what_lies_behind_it_arrives(const Subject& subject) {
  for (const bool wanted : {false, true}) {
    Rig rig(subject);
    if (!exposes_and_ends(rig) || rig.a().transport->caps().keeps) return;
    Link link = rig.link();
    link.b->wants_exposed = wanted;
    Exposures exposures(*link.a);
    exposures.expose_at_once(1, rig.zero_copy_max());
    REQUIRE(link.a->post_pattern(7, 16, 100) == Post::kDone);
    link.a->close();
    exposures.overwrite();
    REQUIRE(rig.until([&] { return !link.b->downs.empty(); }));
    REQUIRE(link.b->received.size() == 2);
    const Blob& payload = link.b->received[0].payload;
    CHECK((payload.empty() || (wanted && payload == pattern(1, rig.zero_copy_max()))));
    CHECK(link.b->received[1].payload == pattern(8, 100));
  }
}

/// Pages that can be replaced by others at the same address.
class Pages {
 public:
  explicit Pages(std::size_t bytes) : bytes_(bytes) { renew(); }
  ~Pages() { ::munmap(begin_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  void renew() {
    if (begin_ != nullptr) REQUIRE(::munmap(begin_, bytes_) == 0);
    const int fixed = begin_ != nullptr ? MAP_FIXED_NOREPLACE : 0;
    void* const made =
        ::mmap(begin_, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
    REQUIRE(made != MAP_FAILED);
    begin_ = made;
  }
  MutableBytes memory() const { return {static_cast<std::byte*>(begin_), bytes_}; }

 private:
  std::size_t bytes_;
  void* begin_ = nullptr;
};

/// Between two payloads the memory of both ends is unmapped and mapped again at the same place: T12
/// of the acceptance tests.
void memory_is_mapped_anew(const Subject& subject) {
  Rig rig(subject);
  if (!exposes(rig)) return;
  Link link = rig.link();
  const std::size_t bytes = rig.zero_copy_max();
  Pages from(bytes), to(bytes);
  std::size_t in_place = 0;
  link.b->place = [&](Bytes, std::size_t) { return to.memory(); };
  link.b->on_each = [&](Bytes, Bytes payload) { in_place += payload.data() == to.memory().data(); };
  for (std::uint64_t round = 0; round < 8; ++round) {
    from.renew();
    to.renew();
    const Blob wanted = pattern(round, bytes);
    std::ranges::copy(wanted, from.memory().begin());
    const Blob header = pattern(round, 8);
    REQUIRE(rig.until([&] {
      return link.a->endpoint().post({header, from.memory(), round, true, true}) == Post::kPosted;
    }));
    REQUIRE(rig.until(
        [&] { return link.a->sent.size() == round + 1 && link.b->received.size() == round + 1; }));
    CHECK(link.b->received.back().payload == wanted);
    if (in_place == round + 1) CHECK(std::ranges::equal(to.memory(), wanted));
  }
}

constexpr std::array kMemoryBehaviours{
    Behaviour{"exposed memory is given back at once when it is wanted",
              the_lender_wants_its_memory_back},
    Behaviour{"a reader has its memory back at once", the_reader_wants_its_memory_back},
    Behaviour{"closing while something is exposed", closing_in_the_middle},
    Behaviour{"what lies behind an exposed payload", what_lies_behind_it_arrives},
    Behaviour{"memory that is mapped anew at its old address", memory_is_mapped_anew},
};

}  // namespace

std::span<const Behaviour> zero_copy_memory_behaviours() { return kMemoryBehaviours; }

}  // namespace livebtl::conformance
