// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/client/relay_address_test.cc -- HOST:PORT as people write it.
#include "control/client/relay_address.h"

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <future>
#include <iterator>
#include <sstream>

#include "base/fd.h"

using namespace livebtl;
using namespace livebtl::control;

TEST_CASE("host and port are told apart") {
  struct Case {
    const char *text, *host;
    unsigned port;
  };
  for (const Case& each :
       {Case{"node7:40123", "node7", 40123}, Case{"10.1.0.7:1", "10.1.0.7", 1},
        Case{"[fd00::7]:65535", "fd00::7", 65535}, Case{"[::1]:80", "::1", 80},
        Case{"[fe80::7%eth0]:7", "fe80::7%eth0", 7}, Case{"a-b_c.example:7", "a-b_c.example", 7}}) {
    const auto place = parse_host_port(each.text);
    REQUIRE(place);
    CHECK(place->host == each.host);
    CHECK(place->port == each.port);
  }
}

TEST_CASE("what is no host and port is refused, with an example of what is") {
  std::istringstream words(
      ": node7 node7: :40123 node7:0 node7:65536 node7:-1 node7:+1 node7:1x ::1:40123 fd00::7:1 "
      "[fd00::7]1 [fd00::7:1 []:1 [node7]:1 [fd00::g]:1 [fe80::7%]:1 [fe80::7%e/h]:1 tcp://node7:1 "
      "a,b:1 -x:1 a\033[2J:1 node7:1,node8:1");
  std::vector<std::string> texts{"", "node7: 1", "a b:1", std::string("a\0b:1", 5),
                                 std::string(254, 'a') + ":1"};
  texts.insert(texts.end(), std::istream_iterator<std::string>(words), {});
  for (const std::string& text : texts) {
    const auto place = parse_host_port(text);
    REQUIRE_FALSE(place);
    CHECK(place.error().code == Errc::kInvalid);
    CHECK(place.error().text.find("[fd00::7]:40123") != std::string::npos);
  }
}

TEST_CASE("addresses are as relays are written, and back") {
  const Deadline deadline{monotonic_now() + 60 * kSecond};
  CHECK(relay_at({"127.0.0.1", 7}, deadline).value() == "tcp://127.0.0.1:7");
  CHECK(relay_at({"::1", 7}, deadline).value() == "tcp://[::1]:7");
  const auto nowhere = relay_at({"no-such-host.invalid", 7}, deadline);
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().code == Errc::kUnreachable);
  CHECK(nowhere.error().text.find("no-such-host.invalid") != std::string::npos);
  CHECK(host_ports("tcp://127.0.0.1:7,tcp://[::1]:7") ==
        std::vector<std::string>{"127.0.0.1:7", "[::1]:7"});
  CHECK(host_ports("").empty());
  CHECK(host_ports("rubbish").empty());
}

TEST_CASE("a name that nobody looks up is waited for until the deadline, or an interruption") {
  std::promise<void> promise;
  const std::shared_future<void> never = promise.get_future();
  const LookUp hangs = [never](const char*, const char*, const addrinfo*, addrinfo**) {
    never.wait();
    return EAI_AGAIN;
  };
  const std::atomic<bool> stopped{true};
  const auto late = relay_at({"node7", 7}, {monotonic_now() + 50 * kMillisecond}, hangs);
  REQUIRE_FALSE(late);
  CHECK(late.error().code == Errc::kUnreachable);
  CHECK(late.error().text.find("node7 was not found within the time-out") != std::string::npos);
  const auto interrupted =
      relay_at({"node7", 7}, {monotonic_now() + 600 * kSecond, &stopped}, hangs);
  REQUIRE_FALSE(interrupted);
  CHECK(interrupted.error().code == Errc::kCancelled);
  promise.set_value();
}

TEST_CASE("an address refuses connections if nobody listens, and several only if each does") {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  REQUIRE(::bind(socket.number(), any, bytes) == 0);
  REQUIRE(::getsockname(socket.number(), any, &bytes) == 0);
  const std::string bound = "tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  CHECK(all_refuse(bound, kSecond));  // nobody else gets this port
  CHECK(all_refuse("tcp://127.0.0.1:9," + bound, kSecond));
  REQUIRE(::listen(socket.number(), 8) == 0);
  CHECK_FALSE(all_refuse(bound, kSecond));
  CHECK_FALSE(all_refuse("tcp://127.0.0.1:9," + bound, kSecond));
  CHECK_FALSE(all_refuse("rubbish", kSecond));
}
