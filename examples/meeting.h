// SPDX-License-Identifier: BSD-3-Clause
// examples/meeting.h -- what the examples share: an operation to wait for, a start that retries
// while the engine is busy, and a way for two processes to exchange addresses.
#pragma once

#include <livebtl/engine.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>

namespace meeting {

using livebtl::Accept;
using livebtl::Completion;
using livebtl::Engine;
using livebtl::Operation;

[[noreturn]] inline void end_with(const std::string& why) {
  std::cerr << why << std::endl;
  std::_Exit(1);
}

template <class T>
T value_or_end(livebtl::Result<T> result) {
  if (result) return std::move(*result);
  end_with(result.error().text);
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
  /// How it ended.
  livebtl::Errc end(Engine& engine) {
    while (!over) engine.progress();
    return completion.code;
  }
  void wait(Engine& engine) {
    if (const livebtl::Errc code = end(engine); code != livebtl::Errc::kOk)
      end_with(std::string("an operation ended with ") + livebtl::errc_name(code));
  }
};

/// Starts an operation; tries again while the engine is busy.
template <class Start>
void start(Engine& engine, Start start_it) {
  Accept answer = start_it();
  while (answer == Accept::kBusy) {
    engine.progress();
    answer = start_it();
  }
  if (answer != Accept::kAccepted) end_with("an operation was not accepted");
}

/// The content of a process's file: its own address, and the peer's address that it has read.
struct Card {
  livebtl::Address mine, theirs;
};

inline void write_card(const std::string& file, const Card& card) {
  std::ofstream(file + ".new", std::ios::binary)
      .write(reinterpret_cast<const char*>(&card), sizeof card);
  std::filesystem::rename(file + ".new", file);
}

inline bool read_card(const std::string& file, Card& card) {
  std::ifstream in(file, std::ios::binary);
  return static_cast<bool>(in.read(reinterpret_cast<char*>(&card), sizeof card));
}

/// How processes exchange addresses is up to them; here, in files. A file may be left over from an
/// earlier run: the peer of this run is one that has read our address.
inline livebtl::Address swap_addresses(const livebtl::Address& mine, const std::string& directory,
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

/// The two arguments of every example: 0 or 1, and a directory to meet in. If they are wrong, ends
/// the process.
struct Arguments {
  Arguments(int argc, char** argv) {
    const std::string program = std::filesystem::path(argv[0]).filename();
    if (argc != 3 || (std::strcmp(argv[1], "0") != 0 && std::strcmp(argv[1], "1") != 0))
      end_with("usage: " + program + " 0|1 DIRECTORY");
    rank = std::atoi(argv[1]);
    directory = argv[2];
    if (!std::filesystem::is_directory(directory))
      end_with(program + ": " + directory + " is not a directory; make it first");
  }
  int rank = 0;
  std::string directory;
};

}  // namespace meeting
