// SPDX-License-Identifier: BSD-3-Clause
// CRIU's file of open files, with other IP addresses.
#include "hypervisor/criu/new_addresses.h"

#include <doctest/doctest.h>

#include "tests/unit/hypervisor/criu/open_files_image.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

std::vector<NewAddress> addresses(std::initializer_list<const char*> texts) {
  std::vector<NewAddress> all;
  for (const char* text : texts) {
    const auto address = parse_new_address(text);
    REQUIRE(address);
    all.push_back(*address);
  }
  return all;
}

std::vector<std::string> own_of(const OpenFiles& files) {
  std::vector<std::string> texts;
  for (const IpBytes& each : files.own) texts.push_back(livebtl::to_text(each));
  return texts;
}

std::vector<LocalAddress> here(std::initializer_list<const char*> texts) {
  std::vector<LocalAddress> all;
  for (const char* text : texts) all.push_back({"eth0", *parse_ip(text), 120});
  return all;
}

}  // namespace

TEST_CASE("both ends of a connection get the new address, and nothing else is changed") {
  const std::string image =
      open_files_image({file_entry("a file"), socket_entry("10.0.0.2", "10.0.0.1"),
                        socket_entry("10.0.0.1", "10.0.0.2"), file_entry("another")});
  const auto files = with_new_addresses(image, addresses({"10.0.0.2=192.168.200.7"}));
  REQUIRE(files);
  const std::string wanted =
      open_files_image({file_entry("a file"), socket_entry("192.168.200.7", "10.0.0.1"),
                        socket_entry("10.0.0.1", "192.168.200.7"), file_entry("another")});
  CHECK(files->image == wanted);
  CHECK(own_of(*files) == std::vector<std::string>{"192.168.200.7", "10.0.0.1"});
}

TEST_CASE("two nodes may change their addresses with each other") {
  const std::string image = open_files_image({socket_entry("10.0.0.1", "10.0.0.2")});
  const auto files =
      with_new_addresses(image, addresses({"10.0.0.1=10.0.0.2", "10.0.0.2=10.0.0.1"}));
  REQUIRE(files);
  CHECK(files->image == open_files_image({socket_entry("10.0.0.2", "10.0.0.1")}));
}

TEST_CASE("IPv6 is replaced as IPv4 is, also where a socket of IPv6 has an address of IPv4") {
  const std::string image = open_files_image(
      {socket_entry("fd00::2", "fd00::1"), mapped_socket_entry("10.0.0.2", "10.0.0.1")});
  const auto files = with_new_addresses(image, addresses({"fd00::2=fd00::7", "10.0.0.1=10.0.0.9"}));
  REQUIRE(files);
  CHECK(files->image == open_files_image({socket_entry("fd00::7", "fd00::1"),
                                          mapped_socket_entry("10.0.0.2", "10.0.0.9")}));
}

TEST_CASE("without new addresses an image stays as it is, and tells its own") {
  const std::string image =
      open_files_image({socket_entry("0.0.0.0", "0.0.0.0"), socket_entry("10.0.0.2", "10.0.0.1")});
  const auto files = with_new_addresses(image, {});
  REQUIRE(files);
  CHECK(files->image == image);
  CHECK(own_of(*files) == std::vector<std::string>{"0.0.0.0", "10.0.0.2"});
}

TEST_CASE("what CRIU has not written is refused") {
  const std::string whole = open_files_image({socket_entry("10.0.0.2", "10.0.0.1")});
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    if (bytes == 8) continue;  // no entry at all
    CAPTURE(bytes);
    const auto files = with_new_addresses(whole.substr(0, bytes), {});
    REQUIRE_FALSE(files);
    CHECK(files.error().code == Errc::kCorrupt);
  }
  CHECK_FALSE(with_new_addresses(std::string(200, 'x'), {}));
  const auto damaged = with_new_addresses(open_files_image({std::string("\x22\x7f", 2)}), {});
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().text.find("files.img") != std::string::npos);
}

TEST_CASE("an address that cannot be replaced is refused") {
  for (const char* text :
       {"", "10.0.0.2", "10.0.0.2=", "=10.0.0.2", "10.0.0.2=x", "10.0.0.2=10.0.0.3=10.0.0.4",
        "127.0.0.1=10.0.0.2", "10.0.0.2=127.0.0.1", "10.0.0.2=fd00::1", "0.0.0.0=10.0.0.2",
        "10.0.0.2=224.0.0.1", "fe80::1=fd00::1"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_new_address(text));
  }
  CHECK_FALSE(check_new_addresses(addresses({"10.0.0.2=10.0.0.3", "10.0.0.2=10.0.0.4"})));
  CHECK(check_new_addresses(addresses({"10.0.0.2=10.0.0.3", "10.0.0.3=10.0.0.2"})));
  CHECK(to_text(addresses({"fd00::2=fd00::7"}).front()) == "fd00::2=fd00::7");
}

TEST_CASE("an address that this node does not have is named, with those that it has") {
  const std::vector<IpBytes> own = {*parse_ip("0.0.0.0"), *parse_ip("127.0.0.1"),
                                    *parse_ip("10.0.0.2"), *parse_ip("fe80::1")};
  CHECK(check_own_addresses(own, here({"10.0.0.2"})));
  const Status missing = check_own_addresses(own, here({"10.0.0.7", "127.0.0.1"}));
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == Errc::kRefused);
  CHECK(missing.error().text.find("bound to 10.0.0.2, which") != std::string::npos);
  CHECK(missing.error().text.find("(it has 10.0.0.7)") != std::string::npos);
}
