// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/card.h -- a device that is unplugged for a migration, and how to plug it in again:
// asked of QEMU while it is there, and kept *in* QEMU, as a `secret` object named livebtl-ID, while
// it is not: there a later call finds it if this one is killed. Used by btlctl's one thread.
#pragma once

#include "hypervisor/qmp/qmp.h"

namespace livebtl::hypervisor {

struct Card {
  std::string id;
  bool present = false;  // plugged in
  Json arguments;        // of device_add; null: unknown
};

/// An identifier as QEMU's devices and objects have them.
bool well_formed_id(const std::string& id);
/// device_add's arguments as somebody typed them: an object of plain values with `driver` and `id`.
Result<Json> read_card_arguments(const std::string& text);

/// Whether it is there, and its arguments; `given`: those that somebody typed, else null.
Result<Card> find_card(Qmp& qmp, const std::string& id, const Json& given,
                       const Patience& patience);
/// Is it kept how to plug it in, by a call that has pulled it?
Result<bool> was_pulled(Qmp& qmp, const std::string& id, const Patience& patience);
Status remember_card(Qmp& qmp, const Card& card, const Patience& patience);
Status forget_card(Qmp& qmp, const std::string& id, const Patience& patience);
/// device_add; that it is there already is as good.
Status plug_card(Qmp& qmp, const Card& card, const Patience& patience);
/// ... to a QEMU that it was unplugged from. QEMU (7.2) aborts, and the guest with it, when shared
/// memory that a device has had is given to one again: its memory object has to be made anew, of
/// which we know nothing.
Status plug_card_again(Qmp& qmp, const Card& card, const Patience& patience);
/// The object whose memory an ivshmem device shows the guest; "": it is none, or has none.
std::string shared_memory_of(const Card& card);
/// QEMU (7.2) goes on counting such memory as the guest's when the device is gone, and no
/// destination has it: so the object goes too. Returns when QEMU has freed it.
Status drop_shared_memory(Qmp& qmp, const Card& card, const Patience& patience);
/// device_del, and waiting until the guest has let it go; that it is gone already is as good.
Status unplug_card(Qmp& qmp, const Card& card, const Patience& patience);
/// ... remembered before. Of one that is refused nothing is kept: it stays.
Status pull_card(Qmp& qmp, const Card& card, const Patience& patience);
/// As a plan shows it: how the card is plugged in; and again.
std::string plug_text(const Card& card);
std::string plug_again_text(const Card& card);
Result<bool> is_plugged(Qmp& qmp, const std::string& id, const Patience& patience);

}  // namespace livebtl::hypervisor
