// SPDX-License-Identifier: BSD-3-Clause
// What a verbs transport needs to be created, what it reports if it cannot be, and that an attempt
// leaves nothing behind.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "core/switch/released.h"
#include "tests/fake_verbs/world.h"
#include "tests/unit/says.h"
#include "transports/verbs/verbs_errors.h"

using namespace livebtl;
using namespace livebtl::conformance;
using fake_verbs::World;
using livebtl::test::says;

namespace {

std::string refusal(World& world, Errc code) {
  const auto made = world.make(1);
  REQUIRE(!made.has_value());
  CHECK(made.error().code == code);
  CHECK(world.fabric.alive() == 0);
  return made.error().text;
}

}  // namespace

TEST_CASE("memory that cannot be registered: the limit is named, and nothing is left") {
  World world;
  for (const std::size_t limit : {std::size_t{0}, std::size_t{1} << 20, std::size_t{3} << 20}) {
    world.adapters[0]->register_max = limit;
    CHECK(says(refusal(world, Errc::kNoMemory), "cannot register 1028 KiB"));
  }
}

TEST_CASE("a limit on locked memory is named by whatever may have hit it") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_MEMLOCK, &before) == 0);
  const rlimit low{std::min<rlim_t>(before.rlim_max, 64 << 10), before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_MEMLOCK, &low) == 0);
  const std::string limit =
      "the limit on locked memory is " + std::to_string(low.rlim_cur >> 10) + " KiB: raise it";
  World world;
  world.adapters[0]->register_max = 0;
  CHECK(says(refusal(world, Errc::kNoMemory), limit.c_str()));
  const Error queue = verbs::cannot_make("a completion queue", ENOMEM);
  CHECK(says(queue.text, "cannot create a completion queue"));
  CHECK(says(queue.text, limit.c_str()));
  CHECK_FALSE(says(verbs::cannot_make("a completion queue", EMFILE).text, "locked"));
  REQUIRE(::setrlimit(RLIMIT_MEMLOCK, &before) == 0);
  CHECK(says(verbs::cannot_register(1 << 20, ENOMEM).text, "locked") ==
        (before.rlim_cur != RLIM_INFINITY));
}

TEST_CASE("a device without a shared receive queue, or with a tiny one, is refused") {
  World world;
  world.adapters[0]->max_srq = 0;
  CHECK(says(refusal(world, Errc::kUnsupported), "shared receive queue"));
  world.adapters[0]->max_srq = 10;
  world.adapters[0]->max_srq_wr = 63;
  CHECK(says(refusal(world, Errc::kUnsupported), "large enough"));
  world.adapters[0]->max_srq_wr = 32768;
  world.adapters[0]->max_cqe = 255;
  CHECK(says(refusal(world, Errc::kUnsupported), "large enough"));
}

TEST_CASE("connections beyond what can be registered are refused; the others go on") {
  World world;
  Rig rig(world.subject());
  Link link = rig.link();
  world.adapters[0]->register_max = world.adapters[0]->registered;
  std::vector<std::unique_ptr<Endpoint>> more;
  std::string text;
  for (int i = 0; i < 100 && text.empty(); ++i) {
    auto dialled = rig.a().transport->connect(rig.b().transport->contact());
    if (dialled)
      more.push_back(std::move(*dialled));
    else
      text = dialled.error().text;
  }
  CHECK(says(text, "cannot register"));
  REQUIRE(transfer(rig, *link.a, *link.b, {{1, 8, 20000}}));
}

TEST_CASE("more connections than the device has room for are refused") {
  World world;
  world.adapters[0]->max_srq_wr = 96;  // 60 shared, and nine floors
  Rig rig(world.subject());
  std::vector<std::unique_ptr<Endpoint>> taken;
  for (int i = 0; i < 9; ++i) {
    auto dialled = rig.a().transport->connect(rig.b().transport->contact());
    REQUIRE(dialled.has_value());
    taken.push_back(std::move(*dialled));
  }
  const auto one_more = rig.a().transport->connect(rig.b().transport->contact());
  REQUIRE(!one_more.has_value());
  CHECK(one_more.error().code == Errc::kLimit);
  taken.clear();
  rig.settle();
  CHECK(rig.a().transport->connect(rig.b().transport->contact()).has_value());
}

TEST_CASE("peers that never say a hello do not use up the device") {
  World world;
  Rig rig(world.subject());
  std::vector<std::unique_ptr<Endpoint>> dialled, admitted;
  Errc code = Errc::kOk;
  while (code == Errc::kOk) {
    REQUIRE(dialled.size() < 1000);
    dialled.push_back(*rig.a().transport->connect(rig.b().transport->contact()));
    auto one = rig.b().transport->by_ticket()->admit(dialled.back()->by_ticket()->ticket());
    if (one)
      admitted.push_back(std::move(*one));
    else
      code = one.error().code;
  }
  CHECK(code == Errc::kLimit);
}

TEST_CASE("its descriptors are told, and closed with it") {
  World world;
  auto made = world.make(1);
  REQUIRE(made.has_value());
  const std::vector<int> descriptors = (*made)->holds_device()->descriptors();
  CHECK(descriptors.size() == 4);  // the device's, its events', the completions', and epoll's
  const auto open = [](int fd) {
    return std::filesystem::exists(
        std::filesystem::symlink_status("/proc/self/fd/" + std::to_string(fd)));
  };
  for (const int fd : descriptors) CHECK(open(fd));
  made->reset();
  for (const int fd : descriptors) CHECK(!open(fd));
}

TEST_CASE("of a device that was opened, that one alone is looked for afterwards") {
  World world;
  auto made = world.make(1);
  REQUIRE(made.has_value());
  CHECK((*made)->holds_device()->pinned_bytes() > std::size_t{1} << 20);
  const core::DeviceFiles devices{"/memfd:fake-uverbs"};
  auto held = core::Holdings::of(**made, devices);
  CHECK(held.held().size() == 1);
  const Fd copy(::fcntl((*made)->holds_device()->descriptors()[1], F_DUPFD_CLOEXEC, 0));
  auto other = world.make(2);
  made->reset();
  held.note_closed();
  REQUIRE(held.held().size() == 1);
  CHECK(says(held.held()[0], ("descriptor " + std::to_string(copy.number())).c_str()));
  core::Holdings any(devices);
  CHECK(any.held().size() == 2);
  any.leave_to(**other, "verbs");
  CHECK(any.held().size() == 1);  // what another of our transports has counts as ours
}

TEST_CASE("a ticket of another fabric or with other buffers is refused") {
  World world;
  Rig rig(world.subject());
  const auto dialled = rig.b().transport->connect(rig.a().transport->contact());
  REQUIRE(dialled.has_value());
  const auto good = verbs::decode_ticket((*dialled)->by_ticket()->ticket());
  REQUIRE(good.has_value());
  verbs::Ticket ticket = *good;
  ticket.port.gid = fake_verbs::gid("fd00::9");
  const auto elsewhere = rig.a().transport->by_ticket()->admit(verbs::encode_ticket(ticket));
  REQUIRE(!elsewhere.has_value());
  CHECK(elsewhere.error().code == Errc::kUnreachable);
  ticket = *good;
  ticket.payload_bytes_max = 4096;
  CHECK(!rig.a().transport->by_ticket()->admit(verbs::encode_ticket(ticket)).has_value());
  ticket = *good;
  ticket.credits = 3;
  CHECK(!rig.a().transport->by_ticket()->admit(verbs::encode_ticket(ticket)).has_value());
}
