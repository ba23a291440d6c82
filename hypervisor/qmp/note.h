// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/note.h -- what a later call must know if this one is killed, kept in QEMU itself:
// a `secret` object, which ends with that QEMU. Used by btlctl's one thread; borrows the monitor.
#pragma once

#include "hypervisor/qmp/qmp.h"

namespace livebtl::hypervisor {

/// The object that says which hold its machine is saved in. No card's: those are named livebtl-ID.
inline constexpr const char* kHoldNote = "livebtl.hold";
/// ... and the one that says what a migration was allowed before it was lifted for that: written
/// once, so that no kill can lose it.
inline constexpr const char* kBandwidthNote = "livebtl.bandwidth";

/// In place of an older one of this name.
Status keep_note(Qmp& qmp, const std::string& name, const std::string& text,
                 const Patience& patience);
/// "": there is none.
Result<std::string> read_note(Qmp& qmp, const std::string& name, const Patience& patience);
/// That there is none is as good.
Status delete_object(Qmp& qmp, const std::string& id, const Patience& patience);

Result<bool> is_listed(Qmp& qmp, const std::string& path, const std::string& name,
                       const Patience& patience);
/// The connection is sound, QEMU merely said no.
bool said_no(const Error& error) noexcept;

}  // namespace livebtl::hypervisor
