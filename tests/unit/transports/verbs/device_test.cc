// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/verbs/device_test.cc -- what devices in memory cannot show, on one of this
// machine (LIVEBTL_VERBS_DEVICE chooses it): that, as the kernel sees it, a release leaves nothing
// behind, and what is reported without permission or lockable memory. If no port can be used it
// says why, and ctest counts it as skipped.
#include <doctest/doctest.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "core/switch/released.h"
#include "transports/verbs/verbs_ports.h"
#include "transports/verbs/verbs_transport.h"

using namespace livebtl;
using core::Holdings;

namespace {

using Made = Result<std::unique_ptr<core::Transport>>;

Made make() {
  const auto settings = read_settings_from_environment();
  REQUIRE(settings.has_value());
  core::NodeFacts facts;
  facts.process = ProcessId{1};
  facts.node = 1;
  facts.settings = &*settings;
  return verbs::verbs_kinds(settings->verbs_device, 1).value().front().make(facts);
}

bool skipped(const Made& tried) {
  if (!tried) std::printf("skipped: %s\n", tried.error().text.c_str());
  return !tried;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t threads() {
  std::size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    static_cast<void>(task);
    ++count;
  }
  return count;
}

/// The refusal of make() in a child that first gives up some right; "": not refused.
std::string refusal(void (*give_up)()) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    give_up();
    const Made tried = make();
    const std::string text = tried ? "" : tried.error().text;
    const bool told = ::write(ends[1], text.data(), text.size()) == ssize_t(text.size());
    ::_exit(told ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  char part[512];
  for (ssize_t got = 0; (got = ::read(ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  return text;
}

void give_up_all_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2]{};
  if (::syscall(SYS_capset, &header, none) != 0) ::_exit(2);
}

}  // namespace

// First, since a child must not use what its parent has opened.
TEST_CASE("without lockable memory, or the right to open it, that is said with what to do") {
  if (skipped(make())) return;
  const std::string memory = refusal([] {
    const rlimit little{256 << 10, 256 << 10};
    if (::setrlimit(RLIMIT_MEMLOCK, &little) != 0) ::_exit(3);
    give_up_all_capabilities();  // including that to lock unlimited memory
  });
  CAPTURE(memory);
  CHECK(has(memory, "the limit on locked memory is 256 KiB: raise it"));
  if (::geteuid() != 0) return;  // only root can give up the right to open it
  const std::string right = refusal([] {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(4);
  });
  if (right.empty()) std::puts("not checked: everybody may open this device");
  CAPTURE(right);
  CHECK((right.empty() || has(right, "give this user the right to read and write /dev/infini")));
}

TEST_CASE("a release leaves no descriptor, mapping, pinned page or thread") {
  const std::size_t threads_before = threads();
  Made made = make();
  if (skipped(made)) return;
  auto held = Holdings::of(**made, messages::rdma_devices());
  REQUIRE(held.held().size() >= 3);  // descriptors, mappings, and pinned memory
  CHECK(has(held.held()[0], "/dev/infiniband/uverbs"));
  CHECK((*made)->holds_device()->pinned_bytes() >= std::size_t{1} << 20);
  CHECK(has(held.held().back(), "has fallen by 0 KiB"));
  made->reset();
  held.note_closed();
  CHECK(held.held().empty());
  CHECK(Holdings(messages::rdma_devices()).held().empty());
  CHECK(threads() == threads_before);
}

TEST_CASE("what somebody else of the process holds and pins is told") {
  Made made = make();
  if (skipped(made)) return;
  auto held = Holdings::of(**made, messages::rdma_devices());
  verbs::Calls& calls = **verbs::library();
  const auto port = verbs::open_port(calls, {});
  REQUIRE(port.has_value());
  ibv_pd* const domain = calls.alloc_pd(port->context);
  REQUIRE(domain != nullptr);
  constexpr std::size_t kBytes = 1 << 20;
  void* const memory =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  ibv_mr* const region = calls.reg_mr(domain, memory, kBytes, 0);
  REQUIRE(region != nullptr);
  made->reset();
  held.note_closed();
  REQUIRE(held.held().size() >= 2);
  CHECK(has(held.held().front(), "/dev/infiniband/uverbs"));
  CHECK(has(held.held().back(), "pinned memory"));
  calls.dereg_mr(region);
  calls.dealloc_pd(domain);
  calls.close_device(port->context);
  ::munmap(memory, kBytes);
  CHECK(held.held().empty());
}
