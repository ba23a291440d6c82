// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/libvirt/libvirt_test.cc -- libvirt's own library, with its driver for
// tests: what a domain says of itself, notes, power, memory in files. That driver has no devices to
// detach, no agent and no migration: those are in libvirt_vm_test.cc.
#include <doctest/doctest.h>

#include <filesystem>

#include "hypervisor/libvirt/libvirt_vm.h"
#include "tests/unit/hypervisor/qmp/scripted_peer.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

/// The one domain of libvirt's test driver; each connection gets a new copy of it.
struct TestDomain {
  std::unique_ptr<LibvirtHypervisor> hypervisor;
  std::unique_ptr<Vm> vm;

  explicit TestDomain(const char* uri = "test:///default", const char* name = "test") {
    const auto calls = open_libvirt();
    REQUIRE_MESSAGE(calls, (calls ? "" : calls.error().text));
    hypervisor = std::make_unique<LibvirtHypervisor>(*calls);
    vm = hypervisor->reach({uri, "", name}, nullptr);
  }
};

}  // namespace

TEST_CASE("libvirt's test domain: stands still and goes on when it is told to") {
  TestDomain domain;
  CHECK(domain.vm->look(long_enough())->running);
  CHECK_FALSE(domain.vm->look_ready(long_enough()));
  REQUIRE(domain.vm->halt(long_enough()));
  CHECK(domain.vm->look(long_enough())->word == "paused");
  REQUIRE(domain.vm->halt(long_enough()));  // twice is as good as once
  REQUIRE(domain.vm->go_on(long_enough()));
  CHECK(domain.vm->look(long_enough())->running);
  CHECK(domain.vm->give_up_save(long_enough()));  // there is none to give up
}

TEST_CASE("libvirt's test domain: notes are kept, replaced and dropped") {
  TestDomain domain;
  const std::string text = R"({"xml":"<hostdev a='1'/> & more"})";
  CHECK(domain.vm->read_note(kHoldNote, long_enough())->empty());
  REQUIRE(domain.vm->keep_note(kHoldNote, text, long_enough()));
  REQUIRE(domain.vm->keep_note("livebtl-hca0", "other", long_enough()));
  CHECK(*domain.vm->read_note(kHoldNote, long_enough()) == text);
  REQUIRE(domain.vm->keep_note(kHoldNote, "new", long_enough()));
  CHECK(*domain.vm->read_note(kHoldNote, long_enough()) == "new");
  REQUIRE(domain.vm->drop_note(kHoldNote, long_enough()));
  REQUIRE(domain.vm->drop_note(kHoldNote, long_enough()));
  CHECK(domain.vm->read_note(kHoldNote, long_enough())->empty());
  CHECK(*domain.vm->read_note("livebtl-hca0", long_enough()) == "other");
}

TEST_CASE("libvirt refuses in its own words, with what to do next") {
  TestDomain domain;
  const auto card = domain.vm->find_card("hostdev7", {}, "", long_enough());
  REQUIRE_FALSE(card);
  CHECK(card.error().code == Errc::kNotFound);
  CHECK(card.error().text.find("virsh dumpxml test") != std::string::npos);
  TestDomain nobody("test:///default", "nobody");
  const auto seen = nobody.vm->look(long_enough());
  REQUIRE(seen);
  CHECK(seen->word == "not there");
  CHECK_FALSE(seen->running);
  const auto missing = nobody.vm->find_card("a", {}, "", long_enough());
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == Errc::kNotFound);
  CHECK(missing.error().text.find("virsh list --all") != std::string::npos);
  TestDomain nowhere("qemu+unix:///system?socket=/nowhere/libvirt-sock");
  const auto none = nowhere.vm->look(long_enough());
  REQUIRE_FALSE(none);
  CHECK(none.error().code == Errc::kNotFound);
  CHECK(none.error().text.find("/nowhere/libvirt-sock") != std::string::npos);
}
