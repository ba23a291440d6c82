// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/libvirt/played_calls.h -- what the files of the played libvirt share: handles, and errors in the
// calling thread.
#pragma once

#include "tests/unit/hypervisor/libvirt/played_libvirt.h"

namespace livebtl::hypervisor::played {

virErrorPtr last_error();
/// Returns -1; the error is the thread's last one from then on.
int failed(int code, const std::string& text, int domain = VIR_FROM_QEMU);
/// ... in QEMU's words.
int said_so(const Json& refused);
PlayedLibvirt::Place& place_of(virConnectPtr connection);
PlayedLibvirt::Place& place_of(virDomainPtr domain);
/// The daemon is; then the error says so.
bool gone(PlayedLibvirt::Place& place);
/// For the caller to free.
char* copy_of(const std::string& text);
void set_memory_calls(LibvirtCalls& calls);

}  // namespace livebtl::hypervisor::played
