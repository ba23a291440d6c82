// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/libvirt/played_libvirt.h -- libvirt's table of functions, over the machines
// of fake_machine.h: libvirt's calls here change the same state that QEMU's monitor changes there.
// Only one exists at a time. Called from any thread; a machine's state is under its own lock.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hypervisor/libvirt/libvirt_vm.h"
#include "tests/unit/hypervisor/fake_machine.h"

namespace livebtl::hypervisor {

/// The machine's name in all places.
inline constexpr const char* kPlayedDomain = "guest";

class PlayedLibvirt {
 public:
  PlayedLibvirt();
  ~PlayedLibvirt();
  PlayedLibvirt(const PlayedLibvirt&) = delete;
  PlayedLibvirt& operator=(const PlayedLibvirt&) = delete;

  /// From now on this machine is the domain at that URI.
  void add(const std::string& uri, FakeMachine& machine);
  /// The daemon there is gone: calls fail until it is added again.
  void crash(const std::string& uri);
  static LibvirtCalls calls();

  /// The place behind a connection, or behind a domain: they are the same here.
  struct Place {
    std::string uri;
    FakeMachine* machine = nullptr;
    std::atomic<bool> crashed{false}, busy{false};
    std::atomic<int> missed{0};  // calls that found the daemon gone
    std::atomic<bool> subscribing_hangs{false}, unsubscribing_hangs{false};
    std::atomic<int> unsubscribed{0};
    // The migration succeeds in the middle of this look, between state and job; 0: it does not.
    std::atomic<int> succeeds_in_look{0};
    // True once the thread of the last call to migrate is over, and the call is seen to have ended.
    std::shared_ptr<std::atomic<bool>> migrate_over;
  };
  struct Callback {
    Place* place = nullptr;
    int event = 0;
    virConnectDomainEventGenericCallback call = nullptr;
    void* opaque = nullptr;
    virFreeCallback forget = nullptr;
  };

  Place* find(const std::string& uri);
  int subscribe(const Callback& callback);
  void unsubscribe(int number);
  void tell(Place& place, int event, const std::string& alias);

  static PlayedLibvirt& current();

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Place>> places_;
  std::map<int, Callback> callbacks_;
  int last_callback_ = 0;
};

}  // namespace livebtl::hypervisor
