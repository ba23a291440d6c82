// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/libvirt/played_places.cc -- see played_libvirt.h: daemons, errors and events.
#include <cstring>

#include "tests/unit/hypervisor/libvirt/played_calls.h"

namespace livebtl::hypervisor {
namespace {

using Place = PlayedLibvirt::Place;

PlayedLibvirt* the_one = nullptr;
thread_local virError error_of_thread{};
thread_local std::string text_of_thread;

}  // namespace

virErrorPtr played::last_error() { return &error_of_thread; }

int played::failed(int code, const std::string& text, int domain) {
  text_of_thread = text;
  error_of_thread.code = code;
  error_of_thread.domain = domain;
  error_of_thread.message = text_of_thread.data();
  return -1;
}

PlayedLibvirt::Place& played::place_of(virConnectPtr connection) {
  return *reinterpret_cast<Place*>(connection);
}
PlayedLibvirt::Place& played::place_of(virDomainPtr domain) {
  return *reinterpret_cast<Place*>(domain);
}

bool played::gone(PlayedLibvirt::Place& place) {
  if (!place.crashed.load()) return false;
  place.missed.fetch_add(1);
  failed(VIR_ERR_RPC, "client socket is closed", VIR_FROM_RPC);
  return true;
}

char* played::copy_of(const std::string& text) { return ::strdup(text.c_str()); }

int played::said_so(const Json& refused) {
  return failed(VIR_ERR_OPERATION_FAILED,
                "internal error: unable to execute QEMU command: " + refused.get<std::string>());
}

PlayedLibvirt::PlayedLibvirt() { the_one = this; }
PlayedLibvirt::~PlayedLibvirt() { the_one = nullptr; }
PlayedLibvirt& PlayedLibvirt::current() { return *the_one; }

void PlayedLibvirt::add(const std::string& uri, FakeMachine& machine) {
  Place* place = find(uri);
  const std::lock_guard lock(mutex_);
  if (place == nullptr) {
    places_.push_back(std::make_unique<Place>());
    place = places_.back().get();
    place->uri = uri;
  }
  // A daemon that comes back keeps its machine: calls from before the crash may still look at it.
  if (place->machine != &machine) place->machine = &machine;
  place->crashed.store(false);
}

void PlayedLibvirt::crash(const std::string& uri) { find(uri)->crashed.store(true); }

PlayedLibvirt::Place* PlayedLibvirt::find(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  for (const auto& place : places_) {
    if (place->uri == uri) return place.get();
  }
  return nullptr;
}

int PlayedLibvirt::subscribe(const Callback& callback) {
  const std::lock_guard lock(mutex_);
  callbacks_[++last_callback_] = callback;
  return last_callback_;
}

void PlayedLibvirt::unsubscribe(int number) {
  const std::lock_guard lock(mutex_);
  const auto found = callbacks_.find(number);
  REQUIRE(found != callbacks_.end());
  found->second.forget(found->second.opaque);
  callbacks_.erase(found);
}

void PlayedLibvirt::tell(Place& place, int event, const std::string& alias) {
  using OnDevice = void (*)(virConnectPtr, virDomainPtr, const char*, void*);
  const std::lock_guard lock(mutex_);
  for (const auto& [number, callback] : callbacks_) {
    if (callback.place == &place && callback.event == event)
      reinterpret_cast<OnDevice>(reinterpret_cast<void (*)()>(callback.call))(
          nullptr, nullptr, alias.c_str(), callback.opaque);
  }
}

}  // namespace livebtl::hypervisor
