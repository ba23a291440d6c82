// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/libvirt/calls.cc -- see calls.h.
#include "hypervisor/libvirt/calls.h"

#include <dlfcn.h>

#include <string>

namespace livebtl::hypervisor {
namespace {

/// Takes functions from one library, and remembers the first that is missing.
class Taker {
 public:
  explicit Taker(const char* library) : library_(::dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) missing_ = ::dlerror();
  }
  template <class Function>
  void take(const char* name, Function& function) {
    if (!missing_.empty()) return;
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    if (function == nullptr)
      missing_ = std::string(name) + " is not in it; it takes libvirt 4.4 or newer";
  }
  const std::string& missing() const noexcept { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

void take_connection(Taker& core, LibvirtCalls& calls) {
  core.take("virInitialize", calls.initialize);
  core.take("virSetErrorFunc", calls.set_error_function);
  core.take("virGetLastError", calls.last_error);
  core.take("virEventRegisterDefaultImpl", calls.event_register);
  core.take("virEventRunDefaultImpl", calls.event_run);
  core.take("virEventAddTimeout", calls.event_add_timeout);
  core.take("virConnectOpen", calls.open);
  core.take("virConnectClose", calls.close);
  core.take("virConnectSetKeepAlive", calls.set_keep_alive);
  core.take("virConnectDomainEventRegisterAny", calls.event_subscribe);
  core.take("virConnectDomainEventDeregisterAny", calls.event_unsubscribe);
}

void take_domain(Taker& core, LibvirtCalls& calls) {
  core.take("virDomainLookupByName", calls.lookup);
  core.take("virDomainFree", calls.free_domain);
  core.take("virDomainGetState", calls.get_state);
  core.take("virDomainGetXMLDesc", calls.get_xml);
  core.take("virDomainGetJobStats", calls.get_job_stats);
  core.take("virDomainAbortJob", calls.abort_job);
  core.take("virDomainIsPersistent", calls.is_persistent);
  core.take("virDomainSetMetadata", calls.set_metadata);
  core.take("virDomainGetMetadata", calls.get_metadata);
  core.take("virDomainDetachDeviceAlias", calls.detach);
  core.take("virDomainAttachDeviceFlags", calls.attach);
  core.take("virDomainSuspend", calls.suspend);
  core.take("virDomainResume", calls.resume);
  core.take("virDomainMigrateToURI3", calls.migrate);
  core.take("virDomainSnapshotCreateXML", calls.create_snapshot);
  core.take("virDomainSnapshotFree", calls.free_snapshot);
  core.take("virDomainRestoreFlags", calls.restore);
  core.take("virTypedParamsFree", calls.free_params);
}

}  // namespace

Result<LibvirtCalls> open_libvirt() {
  LibvirtCalls calls;
  Taker core("libvirt.so.0");
  take_connection(core, calls);
  take_domain(core, calls);
  std::string missing = core.missing();
  if (missing.empty()) {
    Taker qemu("libvirt-qemu.so.0");
    qemu.take("virDomainQemuAgentCommand", calls.agent_command);
    missing = qemu.missing();
  }
  if (missing.empty()) return calls;
  return fail(Errc::kNotFound,
              "libvirt cannot be opened (" + missing +
                  "); install it (Debian: apt install libvirt0), or name QEMU's own "
                  "sockets instead of a domain");
}

}  // namespace livebtl::hypervisor
