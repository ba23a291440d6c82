// SPDX-License-Identifier: BSD-3-Clause
// examples/hello.cc -- two processes of one job exchange tagged and active messages with the C++
// interface.
//
//   export LIVEBTL_JOB=hello LIVEBTL_SIZE=2
//   mkdir -p /tmp/hello                                (a directory to meet in)
//   ./hello 0 /tmp/hello & ./hello 1 /tmp/hello
//
// While it runs, `btlctl --job hello switch sm tcp` changes what the messages travel on.
#include <livebtl/engine.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>

namespace {

using livebtl::Accept;
using livebtl::Completion;
using livebtl::Engine;
using livebtl::Operation;

constexpr std::uint8_t kGreeting = 1;  // our active message
constexpr int kMessages = 1000;

template <class T>
T value_or_end(livebtl::Result<T> result) {
  if (result) return std::move(*result);
  std::cerr << "hello: " << result.error().text << '\n';
  std::exit(1);
}

/// An operation that one can wait for.
struct Waitable : Operation {
  std::atomic<bool> over = false;
  Completion completion;

  Waitable() {
    done = [](Operation& operation, const Completion& how) noexcept {
      auto& self = static_cast<Waitable&>(operation);
      self.completion = how;
      self.over = true;
    };
  }
  void wait(Engine& engine) {
    while (!over) engine.progress();
    if (completion.code == livebtl::Errc::kOk) return;
    std::cerr << "hello: an operation ended with " << livebtl::errc_name(completion.code) << '\n';
    std::exit(1);
  }
};

/// Starts an operation, however often the engine is busy.
template <class Start>
void start(Engine& engine, Start start_it) {
  Accept answer = start_it();
  while (answer == Accept::kBusy) {
    engine.progress();
    answer = start_it();
  }
  if (answer != Accept::kAccepted) {
    std::cerr << "hello: an operation was not accepted\n";
    std::exit(1);
  }
}

/// What stands in a process's file: its address, and whose address it has read.
struct Card {
  livebtl::Address mine, theirs;
};

void write_card(const std::string& file, const Card& card) {
  std::ofstream(file + ".new", std::ios::binary)
      .write(reinterpret_cast<const char*>(&card), sizeof card);
  std::filesystem::rename(file + ".new", file);
}

bool read_card(const std::string& file, Card& card) {
  std::ifstream in(file, std::ios::binary);
  return static_cast<bool>(in.read(reinterpret_cast<char*>(&card), sizeof card));
}

/// How the processes learn each other's address is their business; here, by files. A file may be
/// one that an earlier run has left: only who has read our address is our peer of today.
livebtl::Address swap_addresses(const livebtl::Address& mine, const std::string& directory,
                                int rank) {
  const std::string my_file = directory + "/" + std::to_string(rank);
  const std::string their_file = directory + "/" + std::to_string(1 - rank);
  Card ours{mine, {}}, theirs;
  write_card(my_file, ours);
  while (!read_card(their_file, theirs) || !(theirs.theirs == mine)) {
    if (!(theirs.mine == ours.theirs)) {
      ours.theirs = theirs.mine;
      write_card(my_file, ours);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ours.theirs = theirs.mine;
  write_card(my_file, ours);
  return theirs.mine;
}

/// Rank 0 sends numbered messages, rank 1 sends each back.
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

/// Each sends the other an active message: the handler is called there, without a receive.
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
  if (argc != 3 || (std::strcmp(argv[1], "0") != 0 && std::strcmp(argv[1], "1") != 0)) {
    std::cerr << "usage: hello 0|1 DIRECTORY\n";
    return 1;
  }
  const int rank = std::atoi(argv[1]);
  if (!std::filesystem::is_directory(argv[2])) {
    std::cerr << "hello: " << argv[2] << " is not a directory; make it first\n";
    return 1;
  }
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
  const auto peer = value_or_end(engine->peer(swap_addresses(port->address(), argv[2], rank)));
  if (!ping_pong(*engine, *port, peer, rank)) {
    std::cerr << "hello: a wrong number came back\n";
    return 1;
  }
  greet(*engine, *port, peer, rank, greeted);
  std::cout << "rank " << rank << ": " << kMessages << " messages there and back\n";
  std::filesystem::remove(std::string(argv[2]) + "/" + std::to_string(rank));
  return 0;
}
