// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/libvirt/played_calls.h -- what the played libvirt's files share: handles,
// and errors of the calling thread.
#pragma once

#include "tests/unit/hypervisor/libvirt/played_libvirt.h"

namespace livebtl::hypervisor::played {

virErrorPtr last_error();
/// Returns -1, after making this the thread's last error.
int failed(int code, const std::string& text, int domain = VIR_FROM_QEMU);
/// ... in QEMU's words.
int said_so(const Json& refused);
PlayedLibvirt::Place& place_of(virConnectPtr connection);
PlayedLibvirt::Place& place_of(virDomainPtr domain);
/// Is the daemon gone? If so, sets the error.
bool gone(PlayedLibvirt::Place& place);
/// The caller frees it.
char* copy_of(const std::string& text);
void set_memory_calls(LibvirtCalls& calls);

}  // namespace livebtl::hypervisor::played
