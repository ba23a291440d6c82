// SPDX-License-Identifier: BSD-3-Clause
// examples/table.cc -- two processes of one job fill a table in the memory of one of them, with
// put, get and fetch-and-add, as a runtime other than MPI might.
//
//   g++ -std=c++20 table.cc -o table $(pkg-config --cflags --libs livebtl)
//   export LIVEBTL_JOB=table LIVEBTL_SIZE=2
//   mkdir -p /tmp/table                                (a directory to meet in)
//   ./table 0 /tmp/table & ./table 1 /tmp/table
//
// While it runs, `btlctl --job table switch sm tcp` changes the transport. It ends in milliseconds:
// raise the number of rows to have time for that.
#include "meeting.h"

#include <array>
#include <vector>

namespace {

using meeting::Engine;
using meeting::start;
using meeting::value_or_end;
using meeting::Waitable;

constexpr std::uint64_t kRows = 2000;
constexpr std::size_t kRowBytes = 10'000;
constexpr livebtl::Tag kInvitation = 1;
constexpr std::uint64_t kFinished = 99;

struct Table {
  alignas(8) std::uint64_t next_row = 0;  // drawn by fetch-and-add
  std::array<std::array<char, kRowBytes>, kRows> rows{};
};

/// What the other process must know of the table.
struct Invitation {
  std::uint64_t key = 0;
};

/// A process's access to the table, whether its own or the other's.
struct Way {
  Engine& engine;
  livebtl::Port& port;
  livebtl::Destination owner;
  std::uint64_t key = 0;

  std::uint64_t draw_row() {
    std::uint64_t row = 0;
    const std::uint64_t one = 1;
    livebtl::AtomicRequest request;
    request.to = owner;
    request.remote = {key, offsetof(Table, next_row)};
    request.op = livebtl::AtomicOp::kSum;
    request.operand = &one;
    request.fetched = &row;
    Waitable adding;
    start(engine, [&] { return port.atomic(request, adding); });
    adding.wait(engine);
    return row;
  }
  livebtl::Remote row_at(std::uint64_t row) const {
    return {key, offsetof(Table, rows) + row * kRowBytes};
  }
  void write_row(std::uint64_t row, const std::vector<char>& text) {
    const livebtl::Slice slice{text.data(), text.size()};
    Waitable putting;
    start(engine, [&] {
      return port.put({.to = owner, .remote = row_at(row), .slices = {&slice, 1}}, putting);
    });
    putting.wait(engine);
  }
  bool row_holds(std::uint64_t row, const std::vector<char>& text) {
    std::vector<char> found(text.size());
    const livebtl::MutableSlice slice{found.data(), found.size()};
    Waitable getting;
    start(engine, [&] {
      return port.get({.to = owner, .remote = row_at(row), .slices = {&slice, 1}}, getting);
    });
    getting.wait(engine);
    return found == text;
  }
};

/// Rank 0 owns the table and tells rank 1 its key.
std::uint64_t invite(Engine& engine, livebtl::Port& port, const livebtl::Destination& peer,
                     Table& table) {
  livebtl::RegionRequest region;
  region.base = &table;
  region.bytes = sizeof table;
  const Invitation invitation{value_or_end(port.register_region(region))};
  const livebtl::Slice slice{&invitation, sizeof invitation};
  livebtl::SendRequest send;
  send.to = peer;
  send.tag = kInvitation;
  send.slices = {&slice, 1};
  Waitable sending;
  start(engine, [&] { return port.send(send, sending); });
  sending.wait(engine);
  return invitation.key;
}

std::uint64_t be_invited(Engine& engine, livebtl::Port& port) {
  Invitation invitation;
  const livebtl::MutableSlice room{&invitation, sizeof invitation};
  livebtl::ReceiveRequest receive;
  receive.tag = kInvitation;
  receive.slices = {&room, 1};
  Waitable receiving;
  start(engine, [&] { return port.receive(receive, receiving); });
  receiving.wait(engine);
  return invitation.key;
}

/// Draws and fills rows until none is left. Returns how many.
std::uint64_t fill(Way& way, int rank) {
  std::uint64_t filled = 0;
  for (std::uint64_t row = way.draw_row(); row < kRows; row = way.draw_row(), ++filled) {
    const std::vector<char> text(kRowBytes, static_cast<char>('0' + rank));
    way.write_row(row, text);
    if (!way.row_holds(row, text)) meeting::end_with("a row does not hold what was put there");
  }
  return filled;
}

/// A put of no bytes but 64 bits of remote data: tells the owner that we have finished.
void say_finished(Way& way) {
  Waitable putting;
  start(way.engine, [&] {
    return way.port.put({.to = way.owner, .remote = {way.key, 0}, .slices = {}, .data = kFinished},
                        putting);
  });
  putting.wait(way.engine);
}

bool every_row_is_one_s(const Table& table) {
  for (const auto& row : table.rows) {
    for (const char each : row) {
      if ((each != '0' && each != '1') || each != row[0]) return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const meeting::Arguments arguments(argc, argv);
  const auto table = std::make_unique<Table>();
  const auto engine = value_or_end(Engine::acquire());
  const auto port = value_or_end(engine->open_port({}));
  std::atomic<bool> other_finished = false;
  port->on_remote_access(
      [](void* user, const livebtl::RemoteAccess& access) noexcept {
        if (access.data == kFinished) *static_cast<std::atomic<bool>*>(user) = true;
      },
      &other_finished);
  const auto peer = value_or_end(
      engine->peer(meeting::swap_addresses(port->address(), arguments.directory, arguments.rank)));
  const bool owns = arguments.rank == 0;
  Way way{*engine, *port, owns ? value_or_end(engine->peer(port->address())) : peer, 0};
  way.key = owns ? invite(*engine, *port, peer, *table) : be_invited(*engine, *port);
  const std::uint64_t filled = fill(way, arguments.rank);
  std::cout << "rank " << arguments.rank << ": " << filled << " of " << kRows << " rows"
            << std::endl;
  if (!owns) say_finished(way);
  while (owns && !other_finished) engine->progress();
  if (owns && !every_row_is_one_s(*table)) meeting::end_with("rows were mixed up");
  std::filesystem::remove(arguments.directory + "/" + std::to_string(arguments.rank));
  return 0;
}
