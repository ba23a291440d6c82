// SPDX-License-Identifier: BSD-3-Clause
// core/switch/released.h -- proof of a release: what a transport held, by the kernel's names, and whether
// this process or a child of it holds any of it still, as /proc tells. Why so: docs/adr/0017.
//
// Threads: what is made of a transport is made under the engine's lock; held() reads /proc and
// nothing else, may take milliseconds, and is called without it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "transports/interface/node_facts.h"

namespace livebtl::core {

class Transport;

class Holdings {
 public:
  /// Nothing is known yet but what the kind may hold: whatever is open of such devices counts.
  explicit Holdings(DeviceFiles devices = {}) : devices_(std::move(devices)) {}
  /// What this transport, which is open, holds now: if a device is among it, only that one counts.
  static Holdings of(const Transport& transport, DeviceFiles devices);
  /// Directly after that transport was closed.
  void note_closed();
  /// Another transport of livebtl's in this process that is open, and may hold devices of the same
  /// kind: what it is known to hold is nobody else's.
  void leave_to(const Transport& other, const std::string& name);

  /// Is there anything to look for?
  bool any() const noexcept { return !files_.empty() || !devices_.prefix.empty(); }
  /// The holders of any of it, for people, at most 32: "/dev/infiniband/uverbs0 is open as descriptor 17
  /// of this process, 4711 (solver); likely by UCX"; and what hinders a look. Empty: nobody.
  std::vector<std::string> held() const;

 private:
  using Event = std::pair<int, std::string>;  // descriptor, name

  bool counts(const std::string& file) const noexcept;
  void add_process(long pid, const std::string& whose, std::vector<std::string>& found) const;
  std::string still_pinned() const;

  DeviceFiles devices_;
  std::vector<std::string> files_;  // of the transport that was open
  bool knows_device_ = false;       // one of `devices_` is among them
  std::vector<std::string> ours_;   // held by other transports of ours
  std::vector<Event> events_;       // of the device, which share one name: by their numbers, too
  std::uint64_t pinned_bytes_ = 0;  // and not given back, as far as is known
  std::uint64_t pinned_before_bytes_ = 0;  // by the whole process, just before it was closed
};

/// Whom to look for, by the transport's name.
using Wanted = std::vector<std::pair<std::string, Holdings>>;
/// "verbs: " before each holder.
std::vector<std::string> holders_of(const Wanted& wanted);

}  // namespace livebtl::core
