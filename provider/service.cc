// SPDX-License-Identifier: BSD-3-Clause
// provider/service.cc -- see service.h.
#include "provider/service.h"

#include <fcntl.h>
#include <ifaddrs.h>
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

#include "base/interfaces.h"
#include "base/run_directory.h"
#include "provider/provider.h"

namespace livebtl::fi {
namespace {

// Layout of a service address: this, then the name, zero-terminated. The engine's own addresses
// begin with "LB" (core/path/address.h).
constexpr char kMagic[8] = {'s', 'e', 'r', 'v', 'i', 'c', 'e', ':'};
constexpr std::size_t kNameBytesMax = kAddressBytes - sizeof kMagic - 1;
constexpr auto kResolveTimeout = std::chrono::seconds(5);
constexpr auto kResolveInterval = std::chrono::milliseconds(10);

bool good_name(std::string_view name) noexcept {
  constexpr std::string_view kGood =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_.";
  return !name.empty() && name.size() <= kNameBytesMax && name.front() != '.' &&
         name.find_first_not_of(kGood) == std::string_view::npos;
}

/// The name in a service address; empty: any, or malformed.
std::string_view name_in(const Address& address) noexcept {
  const char* const name = reinterpret_cast<const char*>(address.raw.data()) + sizeof kMagic;
  const std::string_view view(name, ::strnlen(name, kNameBytesMax + 1));
  return good_name(view) ? view : std::string_view{};
}

/// Knows only numeric addresses and our own names: asking a name server would stall the program.
bool is_this_host(const char* node) {
  char own[HOST_NAME_MAX + 1] = {};
  if (::gethostname(own, sizeof own - 1) == 0 && std::strcmp(node, own) == 0) return true;
  if (std::strcmp(node, "localhost") == 0) return true;
  const auto wanted = parse_ip(node);
  if (!wanted) return false;
  if (is_v4(*wanted) && is_loopback(*wanted)) return true;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return false;
  bool found = false;
  for (const ifaddrs* at = list; at && !found; at = at->ifa_next) {
    found = ip_of(at->ifa_addr) == wanted;
  }
  ::freeifaddrs(list);
  return found;
}

const char* setting(const char* name, const char* second_name) noexcept {
  const char* const value = std::getenv(name);
  return value && *value ? value : std::getenv(second_name);
}

Result<std::string> service_file(std::string_view name) {
  const char* const wanted = setting("LIVEBTL_RUNDIR", "FI_LIVEBTL_RUNDIR");
  const auto base = make_run_directory(wanted != nullptr ? wanted : "", run_places());
  if (!base) return tl::unexpected<Error>(base.error());
  const std::string path = *base + "/.service";  // no job's id begins with a dot
  if (const Status made = make_private_directory(path); !made)
    return tl::unexpected<Error>(made.error());
  return path + "/" + std::string(name);
}

// What a serving process has locked: kName from the start, kAddress once the file has the address.
enum class Part : off_t { kName, kAddress };

struct flock part_of_file(Part part, short type) noexcept {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(part);
  lock.l_len = 1;
  return lock;
}

bool write_address(const Fd& fd, const Address& address) noexcept {
  struct flock lock = part_of_file(Part::kAddress, F_WRLCK);
  return ::pwrite(fd.number(), address.raw.data(), kAddressBytes, 0) ==
             static_cast<ssize_t>(kAddressBytes) &&
         ::fcntl(fd.number(), F_OFD_SETLK, &lock) == 0;
}

/// Opens and locks the file at `path`. None: failed, with errno; EAGAIN: another holds the lock.
Fd open_locked(const std::string& path) noexcept {
  for (;;) {
    Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd) return fd;
    struct flock lock = part_of_file(Part::kName, F_WRLCK);
    if (::fcntl(fd.number(), F_OFD_SETLK, &lock) != 0) {
      const int error = errno == EACCES ? EAGAIN : errno;
      fd.reset();
      errno = error;
      return fd;
    }
    // The former owner may have unlinked the file between our open and our lock.
    struct stat ours {};
    struct stat named {};
    const bool same = ::fstat(fd.number(), &ours) == 0 && ::stat(path.c_str(), &named) == 0 &&
                      ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
    if (same) return fd;
  }
}

/// The address in a live service's file, or nothing (yet).
bool read_live(const std::string& path, Address& address) noexcept {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct flock lock = part_of_file(Part::kAddress, F_RDLCK);
  return fd && ::fcntl(fd.number(), F_OFD_GETLK, &lock) == 0 && lock.l_type == F_WRLCK &&
         ::pread(fd.number(), address.raw.data(), kAddressBytes, 0) ==
             static_cast<ssize_t>(kAddressBytes);
}

}  // namespace

Result<Address> service_address(const char* node, const char* service) {
  if (node && !is_this_host(node)) {
    return fail(Errc::kNotFound,
                std::string(node) +
                    " is not this host; services are found on one host only; exchange"
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
  const auto path = service_file(name);
  if (!path) return tl::unexpected<Error>(path.error());
  const auto until = std::chrono::steady_clock::now() + kResolveTimeout;
  Address found;
  while (!read_live(*path, found)) {
    if (std::chrono::steady_clock::now() >= until) {
      return fail(Errc::kNotFound, "no live process serves " + std::string(name) + " (" + *path +
                                       "); start the server first");
    }
    std::this_thread::sleep_for(kResolveInterval);
  }
  return found;
}

PublishedService::~PublishedService() {
  if (fd_ && owner_ == ::getpid())
    ::unlink(path_.c_str());  // a forked child has a copy, and serves nobody
}

Status PublishedService::publish(const Address& service, const Address& endpoint) {
  const std::string_view name = name_in(service);
  if (name.empty()) return {};
  const auto path = service_file(name);
  if (!path) return tl::unexpected<Error>(path.error());
  Fd fd = open_locked(*path);
  if (!fd && errno == EAGAIN)
    return fail(Errc::kRefused, "another endpoint serves " + std::string(name));
  if (!fd || !write_address(fd, endpoint))
    return fail(Errc::kSystem, "cannot write " + *path + ": " + std::strerror(errno));
  fd_ = std::move(fd);
  path_ = *path;
  owner_ = ::getpid();
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
