// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/libvirt/domain_xml.h -- the XML that libvirt gives and takes of a domain: devices by
// alias, disks, notes, a snapshot. Pure. What is read is hostile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hypervisor/vm/card.h"

namespace livebtl::hypervisor {

/// The device with this alias, as a card's arguments; nullopt: the domain has none. kCorrupt: not a
/// domain.
Result<std::optional<Json>> find_device(const std::string& domain_xml, const std::string& alias);
/// Whether the domain has the device: by its alias, or by its kind and its address in the guest, as
/// libvirt gives a device another alias when it is attached again.
Result<bool> has_device(const std::string& domain_xml, const Card& card);
/// The XML to attach the card with; kInvalid: its arguments have none, or it is not one device.
Result<std::string> device_xml(const Card& card);

/// Names (vda) of the disks that the guest may write to, and of all disks.
Result<std::vector<std::string>> writable_disks(const std::string& domain_xml);
Result<std::vector<std::string>> all_disks(const std::string& domain_xml);
/// For a snapshot of the memory alone, into that file.
std::string memory_snapshot_xml(const std::string& path, const std::vector<std::string>& disks);

// A note is an element of the domain's metadata, in a namespace of its own.
std::string note_namespace(const std::string& name);
std::string note_xml(const std::string& text);
std::string read_note_xml(const std::string& element);

}  // namespace livebtl::hypervisor
