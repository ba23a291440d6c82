// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/note.h -- notes that a later call needs if this one is killed, kept in QEMU
// itself: `secret` objects, which end with that QEMU. Used by btlctl's one thread; borrows the
// monitor.
#pragma once

#include "hypervisor/qmp/qmp.h"

namespace livebtl::hypervisor {

/// The note of the migration bandwidth before it was raised for saving: written only once, so that
/// no kill can lose it.
inline constexpr const char* kBandwidthNote = "livebtl.bandwidth";

/// Replaces an older note of this name.
Status keep_note(Qmp& qmp, const std::string& name, const std::string& text,
                 const Deadline& deadline);
/// "" if there is none.
Result<std::string> read_note(Qmp& qmp, const std::string& name, const Deadline& deadline);
/// Succeeds if there is no such object.
Status delete_object(Qmp& qmp, const std::string& id, const Deadline& deadline);

/// Whether the object at `path` has a child of this name.
Result<bool> is_listed(Qmp& qmp, const std::string& path, const std::string& name,
                       const Deadline& deadline);
/// Whether QEMU refused, so that the connection is still sound.
bool said_no(const Error& error) noexcept;

}  // namespace livebtl::hypervisor
