// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/libvirt/calls.h -- a table of libvirt's functions, by name, from libraries that are
// opened when the first machine is reached by libvirt: btlctl runs without them (docs/adr/0064).
// Tests supply a table of their own. Values; the libraries stay open until the process ends.
#pragma once

#include <libvirt/libvirt-qemu.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <livebtl/result.h>

namespace livebtl::hypervisor {

struct LibvirtCalls {
  decltype(&virInitialize) initialize = nullptr;
  decltype(&virSetErrorFunc) set_error_function = nullptr;
  decltype(&virGetLastError) last_error = nullptr;
  decltype(&virEventRegisterDefaultImpl) event_register = nullptr;
  decltype(&virEventRunDefaultImpl) event_run = nullptr;
  decltype(&virEventAddTimeout) event_add_timeout = nullptr;
  decltype(&virConnectOpen) open = nullptr;
  decltype(&virConnectClose) close = nullptr;
  decltype(&virConnectSetKeepAlive) set_keep_alive = nullptr;
  decltype(&virConnectDomainEventRegisterAny) event_subscribe = nullptr;
  decltype(&virConnectDomainEventDeregisterAny) event_unsubscribe = nullptr;
  decltype(&virDomainLookupByName) lookup = nullptr;
  decltype(&virDomainFree) free_domain = nullptr;
  decltype(&virDomainGetState) get_state = nullptr;
  decltype(&virDomainGetXMLDesc) get_xml = nullptr;
  decltype(&virDomainGetJobStats) get_job_stats = nullptr;
  decltype(&virDomainAbortJob) abort_job = nullptr;
  decltype(&virDomainIsPersistent) is_persistent = nullptr;
  decltype(&virDomainSetMetadata) set_metadata = nullptr;
  decltype(&virDomainGetMetadata) get_metadata = nullptr;
  decltype(&virDomainDetachDeviceAlias) detach = nullptr;
  decltype(&virDomainAttachDeviceFlags) attach = nullptr;
  decltype(&virDomainSuspend) suspend = nullptr;
  decltype(&virDomainResume) resume = nullptr;
  decltype(&virDomainMigrateToURI3) migrate = nullptr;
  decltype(&virDomainSnapshotCreateXML) create_snapshot = nullptr;
  decltype(&virDomainSnapshotFree) free_snapshot = nullptr;
  decltype(&virDomainRestoreFlags) restore = nullptr;
  decltype(&virTypedParamsFree) free_params = nullptr;
  decltype(&virDomainQemuAgentCommand) agent_command = nullptr;  // from libvirt-qemu
};

/// kNotFound: the libraries are not installed, or one of these functions is missing from them; the
/// text says what to install.
Result<LibvirtCalls> open_libvirt();

}  // namespace livebtl::hypervisor
