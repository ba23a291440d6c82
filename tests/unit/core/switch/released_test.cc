// SPDX-License-Identifier: BSD-3-Clause
// The holders of a device's file that are found: this process, by descriptor or mapping, and its
// children.
#include "core/switch/released.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <utility>

#include "base/fd.h"

using namespace livebtl;
using core::Holdings;

namespace {

/// Plays /dev/infiniband/uverbs0.
class Device {
 public:
  Device() {
    char path[] = "/tmp/livebtl-device-XXXXXX";
    Fd made(::mkstemp(path));
    REQUIRE(static_cast<bool>(made));
    REQUIRE(::ftruncate(made.number(), 4096) == 0);
    path_ = path;
  }
  ~Device() { std::filesystem::remove(path_); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  Fd open() const { return Fd(::open(path_.c_str(), O_RDWR | O_CLOEXEC)); }
  const std::string& path() const { return path_; }
  core::DeviceFiles files() const {
    return {path_, {{"libc.so", "the C library"}, {"libnobody", "nobody"}}};
  }

 private:
  std::string path_;
};

/// A child that does nothing until it is killed.
class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ == 0) {
      ::pause();
      ::_exit(0);
    }
    REQUIRE(pid_ > 0);
  }
  ~Child() { go(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  void go() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }
  std::string number() const { return std::to_string(pid_); }

 private:
  pid_t pid_;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("where there is nothing to look for, nobody holds anything") {
  const Device device;
  CHECK_FALSE(Holdings().any());
  CHECK(Holdings().held().empty());
  const Holdings wanted(device.files());
  CHECK(wanted.any());
  CHECK(wanted.held().empty());
}

TEST_CASE(
    "a descriptor of this process is reported with its number, the process and its likely owner") {
  const Device device;
  const Holdings wanted(device.files());
  Fd fd = device.open();
  const auto held = wanted.held();
  REQUIRE(held.size() == 1);
  CHECK(has(held[0], device.path() + " is open as descriptor " + std::to_string(fd.number())));
  CHECK(has(held[0], "of this process, " + std::to_string(::getpid()) + " ("));
  CHECK(has(held[0], "; likely by the C library"));
  CHECK_FALSE(has(held[0], "nobody"));
  fd = Fd();
  CHECK(wanted.held().empty());
}

TEST_CASE("a mapping holds a file whose descriptor is closed") {
  const Device device;
  const Holdings wanted(device.files());
  void* const memory = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, device.open().number(), 0);
  REQUIRE(memory != MAP_FAILED);
  const auto held = wanted.held();
  REQUIRE(held.size() == 1);
  CHECK(has(held[0], device.path() + " is in the memory of this process"));
  ::munmap(memory, 4096);
  CHECK(wanted.held().empty());
}

TEST_CASE("that nothing can be looked at is told, for it proves nothing") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const Device device;
  const Holdings wanted(device.files());
  const rlimit none{0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const auto held = wanted.held();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  REQUIRE(held.size() == 1);
  CHECK(has(held[0], "cannot be inspected"));
  CHECK(wanted.held().empty());
}

TEST_CASE("a child that has what its parent has closed is told by its own number") {
  const Device device;
  const Holdings wanted(device.files());
  Fd fd = device.open();
  Child child;
  fd = Fd();
  const auto held = wanted.held();
  REQUIRE(held.size() == 1);
  CHECK(has(held[0], "of its child, " + child.number() + " ("));
  child.go();
  CHECK(wanted.held().empty());
}
