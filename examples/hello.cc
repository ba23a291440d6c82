// SPDX-License-Identifier: BSD-3-Clause
// examples/hello.cc -- two processes of one job exchange tagged and active messages through the C++
// interface.
//
//   g++ -std=c++20 hello.cc -o hello $(pkg-config --cflags --libs livebtl)
//   export LIVEBTL_JOB=hello LIVEBTL_SIZE=2
//   mkdir -p /tmp/hello                                (a directory to meet in)
//   ./hello 0 /tmp/hello & ./hello 1 /tmp/hello
//
// While it runs, `btlctl --job hello switch sm tcp` changes the messages' transport. It ends in
// milliseconds: raise its number of round trips to have time for that.
#include "meeting.h"

namespace {

using meeting::Engine;
using meeting::start;
using meeting::value_or_end;
using meeting::Waitable;

constexpr std::uint8_t kGreeting = 1;  // our active message
constexpr int kMessages = 1000;

/// Rank 0 sends numbered messages; rank 1 sends each one back.
bool ping_pong(Engine& engine, livebtl::Port& port, const livebtl::Destination& peer, int rank) {
  for (int number = 0; number < kMessages; ++number) {
    int out = number, in = -1;
    const livebtl::Slice slice{&out, sizeof out};
    const livebtl::MutableSlice room{&in, sizeof in};
    Waitable sending, receiving;
    livebtl::ReceiveRequest receive;
    receive.tag = 42;
    receive.from = peer;
    receive.slices = {&room, 1};
    start(engine, [&] { return port.receive(receive, receiving); });
    if (rank == 1) receiving.wait(engine);
    if (rank == 1) out = in;
    livebtl::SendRequest send;
    send.to = peer;
    send.tag = 42;
    send.slices = {&slice, 1};
    start(engine, [&] { return port.send(send, sending); });
    sending.wait(engine);
    receiving.wait(engine);
    if (in != number) return false;
  }
  return true;
}

/// Each rank sends the other an active message, which calls its handler without a receive.
void greet(Engine& engine, livebtl::Port& port, const livebtl::Destination& peer, int rank,
           const std::atomic<bool>& greeted) {
  const std::string text = "hello from rank " + std::to_string(rank);
  const livebtl::Slice slice{text.data(), text.size()};
  Waitable sending;
  start(engine, [&] {
    return port.send_active(peer, kGreeting, text.size(), {&slice, 1}, sending);
  });
  sending.wait(engine);
  while (!greeted) engine.progress();
}

}  // namespace

int main(int argc, char** argv) {
  const meeting::Arguments arguments(argc, argv);
  const int rank = arguments.rank;
  const auto engine = value_or_end(Engine::acquire());
  const auto port = value_or_end(engine->open_port({}));
  std::atomic<bool> greeted = false;
  port->on_active(kGreeting, [&](const livebtl::ActiveMessage& message) {
    std::cout << "rank " << rank << " was told: "
              << std::string(reinterpret_cast<const char*>(message.payload.data()),
                             message.payload.size())
              << std::endl;
    greeted = true;
  });
  const auto peer = value_or_end(
      engine->peer(meeting::swap_addresses(port->address(), arguments.directory, rank)));
  if (!ping_pong(*engine, *port, peer, rank)) {
    std::cerr << "hello: a wrong number came back\n";
    return 1;
  }
  greet(*engine, *port, peer, rank, greeted);
  std::cout << "rank " << rank << ": " << kMessages << " messages there and back\n";
  std::filesystem::remove(arguments.directory + "/" + std::to_string(rank));
  return 0;
}
