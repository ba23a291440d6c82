// SPDX-License-Identifier: BSD-3-Clause
// Which connections lead out of the dumped processes.
#include "hypervisor/criu/connections.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "hypervisor/criu/node_words.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

TEST_CASE(
    "established connections are read, IPv4 in IPv6 as itself, and what is malformed is passed "
    "over") {
  const auto found = read_tcp_table(
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
      "inode\n"
      "   0: 0100000A:1F90 0200000A:0016 01 00000000:00000000 00:00000000 00000000     0        0 "
      "77 1\n"
      "   1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
      "78 1\n"
      "   2: 0000000000000000FFFF00000100000A:0050 0000000000000000FFFF00000300000A:0051 01 "
      "00000000:00000000 00:00000000 00000000     0        0 79 1\n"
      "   3: 00000000000000000000000001000000:0050 nonsense 01 0:0 0:0 0 0 0 80 1\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0].local == "10.0.0.1:8080");
  CHECK(found[0].remote == "10.0.0.2:22");
  CHECK(found[0].inode == 77);
  CHECK(found[1].remote == "10.0.0.3:81");
}

TEST_CASE("a connection needs both ends") {
  std::vector<TcpConnection> all = {{"10.0.0.1:1", "10.0.0.2:2", "mpirun (7)", 0},
                                    {"10.0.0.2:2", "10.0.0.1:1", "orted (8)", 0}};
  CHECK(half_connection(all) == nullptr);
  all.push_back({"10.0.0.1:3", "10.0.0.2:22", "ssh (9)", 0});
  REQUIRE(half_connection(all) != nullptr);
  CHECK(half_connection(all)->owner == "ssh (9)");
}

TEST_CASE("a connection within the processes leads nowhere, one to others is found") {
  const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  REQUIRE(::bind(listener.number(), reinterpret_cast<sockaddr*>(&here), size) == 0);
  REQUIRE(::listen(listener.number(), 1) == 0);
  REQUIRE(::getsockname(listener.number(), reinterpret_cast<sockaddr*>(&here), &size) == 0);
  const Fd dialled(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::connect(dialled.number(), reinterpret_cast<sockaddr*>(&here), size) == 0);
  // Nobody has the other end until it is accepted.
  const auto out = connections_out_of({::getpid()});
  REQUIRE(out.size() == 1);
  CHECK(out[0].remote == "127.0.0.1:" + std::to_string(ntohs(here.sin_port)));
  const Fd accepted(::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC));
  CHECK(connections_out_of({::getpid()}).empty());
}

TEST_CASE("as many connections as a node may tell of pass, the longest, and are compared at once") {
  const std::string address = "[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]:";
  NodeAnswer told;
  for (std::size_t i = 0; i < kConnectionsMax / 2; ++i) {
    const std::string one = address + std::to_string(10'000 + i);
    const std::string other = address + std::to_string(50'000 + i);
    told.connections.push_back({one, other, std::string(15, '\x01') + " (4194304)", 0});
    told.connections.push_back({other, one, std::string(15, '\x01') + " (4194304)", 0});
  }
  const std::string line = answer_line(told);
  CHECK(line.size() < kNodeLineBytesMax);
  const auto heard = read_node_answer(line);
  REQUIRE(heard);
  CHECK(heard->connections.size() == kConnectionsMax);
  const TimeNs begun = monotonic_now();
  CHECK(half_connection(heard->connections) == nullptr);
  CHECK(monotonic_now() - begun < 5 * kSecond);
}
