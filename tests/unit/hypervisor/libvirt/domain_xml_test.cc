// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/libvirt/domain_xml_test.cc -- libvirt's XML is read, but not trusted.
#include "hypervisor/libvirt/domain_xml.h"

#include <doctest/doctest.h>

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

constexpr const char* kDomain = R"(<domain type='kvm'><name>vm1</name><devices>
<disk type='file'><source file='/root'/><target dev='vda'/><readonly/></disk>
<disk type='file'><source file='/data'/><target dev='vdb'/></disk>
<disk type='file' device='cdrom'><target dev='sda'/></disk>
<hostdev mode='subsystem' type='pci' managed='yes'><alias name='hostdev1'/>
<source><address domain='0x0000' bus='0x3b' slot='0x00' function='0x2'/></source>
<address type='pci' domain='0x0000' bus='0x05' slot='0x00' function='0x0'/></hostdev>
<interface type='bridge'><alias name='net0'/></interface></devices></domain>)";

Card card_of(const std::string& alias) {
  const auto found = find_device(kDomain, alias);
  REQUIRE(found);
  REQUIRE(found->has_value());
  return {alias, true, **found};
}

}  // namespace

TEST_CASE("a device is found by its alias, with what attaches it again") {
  const Card card = card_of("hostdev1");
  CHECK(card.arguments["driver"] == "hostdev");
  CHECK(read_card_arguments(card.arguments.dump()));
  const auto xml = device_xml(card);
  REQUIRE(xml);
  CHECK(xml->find("<hostdev mode=\"subsystem\"") == 0);
  CHECK(xml->find("slot=\"0x00\" function=\"0x2\"") != std::string::npos);
  CHECK_FALSE(find_device(kDomain, "hostdev0")->has_value());
}

TEST_CASE("a device that libvirt has given another alias is known by its place in the guest") {
  std::string again = kDomain;
  again.replace(again.find("hostdev1"), 8, "hostdev7");
  CHECK(*has_device(again, card_of("hostdev1")));
  again.replace(again.find("bus='0x05'"), 10, "bus='0x06'");
  CHECK_FALSE(*has_device(again, card_of("hostdev1")));
  // A device without an address in the guest is known only by its alias.
  std::string renamed = kDomain;
  renamed.replace(renamed.find("net0"), 4, "net1");
  CHECK_FALSE(*has_device(renamed, card_of("net0")));
}

TEST_CASE("disks: those that the guest may write to") {
  CHECK(*writable_disks(kDomain) == std::vector<std::string>{"vdb"});
  CHECK(*all_disks(kDomain) == std::vector<std::string>{"vda", "vdb", "sda"});
}

TEST_CASE("what is not a domain, or not one device, is refused") {
  for (const char* text : {"", "<domain/>", "<domain><devices>", "not XML", "<capabilities/>"}) {
    CAPTURE(text);
    CHECK_FALSE(find_device(text, "net0"));
    CHECK_FALSE(writable_disks(text));
  }
  for (const char* xml : {"", "<hostdev", "<hostdev/><hostdev/>", "<interface/>"}) {
    CAPTURE(xml);
    CHECK_FALSE(device_xml({"a", false, {{"driver", "hostdev"}, {"id", "a"}, {"xml", xml}}}));
  }
  CHECK(device_xml({"a", false, {{"driver", "hostdev"}, {"id", "a"}, {"xml", "<hostdev/>"}}}));
}

TEST_CASE("a note comes back as it was, whatever is in it") {
  for (const char* text : {"", "0x7", R"({"xml":"<hostdev a='1'>&amp;</hostdev>"})", "]]>"}) {
    CAPTURE(text);
    CHECK(read_note_xml(note_xml(text)) == text);
  }
  CHECK(read_note_xml("<livebtl:note xmlns:livebtl=\"urn:livebtl:note:a\">b</livebtl:note>") ==
        "b");
  CHECK(read_note_xml("<note").empty());
}

TEST_CASE("a snapshot is of memory alone, whatever its file is called") {
  const std::string xml = memory_snapshot_xml("/set/<'\">.ram", {"vda", "vdb"});
  CHECK(xml.find("file=\"/set/&lt;'&quot;") != std::string::npos);
  CHECK(xml.find("<disk name=\"vdb\" snapshot=\"no\"/>") != std::string::npos);
}
