// SPDX-License-Identifier: BSD-3-Clause
// provider/service.cc -- see service.h.
#include "provider/service.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

#include "base/run_directory.h"
#include "provider/provider.h"

namespace livebtl::fi {
namespace {

// Layout of such an address: this, then the name, zero-terminated. The engine's own addresses begin
// with "LB" (core/path/address.h).
constexpr char kMagic[8] = {'s', 'e', 'r', 'v', 'i', 'c', 'e', ':'};
constexpr std::size_t kNameBytesMax = kAddressBytes - sizeof kMagic - 1;
constexpr auto kResolveTimeout = std::chrono::seconds(5);
constexpr auto kResolveInterval = std::chrono::milliseconds(10);

bool good_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > kNameBytesMax || name.front() == '.') return false;
  for (const char c : name) {
    const bool good = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '-' || c == '_' || c == '.';
    if (!good) return false;
  }
  return true;
}

/// The name in a service address; empty: any, or malformed.
std::string_view name_in(const Address& address) noexcept {
  const char* const name = reinterpret_cast<const char*>(address.raw.data()) + sizeof kMagic;
  const std::string_view view(name, ::strnlen(name, kNameBytesMax + 1));
  return good_name(view) ? view : std::string_view{};
}

bool same_ip(const sockaddr* interface, const in6_addr* v6, const in_addr* v4) noexcept {
  if (v4 && interface->sa_family == AF_INET) {
    sockaddr_in found;
    std::memcpy(&found, interface, sizeof found);
    return found.sin_addr.s_addr == v4->s_addr;
  }
  if (v6 && interface->sa_family == AF_INET6) {
    sockaddr_in6 found;
    std::memcpy(&found, interface, sizeof found);
    return std::memcmp(&found.sin6_addr, v6, sizeof *v6) == 0;
  }
  return false;
}

/// Numbers and our own names only: asking a name server would stall the program.
bool is_this_host(const char* node) noexcept {
  char own[HOST_NAME_MAX + 1] = {};
  if (::gethostname(own, sizeof own - 1) == 0 && std::strcmp(node, own) == 0) return true;
  if (std::strcmp(node, "localhost") == 0) return true;
  in_addr v4{};
  in6_addr v6{};
  const bool is_v4 = ::inet_pton(AF_INET, node, &v4) == 1;
  const bool is_v6 = !is_v4 && ::inet_pton(AF_INET6, node, &v6) == 1;
  if (!is_v4 && !is_v6) return false;
  if (is_v4 && (ntohl(v4.s_addr) >> 24) == 127) return true;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return false;
  bool found = false;
  for (const ifaddrs* at = list; at && !found; at = at->ifa_next) {
    found = at->ifa_addr && same_ip(at->ifa_addr, is_v6 ? &v6 : nullptr, is_v4 ? &v4 : nullptr);
  }
  ::freeifaddrs(list);
  return found;
}

const char* setting(const char* name, const char* second_name) noexcept {
  const char* const value = std::getenv(name);
  return value && *value ? value : std::getenv(second_name);
}

Result<std::string> service_directory() {
  const char* const wanted = setting("LIVEBTL_RUNDIR", "FI_LIVEBTL_RUNDIR");
  const auto base = make_run_directory(wanted != nullptr ? wanted : "", run_places());
  if (!base) return tl::unexpected<Error>(base.error());
  const std::string path = *base + "/.service";  // no job's id begins with a dot
  if (const Status made = make_private_directory(path); !made)
    return tl::unexpected<Error>(made.error());
  return path;
}

struct flock whole_file(short type) noexcept {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

/// Opens and locks the file at `path`; -1 and errno: not done, EAGAIN if another holds it.
int open_locked(const std::string& path) noexcept {
  for (;;) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return -1;
    struct flock lock = whole_file(F_WRLCK);
    if (::fcntl(fd, F_OFD_SETLK, &lock) != 0) {
      const int error = errno == EACCES ? EAGAIN : errno;
      ::close(fd);
      errno = error;
      return -1;
    }
    // Its former owner may have unlinked it between our open and our lock.
    struct stat ours {};
    struct stat named {};
    const bool same = ::fstat(fd, &ours) == 0 && ::stat(path.c_str(), &named) == 0 &&
                      ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
    if (same) return fd;
    ::close(fd);
  }
}

/// The address in a live service's file, or nothing (yet).
bool read_live(const std::string& path, Address& address) noexcept {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return false;
  struct flock lock = whole_file(F_RDLCK);
  const bool held = ::fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_WRLCK;
  const bool whole =
      ::pread(fd, address.raw.data(), kAddressBytes, 0) == static_cast<ssize_t>(kAddressBytes);
  ::close(fd);
  return held && whole;
}

}  // namespace

Result<Address> service_address(const char* node, const char* service) {
  if (node && !is_this_host(node)) {
    return fail(Errc::kNotFound, std::string(node) +
                                     " is not this host; services are found on one host, exchange"
                                     " fi_getname addresses between hosts");
  }
  Address address;
  std::memcpy(address.raw.data(), kMagic, sizeof kMagic);
  if (!service) return address;
  if (!good_name(service)) {
    return fail(Errc::kInvalid, "a service name has 1 to 55 letters, digits, dots, dashes");
  }
  const Bytes name = std::as_bytes(std::span(service, std::strlen(service)));
  std::copy(name.begin(), name.end(), address.raw.begin() + sizeof kMagic);
  return address;
}

bool is_service_address(const Address& address) noexcept {
  return std::memcmp(address.raw.data(), kMagic, sizeof kMagic) == 0;
}

Result<Address> resolve_service(const Address& service) {
  const std::string_view name = name_in(service);
  if (name.empty()) return fail(Errc::kNotFound, "the address names no service");
  const auto directory = service_directory();
  if (!directory) return tl::unexpected<Error>(directory.error());
  const std::string path = *directory + "/" + std::string(name);
  const auto until = std::chrono::steady_clock::now() + kResolveTimeout;
  Address found;
  while (!read_live(path, found)) {
    if (std::chrono::steady_clock::now() >= until) {
      return fail(Errc::kNotFound, "no live process serves " + std::string(name) + " (" + path +
                                       "); start the server first");
    }
    std::this_thread::sleep_for(kResolveInterval);
  }
  return found;
}

PublishedService::~PublishedService() {
  if (fd_ < 0) return;
  ::unlink(path_.c_str());
  ::close(fd_);
}

Status PublishedService::publish(const Address& service, const Address& endpoint) {
  const std::string_view name = name_in(service);
  if (name.empty()) return {};
  const auto directory = service_directory();
  if (!directory) return tl::unexpected<Error>(directory.error());
  const std::string path = *directory + "/" + std::string(name);
  const int fd = open_locked(path);
  if (fd < 0 && errno == EAGAIN) {
    return fail(Errc::kRefused, "another endpoint serves " + std::string(name));
  }
  if (fd < 0) return fail(Errc::kSystem, "cannot write " + path + ": " + std::strerror(errno));
  if (::pwrite(fd, endpoint.raw.data(), kAddressBytes, 0) != static_cast<ssize_t>(kAddressBytes)) {
    ::close(fd);
    return fail(Errc::kSystem, "cannot write " + path + ": " + std::strerror(errno));
  }
  fd_ = fd;
  path_ = path;
  return {};
}

void write_address_text(const Address& address, char* text) noexcept {
  if (is_service_address(address)) {
    const std::string_view name = name_in(address);
    std::snprintf(text, kAddressTextBytes, "livebtl:service/%.*s", static_cast<int>(name.size()),
                  name.data());
    return;
  }
  int at = std::snprintf(text, kAddressTextBytes, "livebtl:");
  for (const std::byte byte : address.raw) {
    at += std::snprintf(text + at, kAddressTextBytes - static_cast<std::size_t>(at), "%02x",
                        static_cast<unsigned>(byte));
  }
}

}  // namespace livebtl::fi
