// SPDX-License-Identifier: BSD-3-Clause
// bench/tcp_pingpong.cc -- what our tcp endpoint costs over bare sockets with the same options,
// bytes and checksums.
//
//   tcp_pingpong [rounds] [crc]
// Two processes on the loopback; runs with our endpoint and with bare sockets alternate, and the
// median of their ratios is printed: single figures vary too much on shared machines.
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "base/crc32c.h"
#include "transports/tcp/tcp_transport.h"

namespace livebtl::tcp {
namespace {

constexpr std::size_t kHeaderBytes = 40;  // an eager message's
constexpr std::size_t kFrameOverhead = sizeof(Prelude) + kHeaderBytes;
constexpr std::size_t kMessageBytesMax = 1u << 20;

/// Spins; processes that share a core must yield now and then, in the same way with either channel.
class Spin {
 public:
  void idle() noexcept {
    if (++turns_ % 256 == 0) ::sched_yield();
  }

 private:
  unsigned turns_ = 0;
};

void check(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "tcp_pingpong: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

class Channel {
 public:
  virtual ~Channel() = default;
  virtual void send(Bytes message) = 0;
  virtual void receive(MutableBytes message) = 0;
};

/// As written by hand: both ends know the length, the rest is bytes.
class BareChannel final : public Channel {
 public:
  BareChannel(Fd fd, bool crc) : fd_(std::move(fd)), crc_(crc) {}

  void send(Bytes message) override {
    std::array<std::byte, kFrameOverhead> head{};
    const std::uint32_t sum = crc_ ? crc32c(message) : 0;
    std::memcpy(head.data(), &sum, sizeof(sum));
    if (message.size() <= 512) {
      std::array<std::byte, kFrameOverhead + 512> joined;
      std::memcpy(joined.data(), head.data(), head.size());
      std::memcpy(joined.data() + head.size(), message.data(), message.size());
      return write({joined.data(), head.size() + message.size()}, {});
    }
    write(head, message);
  }
  void receive(MutableBytes message) override {
    std::array<std::byte, kFrameOverhead> head{};
    std::array<iovec, 2> pieces{{{head.data(), head.size()}, {message.data(), message.size()}}};
    std::size_t rest = head.size() + message.size();
    while (rest > 0) {
      const ssize_t count = ::readv(fd_.number(), pieces.data(), 2);
      check(count > 0 || (count < 0 && errno == EAGAIN), "read");
      if (count < 0) {
        spin_.idle();
        continue;
      }
      rest -= static_cast<std::size_t>(count);
      skip(pieces, static_cast<std::size_t>(count));
    }
    std::uint32_t sum = 0;
    std::memcpy(&sum, head.data(), sizeof(sum));
    check(!crc_ || sum == crc32c(message), "checksum");
  }

 private:
  void write(Bytes head, Bytes message) {
    std::array<iovec, 2> pieces{{{const_cast<std::byte*>(head.data()), head.size()},
                                 {const_cast<std::byte*>(message.data()), message.size()}}};
    std::size_t rest = head.size() + message.size();
    while (rest > 0) {
      msghdr text{};
      text.msg_iov = pieces.data();
      text.msg_iovlen = message.empty() ? 1 : 2;
      const ssize_t count = ::sendmsg(fd_.number(), &text, MSG_NOSIGNAL);
      check(count > 0 || (count < 0 && errno == EAGAIN), "write");
      if (count < 0) {
        spin_.idle();
        continue;
      }
      rest -= static_cast<std::size_t>(count);
      skip(pieces, static_cast<std::size_t>(count));
    }
  }
  static void skip(std::array<iovec, 2>& pieces, std::size_t bytes) {
    for (iovec& piece : pieces) {
      const std::size_t part = std::min(bytes, piece.iov_len);
      piece.iov_base = static_cast<std::byte*>(piece.iov_base) + part;
      piece.iov_len -= part;
      bytes -= part;
    }
  }

  Fd fd_;
  bool crc_;
  Spin spin_;
};

class OurChannel final : public Channel, public core::EndpointSink, public core::TransportSink {
 public:
  explicit OurChannel(bool crc) {
    Settings settings;
    settings.tcp_if = {"127.0.0.1"};
    settings.crc = crc ? CrcMode::kAlways : CrcMode::kNever;
    core::NodeFacts facts;
    facts.node = 1;
    facts.settings = &settings;
    auto made = TcpTransport::make(facts);
    check(made.has_value(), "our transport");
    transport_ = std::move(*made);
  }
  ~OurChannel() override { endpoint_.reset(); }

  Blob contact() const { return transport_->contact(); }
  void connect(const Blob& contact) {
    auto dialled = transport_->connect(contact);
    check(dialled.has_value(), "connect");
    on_accept(std::move(*dialled));
  }
  bool try_accept() {
    turn();
    return endpoint_ != nullptr;
  }

  void send(Bytes message) override {
    for (std::size_t offset = 0; offset < message.size();) {
      const Bytes piece =
          message.subspan(offset, std::min<std::size_t>(kPayloadBytesMax, message.size() - offset));
      if (endpoint_->post({header_, piece, 0, true}) == core::Post::kRetry) {
        turn();
      } else {
        offset += piece.size();
      }
    }
    while (endpoint_->in_flight() > 0) turn();
  }
  void receive(MutableBytes message) override {
    place_ = message;
    while (arrived_ < message.size()) {
      if (turn() == 0) spin_.idle();
    }
    arrived_ = 0;
  }

  std::size_t turn() { return transport_->progress(*this, monotonic_now(), 64); }

 private:
  void on_accept(std::unique_ptr<core::Endpoint> endpoint) noexcept override {
    endpoint_ = std::move(endpoint);
    endpoint_->attach(*this);
    endpoint_->trust();
  }
  MutableBytes on_place(Bytes, std::size_t bytes, bool) noexcept override {
    return place_.size() >= arrived_ + bytes ? place_.subspan(arrived_, bytes) : MutableBytes{};
  }
  void on_frame(Bytes, Bytes payload) noexcept override {
    std::byte* const place = place_.data() + arrived_;
    arrived_ += payload.size();
    if (arrived_ <= place_.size() && payload.data() != place)
      std::memcpy(place, payload.data(), payload.size());
  }
  void on_sent(std::uint64_t) noexcept override {}
  void on_down(const Error& why) noexcept override {
    std::fprintf(stderr, "tcp_pingpong: %s\n", why.text.c_str());
    std::exit(1);
  }

  std::array<std::byte, kHeaderBytes> header_{};
  std::unique_ptr<TcpTransport> transport_;
  std::unique_ptr<core::Endpoint> endpoint_;
  MutableBytes place_;
  std::size_t arrived_ = 0;
  Spin spin_;
};

struct Case {
  const char* name;
  std::size_t bytes;
  int messages;  // per run
  bool stream;   // all one way and one answer; otherwise to and fro
};

constexpr Case kCases[] = {
    {"8 B half round trip", 8, 2000, false},
    {"64 KiB half round trip", 64u << 10, 300, false},
    {"1 MiB half round trip", 1u << 20, 40, false},
    {"8 B stream, a message", 8, 20000, true},
    {"1 MiB stream, a message", 1u << 20, 100, true},
};

/// Nanoseconds per message one way; `first`: this process begins.
double run(Channel& channel, const Case& what, bool first, MutableBytes buffer) {
  const MutableBytes message = buffer.first(what.bytes);
  const TimeNs begin = monotonic_now();
  if (what.stream) {
    for (int i = 0; i < what.messages; ++i)
      first ? channel.send(message) : channel.receive(message);
    first ? channel.receive(buffer.first(8)) : channel.send(buffer.first(8));
  } else {
    for (int i = 0; i < what.messages; ++i) {
      if (first) channel.send(message);
      channel.receive(message);
      if (!first) channel.send(message);
    }
  }
  const auto taken = static_cast<double>(monotonic_now() - begin);
  return taken / what.messages / (what.stream ? 1 : 2);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void compare(Channel& bare, Channel& ours, int rounds, bool first) {
  Blob buffer(kMessageBytesMax, std::byte{1});
  if (first) std::printf("%-26s %12s %12s %8s\n", "median", "bare ns", "ours ns", "ratio");
  for (const Case& what : kCases) {
    std::vector<double> bare_ns;
    std::vector<double> our_ns;
    std::vector<double> ratios;
    for (int round = 0; round < rounds; ++round) {
      bare_ns.push_back(run(bare, what, first, buffer));
      our_ns.push_back(run(ours, what, first, buffer));
      ratios.push_back(our_ns.back() / bare_ns.back());
    }
    if (!first) continue;
    std::printf("%-26s %12.0f %12.0f %8.3f\n", what.name, median(bare_ns), median(our_ns),
                median(ratios));
    std::fflush(stdout);
  }
}

Fd dial_bare(const SocketAddress& to) {
  auto fd = start_connect(to, {});
  check(fd.has_value() && connect_error(fd->number()) == 0, "bare connect");
  return std::move(*fd);
}

Fd accept_bare(const Fd& listener) {
  Fd fd;
  while (!fd) fd = Fd(::accept4(listener.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  check(set_data_options(fd.number(), {}).has_value(), "options");
  return fd;
}

double cpu_now() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// CPU nanoseconds per message one way, both ends.
double run_alone(Channel& one, Channel& other, const Case& what, MutableBytes buffer) {
  const MutableBytes message = buffer.first(what.bytes);
  const double begin = cpu_now();
  for (int i = 0; i < what.messages; ++i) {
    one.send(message);
    other.receive(message);
    other.send(message);
    one.receive(message);
  }
  return (cpu_now() - begin) / what.messages / 2;
}

int bench_alone(int rounds, bool crc) {
  auto listener = listen_at(*parse_ip("127.0.0.1"), 0, {});
  check(listener.has_value(), "listen");
  BareChannel bare(dial_bare(*local_end(listener->number())), crc);
  BareChannel bare_peer(accept_bare(*listener), crc);
  OurChannel ours(crc);
  OurChannel our_peer(crc);
  ours.connect(our_peer.contact());
  while (!our_peer.try_accept()) ours.turn();
  Blob buffer(kMessageBytesMax, std::byte{1});
  std::printf("%-26s %12s %12s %8s\n", "median CPU, both ends", "bare ns", "ours ns", "ratio");
  for (const Case& what : kCases) {
    // More would have to wait for room that only the other end, also on this thread, can make.
    if (what.stream || what.bytes > 64u << 10) continue;
    std::vector<double> bare_ns;
    std::vector<double> our_ns;
    std::vector<double> ratios;
    for (int round = 0; round < rounds; ++round) {
      bare_ns.push_back(run_alone(bare, bare_peer, what, buffer));
      our_ns.push_back(run_alone(ours, our_peer, what, buffer));
      ratios.push_back(our_ns.back() / bare_ns.back());
    }
    std::printf("%-26s %12.0f %12.0f %8.3f\n", what.name, median(bare_ns), median(our_ns),
                median(ratios));
  }
  return 0;
}

int bench(int rounds, bool crc) {
  auto listener = listen_at(*parse_ip("127.0.0.1"), 0, {});
  check(listener.has_value(), "listen");
  auto acceptor = std::make_unique<OurChannel>(crc);  // inherited by the child, which alone uses it
  const Blob contact = acceptor->contact();
  Blob warm_up(8);
  const pid_t child = ::fork();
  check(child >= 0, "fork");
  if (child == 0) {
    BareChannel bare(accept_bare(*listener), crc);
    while (!acceptor->try_accept()) continue;
    acceptor->receive(warm_up);
    compare(bare, *acceptor, rounds, false);
    std::_Exit(0);
  }
  BareChannel bare(dial_bare(*local_end(listener->number())), crc);
  OurChannel ours(crc);
  ours.connect(contact);
  ours.send(warm_up);
  compare(bare, ours, rounds, true);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? 0 : 1;
}

}  // namespace
}  // namespace livebtl::tcp

int main(int argc, char** argv) {
  int rounds = 15;
  bool crc = false;
  bool alone = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    crc = crc || word == "crc";
    alone = alone || word == "alone";
    if (word == "crc" || word == "alone") continue;
    rounds = std::atoi(argv[i]);
    if (rounds > 0) continue;
    std::fprintf(stderr, "usage: tcp_pingpong [rounds] [crc] [alone]\n");
    return 1;
  }
  return alone ? livebtl::tcp::bench_alone(rounds, crc) : livebtl::tcp::bench(rounds, crc);
}
