// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/card.h -- a device that is unplugged for a migration, and how to plug it in again.
// QEMU tells that while the device is there, and keeps it as a `secret` object named livebtl-ID
// while it is not, so that a later call finds it if this one is killed. Used by btlctl's one
// thread.
#pragma once

#include "hypervisor/qmp/qmp.h"
#include "hypervisor/vm/card.h"

namespace livebtl::hypervisor {

/// Whether the card is there, and its arguments; `given`: those that the user typed, else null.
Result<Card> find_card(Qmp& qmp, const std::string& id, const Json& given,
                       const Deadline& deadline);
/// The same, but an error if it is not there and its arguments are unknown; `hint`: added to the
/// text.
Result<Card> find_known_card(Qmp& qmp, const std::string& id, const Json& given, const char* hint,
                             const Deadline& deadline);
/// Whether an earlier call noted how to plug it in, as pull_card() does.
Result<bool> was_pulled(Qmp& qmp, const std::string& id, const Deadline& deadline);
Status forget_card(Qmp& qmp, const std::string& id, const Deadline& deadline);
/// device_add; succeeds if it is there already.
Status plug_card(Qmp& qmp, const Card& card, const Deadline& deadline);
/// The same, into the QEMU that it was unplugged from. QEMU (7.2) aborts, and the guest with it, if
/// a device is given shared memory that a device had before: the memory object would have to be
/// made anew, and we do not know how it was made.
Status plug_card_again(Qmp& qmp, const Card& card, const Deadline& deadline);
/// The object whose memory an ivshmem device shows to the guest; "": the card is no such device, or
/// has no such object.
std::string shared_memory_of(const Card& card);
/// Deletes that object, and returns when QEMU has freed it. QEMU (7.2) counts its memory as the
/// guest's even after the device is gone, and no destination has it.
Status drop_shared_memory(Qmp& qmp, const Card& card, const Deadline& deadline);
/// device_del, then waits until the guest has given it up; succeeds if it is gone already.
Status unplug_card(Qmp& qmp, const Card& card, const Deadline& deadline);
/// The same after making a note of it. If it is refused, the card stays and the note is deleted.
Status pull_card(Qmp& qmp, const Card& card, const Deadline& deadline);
/// How the card is plugged in, as a plan shows it; and back into the QEMU that it was pulled from.
std::string plug_text(const Card& card);
std::string plug_again_text(const Card& card);
Result<bool> is_plugged(Qmp& qmp, const std::string& id, const Deadline& deadline);

}  // namespace livebtl::hypervisor
