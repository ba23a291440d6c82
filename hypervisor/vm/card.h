// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/card.h -- a device that is unplugged for a migration or a snapshot, and how to plug it in
// again. A value.
#pragma once

#include "hypervisor/vm/untrusted.h"

namespace livebtl::hypervisor {

struct Card {
  std::string id;
  bool present = false;  // plugged in
  /// An object with `driver` and `id`, of plain values. QMP: device_add's arguments; libvirt: its element's
  /// name is the driver, and `xml` describes the device. null: unknown.
  Json arguments;
};

/// An identifier as QEMU's devices and objects have them.
bool well_formed_id(const std::string& id);
/// A card's arguments as the user typed them, or as a set has them.
Result<Json> read_card_arguments(const std::string& text);

}  // namespace livebtl::hypervisor
