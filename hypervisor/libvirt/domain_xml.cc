// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/libvirt/domain_xml.cc -- see domain_xml.h.
#include "hypervisor/libvirt/domain_xml.h"

#include <pugixml.hpp>
#include <sstream>

namespace livebtl::hypervisor {
namespace {

constexpr std::size_t kXmlBytesMax = std::size_t{4} << 20;

std::string text_of_node(const pugi::xml_node& node) {
  std::ostringstream text;
  node.print(text, "", pugi::format_raw);
  return text.str();
}

std::string attribute(const pugi::xml_node& node, const char* child, const char* name) {
  return node.child(child).attribute(name).as_string();
}

Result<pugi::xml_node> devices_of(const std::string& domain_xml, pugi::xml_document& document) {
  if (domain_xml.size() > kXmlBytesMax ||
      !document.load_buffer(domain_xml.data(), domain_xml.size()) ||
      !document.child("domain").child("devices"))
    return fail(Errc::kCorrupt, "what libvirt says of the domain is not the XML of a domain");
  return document.child("domain").child("devices");
}

/// Whether both are at the same place in the guest.
bool same_address(const pugi::xml_node& one, const pugi::xml_node& other) {
  if (!one.child("address") || !other.child("address")) return false;
  for (const char* part : {"type", "domain", "bus", "slot", "function"}) {
    if (attribute(one, "address", part) != attribute(other, "address", part)) return false;
  }
  return attribute(one, "address", "type") == "pci";
}

/// The device that a card's arguments describe; empty if they describe none.
pugi::xml_node described(const Card& card, pugi::xml_document& document) {
  const std::string xml = text_member(card.arguments, "xml");
  if (xml.empty() || xml.size() > kXmlBytesMax || !document.load_buffer(xml.data(), xml.size()))
    return {};
  const pugi::xml_node device = document.first_child();
  return device.next_sibling() ? pugi::xml_node() : device;
}

std::vector<std::string> disks_of(const pugi::xml_node& devices, bool writable_alone) {
  std::vector<std::string> names;
  for (const pugi::xml_node& disk : devices.children("disk")) {
    const bool fixed = disk.child("readonly") || !disk.child("source");
    if (writable_alone && fixed) continue;
    names.push_back(attribute(disk, "target", "dev"));
  }
  return names;
}

Result<std::vector<std::string>> disks_in(const std::string& domain_xml, bool writable_alone) {
  pugi::xml_document document;
  const auto devices = devices_of(domain_xml, document);
  if (!devices) return tl::unexpected(devices.error());
  return disks_of(*devices, writable_alone);
}

}  // namespace

Result<std::optional<Json>> find_device(const std::string& domain_xml, const std::string& alias) {
  pugi::xml_document document;
  const auto devices = devices_of(domain_xml, document);
  if (!devices) return tl::unexpected(devices.error());
  for (const pugi::xml_node& device : devices->children()) {
    if (attribute(device, "alias", "name") != alias) continue;
    return std::optional<Json>(
        Json{{"driver", device.name()}, {"id", alias}, {"xml", text_of_node(device)}});
  }
  return std::optional<Json>();
}

Result<bool> has_device(const std::string& domain_xml, const Card& card) {
  pugi::xml_document document;
  const auto devices = devices_of(domain_xml, document);
  if (!devices) return tl::unexpected(devices.error());
  pugi::xml_document wanted_document;
  const pugi::xml_node wanted = described(card, wanted_document);
  for (const pugi::xml_node& device : devices->children()) {
    if (attribute(device, "alias", "name") == card.id) return true;
    if (wanted && std::string(device.name()) == wanted.name() && same_address(device, wanted))
      return true;
  }
  return false;
}

Result<std::string> device_xml(const Card& card) {
  pugi::xml_document document;
  const pugi::xml_node device = described(card, document);
  if (device && text_member(card.arguments, "driver") == device.name()) return text_of_node(device);
  return fail(Errc::kInvalid,
              "how to attach " + card.id +
                  " is not known: its arguments need driver, id, and in xml the device as virsh "
                  "attach-device takes it; give --card-args");
}

Result<std::vector<std::string>> writable_disks(const std::string& domain_xml) {
  return disks_in(domain_xml, true);
}

Result<std::vector<std::string>> all_disks(const std::string& domain_xml) {
  return disks_in(domain_xml, false);
}

std::string memory_snapshot_xml(const std::string& path, const std::vector<std::string>& disks) {
  pugi::xml_document document;
  pugi::xml_node snapshot = document.append_child("domainsnapshot");
  pugi::xml_node memory = snapshot.append_child("memory");
  memory.append_attribute("snapshot") = "external";
  memory.append_attribute("file") = path.c_str();
  pugi::xml_node list = snapshot.append_child("disks");
  for (const std::string& name : disks) {
    pugi::xml_node disk = list.append_child("disk");
    disk.append_attribute("name") = name.c_str();
    disk.append_attribute("snapshot") = "no";
  }
  return text_of_node(snapshot);
}

std::string note_namespace(const std::string& name) { return "urn:livebtl:note:" + name; }

std::string note_xml(const std::string& text) {
  pugi::xml_document document;
  pugi::xml_node note = document.append_child("note");
  note.append_child(pugi::node_pcdata).set_value(text.c_str());
  return text_of_node(note);
}

std::string read_note_xml(const std::string& element) {
  pugi::xml_document document;
  if (element.size() > kXmlBytesMax || !document.load_buffer(element.data(), element.size()))
    return "";
  return document.first_child().child_value();
}

}  // namespace livebtl::hypervisor
