// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/card.h -- a device that is unplugged for a migration, and how to plug it in again:
// asked of QEMU while it is there, and kept *in* QEMU, as a `secret` object named livebtl-ID, while
// it is not: there a later call finds it if this one is killed. Used by btlctl's one thread.
#pragma once

#include "hypervisor/qmp/qmp.h"
#include "hypervisor/vm/card.h"

namespace livebtl::hypervisor {

/// Whether it is there, and its arguments; `given`: those that the user typed, else null.
Result<Card> find_card(Qmp& qmp, const std::string& id, const Json& given,
                       const Deadline& deadline);
/// ... an error if neither is known; `hint`: what else helps the user then.
Result<Card> find_known_card(Qmp& qmp, const std::string& id, const Json& given, const char* hint,
                             const Deadline& deadline);
/// Has an earlier call noted how to plug it in, as it does before it pulls a card?
Result<bool> was_pulled(Qmp& qmp, const std::string& id, const Deadline& deadline);
Status forget_card(Qmp& qmp, const std::string& id, const Deadline& deadline);
/// device_add; succeeds if it is there already.
Status plug_card(Qmp& qmp, const Card& card, const Deadline& deadline);
/// ... into the QEMU that it was unplugged from. QEMU (7.2) aborts, and the guest with it, if
/// shared memory that a device has had is given to a device again: the memory object would have to
/// be made anew, and we do not know how it was made.
Status plug_card_again(Qmp& qmp, const Card& card, const Deadline& deadline);
/// The object whose memory an ivshmem device shows the guest; "": the card is none, or has none.
std::string shared_memory_of(const Card& card);
/// QEMU (7.2) counts such memory as the guest's even when the device is gone, and no destination
/// has it: so the object is deleted, too. Returns when QEMU has freed it.
Status drop_shared_memory(Qmp& qmp, const Card& card, const Deadline& deadline);
/// device_del, and waits until the guest has let it go; succeeds if it is gone already.
Status unplug_card(Qmp& qmp, const Card& card, const Deadline& deadline);
/// ... after a note of it was made. If it is refused the card stays, and the note is deleted.
Status pull_card(Qmp& qmp, const Card& card, const Deadline& deadline);
/// As a plan shows it: how the card is plugged in; and how into the QEMU that it was pulled from.
std::string plug_text(const Card& card);
std::string plug_again_text(const Card& card);
Result<bool> is_plugged(Qmp& qmp, const std::string& id, const Deadline& deadline);

}  // namespace livebtl::hypervisor
