// SPDX-License-Identifier: BSD-3-Clause
// examples/tally.cc -- two processes of one job write a journal in the memory of one of them, under
// a lock in the same memory: compare-and-swap, several puts and a flush, virtual addressing, and
// what a peer sees when the owner takes its memory back. Sequel to examples/table.cc, and built and
// run like it:
//
//   export LIVEBTL_JOB=tally LIVEBTL_SIZE=2
//   mkdir -p /tmp/tally
//   ./tally 0 /tmp/tally & ./tally 1 /tmp/tally
#include "meeting.h"

#include <array>

namespace {

using meeting::Engine;
using meeting::start;
using meeting::value_or_end;
using meeting::Waitable;

constexpr std::uint64_t kTurns = 500;  // of each process
constexpr livebtl::Tag kInvitation = 1, kFinished = 2, kGone = 3, kSeen = 4;

struct Entry {
  std::array<std::uint64_t, 3> words{};  // all three the same
};
struct Journal {
  std::uint64_t lock = 0;  // 0: free; else its holder
  std::uint64_t count = 0;
  std::array<Entry, 2 * kTurns> entries{};
};

/// What the other process must know: with virtual addressing, our own pointers name places.
struct Invitation {
  std::uint64_t key = 0;
  Journal* journal = nullptr;
};

struct Way {
  Engine& engine;
  livebtl::Port& port;
  livebtl::Destination owner;
  Invitation there;

  livebtl::Remote at(const void* pointer) const {
    return {there.key, reinterpret_cast<std::uint64_t>(pointer)};
  }

  std::uint64_t swap_if(std::uint64_t expected, std::uint64_t wanted, std::uint64_t* word) {
    std::uint64_t found = 0;
    livebtl::AtomicRequest request{.to = owner, .remote = at(word)};
    request.op = livebtl::AtomicOp::kCompareSwap;
    request.operand = &wanted;
    request.compare = &expected;
    request.fetched = &found;
    Waitable swapping;
    start(engine, [&] { return port.atomic(request, swapping); });
    swapping.wait(engine);
    return found;
  }
  std::uint64_t get(std::uint64_t* word) {
    std::uint64_t found = 0;
    const livebtl::MutableSlice slice{&found, sizeof found};
    Waitable getting;
    start(engine, [&] {
      return port.get({.to = owner, .remote = at(word), .slices = {&slice, 1}}, getting);
    });
    getting.wait(engine);
    return found;
  }
  /// value: must stay valid until `putting` is over.
  void begin_put(const std::uint64_t& value, std::uint64_t* word, Waitable& putting) {
    const livebtl::Slice slice{&value, sizeof value};
    start(engine, [&] {
      return port.put({.to = owner, .remote = at(word), .slices = {&slice, 1}}, putting);
    });
  }
  /// On return, every earlier operation towards the owner is over; each was told its own result.
  void flush() {
    Waitable flushing;
    start(engine, [&] { return port.flush(owner, flushing); });
    flushing.wait(engine);
  }
};

/// Writes one entry, while nobody else writes.
void write_entry(Way& way, std::uint64_t who) {
  Journal& journal = *way.there.journal;  // for addresses only: the memory is the owner's
  while (way.swap_if(0, who, &journal.lock) != 0) {
  }
  const std::uint64_t count = way.get(&journal.count), next = count + 1;
  Entry& entry = journal.entries[count];
  std::array<Waitable, 4> putting;
  way.begin_put(next, &journal.count, putting[3]);
  for (std::size_t i = 0; i < entry.words.size(); ++i)
    way.begin_put(who, &entry.words[i], putting[i]);
  way.flush();  // in whatever order they arrived, all puts are in place
  for (Waitable& each : putting) each.wait(way.engine);
  if (way.swap_if(who, 0, &journal.lock) != who) meeting::end_with("the lock was taken away");
}

template <class Content>
void tell(Way& way, const livebtl::Destination& to, livebtl::Tag tag, const Content& content) {
  const livebtl::Slice slice{&content, sizeof content};
  livebtl::SendRequest send{.to = to, .tag = tag};
  send.slices = {&slice, 1};
  Waitable sending;
  start(way.engine, [&] { return way.port.send(send, sending); });
  sending.wait(way.engine);
}

template <class Content>
Content hear(Way& way, livebtl::Tag tag) {
  Content content{};
  const livebtl::MutableSlice room{&content, sizeof content};
  livebtl::ReceiveRequest receive{.tag = tag};
  receive.slices = {&room, 1};
  Waitable receiving;
  start(way.engine, [&] { return way.port.receive(receive, receiving); });
  receiving.wait(way.engine);
  return content;
}

bool is_whole(const Journal& journal) {
  std::array<std::uint64_t, 3> by_whom{};
  for (const Entry& entry : journal.entries) {
    const auto [one, two, three] = entry.words;
    if (one != two || two != three || one == 0 || one > 2) return false;
    ++by_whom[one];
  }
  return journal.count == journal.entries.size() && by_whom[1] == kTurns && by_whom[2] == kTurns;
}

void own(Way& way, const livebtl::Destination& peer, Journal& journal) {
  livebtl::RegionRequest region;
  region.base = &journal;
  region.bytes = sizeof journal;
  region.virtual_addressing = true;
  way.there = {value_or_end(way.port.register_region(region)), &journal};
  tell(way, peer, kInvitation, way.there);
  for (std::uint64_t i = 0; i < kTurns; ++i) write_entry(way, 1);
  hear<char>(way, kFinished);
  if (const auto done = way.port.deregister_region(way.there.key); !done)
    meeting::end_with(done.error().text);
  // From here on no peer can access the journal, whatever is still under way.
  if (!is_whole(journal)) meeting::end_with("the journal is not whole");
  std::cout << "rank 0: " << journal.count << " entries" << std::endl;
  tell(way, peer, kGone, 'g');
  hear<char>(way, kSeen);
}

void be_guest(Way& way) {
  way.there = hear<Invitation>(way, kInvitation);
  for (std::uint64_t i = 0; i < kTurns; ++i) write_entry(way, 2);
  tell(way, way.owner, kFinished, 'f');
  hear<char>(way, kGone);
  const std::uint64_t late = 3;
  Waitable putting;
  way.begin_put(late, &way.there.journal->count, putting);
  const livebtl::Errc code = putting.end(way.engine);
  if (code != livebtl::Errc::kBadKey) meeting::end_with("memory that was taken back was written");
  std::cout << "rank 1: refused with " << livebtl::errc_name(code) << std::endl;
  tell(way, way.owner, kSeen, 's');
}

}  // namespace

int main(int argc, char** argv) {
  const meeting::Arguments arguments(argc, argv);
  const auto journal = std::make_unique<Journal>();
  const auto engine = value_or_end(Engine::acquire());
  const auto port = value_or_end(engine->open_port({}));
  const auto peer = value_or_end(
      engine->peer(meeting::swap_addresses(port->address(), arguments.directory, arguments.rank)));
  if (arguments.rank == 0) {
    Way way{*engine, *port, value_or_end(engine->peer(port->address())), {}};
    own(way, peer, *journal);
  } else {
    Way way{*engine, *port, peer, {}};
    be_guest(way);
  }
  std::filesystem::remove(arguments.directory + "/" + std::to_string(arguments.rank));
  return 0;
}
