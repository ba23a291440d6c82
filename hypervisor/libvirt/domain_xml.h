// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/libvirt/domain_xml.h -- what libvirt says of a domain, as XML, and what it is told so: devices by
// alias, disks, notes, a snapshot. Pure. What is read is hostile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hypervisor/vm/card.h"

namespace livebtl::hypervisor {

/// The device of this alias, as arguments of a card; nullopt: the domain has none. kCorrupt: not a domain.
Result<std::optional<Json>> find_device(const std::string& domain_xml, const std::string& alias);
/// Whether the domain has the device: by its alias, or, as libvirt gives aliases anew when a device is
/// attached again, by its kind and its address in the guest.
Result<bool> has_device(const std::string& domain_xml, const Card& card);
/// The XML by which the card is attached; kInvalid: its arguments have none, or it is not one device.
Result<std::string> device_xml(const Card& card);

/// Names of disks that the guest may write to, and of all (vda).
Result<std::vector<std::string>> writable_disks(const std::string& domain_xml);
Result<std::vector<std::string>> all_disks(const std::string& domain_xml);
/// Of a snapshot of its memory alone, into that file.
std::string memory_snapshot_xml(const std::string& path, const std::vector<std::string>& disks);

// A note is an element of the domain's metadata, in a namespace of its own.
std::string note_namespace(const std::string& name);
std::string note_xml(const std::string& text);
std::string read_note_xml(const std::string& element);

}  // namespace livebtl::hypervisor
