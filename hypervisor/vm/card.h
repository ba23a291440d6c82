// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/card.h -- a device that is unplugged for a migration or a snapshot, and how to plug
// it in again. A value.
#pragma once

#include "hypervisor/vm/untrusted.h"

namespace livebtl::hypervisor {

struct Card {
  std::string id;
  bool present = false;  // plugged in
  /// An object of plain values that has `driver` and `id`; null if unknown. QMP: the arguments of
  /// device_add. libvirt: the driver is the name of the XML element, and `xml` describes the
  /// device.
  Json arguments;
};

/// Whether `id` can be the id of a QEMU device or object.
bool well_formed_id(const std::string& id);
/// Reads a card's arguments as typed by the user or stored in a set.
Result<Json> read_card_arguments(const std::string& text);

}  // namespace livebtl::hypervisor
