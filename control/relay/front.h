// SPDX-License-Identifier: BSD-3-Clause
// control/relay/front.h -- the relay's tcp side: accepts connections, and passes their bytes to
// ZeroMQ, which listens on a socket in the job's directory.
//
// ZeroMQ accepts everybody who connects, without limit. Here unauthenticated connections are
// limited in number, more narrowly for one source, and in time; when there are too many, the oldest
// that has said nothing makes room, else the oldest. ZeroMQ hears of a connection with its first
// byte. Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/interfaces.h"
#include "control/relay/zmtp_proof.h"
#include "control/wire/spare_descriptors.h"

namespace livebtl::control {

struct FrontLimits {
  std::size_t unproved = 128;
  std::size_t unproved_of_source = 32;  // an IPv4 address, or a /64 of IPv6
  std::size_t all = 1024;
  TimeNs unproved_for = 3 * kSecond;
};

class Front {
 public:
  /// Listens on these addresses (IPv6 in brackets) and one port: `port` if free, else any. inner:
  /// the path of ZeroMQ's socket. Errors: kSystem (the first address fails).
  static Result<Front> open(const std::vector<std::string>& addresses, std::uint16_t port,
                            std::string inner, const FrontLimits& limits = {});

  /// As route.h writes a relay.
  const std::string& relay() const noexcept { return relay_; }
  /// Readable when turn() has something to do.
  int fd() const noexcept { return epoll_.number(); }
  void turn(TimeNs now);
  /// When turn() is due even if fd() is not readable; INT64_MAX: need not be.
  TimeNs wake_at() const noexcept;

  std::size_t connections() const noexcept { return pumps_.size(); }
  std::size_t unproved() const noexcept { return unproved_.size(); }

 private:
  /// One connection, with the bytes from each side that the other has yet to take.
  struct Pump {
    Fd outer, inner;  // inner: none before the first byte
    IpBytes source{};
    TimeNs since = 0;
    ZmtpProof proof;
    std::string inwards, outwards;
    bool ended = false;
  };
  using Pumps = std::map<std::uint64_t, Pump>;

  explicit Front(std::string inner, const FrontLimits& limits)
      : inner_(std::move(inner)), limits_(limits) {}
  Status listen(const std::string& address, std::uint16_t port, std::uint16_t& got);
  void take_all(int listener, TimeNs now);
  void take(Fd outer, const IpBytes& source, TimeNs now);
  bool make_room(const IpBytes& source);
  void serve(std::uint64_t number);
  void carry(std::uint64_t number, Pump& pump);
  bool reach_inner(std::uint64_t number, Pump& pump);
  void watch(std::uint64_t number, const Pump& pump);
  void end(std::uint64_t number);

  std::string inner_;
  FrontLimits limits_;
  std::string relay_;
  Fd epoll_;
  std::vector<Fd> listeners_;  // numbered below kFirstPump
  Pumps pumps_;
  std::map<std::uint64_t, IpBytes> unproved_;  // by number, hence by age
  std::uint64_t numbers_ = kFirstPump;
  SpareDescriptors spares_{2};
  static constexpr std::uint64_t kFirstPump = 16;
};

}  // namespace livebtl::control
