// SPDX-License-Identifier: BSD-3-Clause
// tests/fuzz/sm/conversation.h -- two honest engines that send each other numbered messages of all
// sizes, and demand that each arrives once, whole and in order, whatever a third process does to
// one of the engines. One thread.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "core/engine/engine_core.h"
#include "tests/fuzz/reached.h"

namespace livebtl::fuzz {

class Conversation {
 public:
  Conversation(core::EngineCore& one, core::EngineCore& two) {
    open(ends_[0], one);
    open(ends_[1], two);
    for (std::size_t i = 0; i < 2; ++i) {
      auto other = ends_[i].engine->peer(ends_[1 - i].port->address());
      must_hold(other.has_value(), "an honest address is understood");
      ends_[i].other = *other;
      await(ends_[i]);
    }
  }
  ~Conversation() {
    for (End& end : ends_) end.port.reset();
  }

  void send(std::size_t from) {
    End& end = ends_[from];
    if (end.number_out - ends_[1 - from].number_in >= kUnderwayMax) return;
    const std::size_t bytes = bytes_of(end.number_out);
    const bool small = bytes <= kInjectBytesMin;
    if (!small && !end.out.over) return;  // its buffer is in use
    std::vector<std::byte>& buffer = small ? small_ : end.out.buffer;
    fill(buffer, end.number_out);
    const Slice slice{buffer.data(), bytes};
    SendRequest request{.to = end.other, .tag = end.number_out};
    request.slices = {&slice, 1};
    end.out.over = end.out.over && small;
    const Accept accepted = small ? end.port->inject(request) : end.port->send(request, end.out);
    if (accepted == Accept::kAccepted) ++end.number_out;
    if (accepted != Accept::kAccepted && !small) end.out.over = true;
  }
  /// Takes what has arrived.
  void turn() {
    for (End& end : ends_) {
      if (!end.in.over) continue;
      check(end);
      await(end);
    }
  }
  bool settled() const noexcept {
    return ends_[0].number_in == ends_[1].number_out && ends_[1].number_in == ends_[0].number_out &&
           ends_[0].out.over && ends_[1].out.over;
  }

 private:
  static constexpr std::uint64_t kUnderwayMax = 8;

  struct Transfer : Operation {
    std::vector<std::byte> buffer = std::vector<std::byte>(40000);
    Completion how{};
    bool over = true;

    Transfer() {
      done = [](Operation& operation, const Completion& completion) noexcept {
        auto& self = static_cast<Transfer&>(operation);
        self.how = completion;
        self.over = true;
      };
    }
  };
  struct End {
    core::EngineCore* engine = nullptr;
    Destination other{};
    std::uint64_t number_out = 0, number_in = 0;
    Transfer out, in;
    std::unique_ptr<Port> port;  // closes before the operations are destroyed
  };

  static std::size_t bytes_of(std::uint64_t number) {
    constexpr std::size_t kSizes[] = {8, 40, 0, 64, 17, 3000, 8, 20000, 1, 33, 40000};
    return kSizes[number % std::size(kSizes)];
  }
  static void fill(std::vector<std::byte>& buffer, std::uint64_t number) {
    for (std::size_t i = 0; i < bytes_of(number); ++i)
      buffer[i] = static_cast<std::byte>(number * 31 + i);
  }
  static void open(End& end, core::EngineCore& engine) {
    end.engine = &engine;
    auto port = engine.open_port({});
    must_hold(port.has_value(), "a port can be opened");
    end.port = std::move(*port);
  }
  static void await(End& end) {
    const MutableSlice slice{end.in.buffer.data(), end.in.buffer.size()};
    ReceiveRequest request{.ignore = ~Tag{0}, .from = end.other};
    request.slices = {&slice, 1};
    end.in.over = false;
    must_hold(end.port->receive(request, end.in) == Accept::kAccepted, "a receive is accepted");
  }
  static void check(End& end) {
    const Completion& how = end.in.how;
    must_hold(how.code == Errc::kOk, "honest messages arrive");
    must_hold(how.tag == end.number_in && how.bytes == bytes_of(end.number_in), "... in order");
    for (std::size_t i = 0; i < how.bytes; ++i)
      must_hold(end.in.buffer[i] == static_cast<std::byte>(end.number_in * 31 + i),
                "... unchanged");
    ++end.number_in;
  }

  std::vector<std::byte> small_ = std::vector<std::byte>(kInjectBytesMin);
  std::array<End, 2> ends_;
};

}  // namespace livebtl::fuzz
