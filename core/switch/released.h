// SPDX-License-Identifier: BSD-3-Clause
// core/switch/released.h -- proof of a release: what a transport held, by the kernel's names, and
// whether this process or a child still holds any of it, according to /proc. Why: docs/adr/0017.
//
// Threads: all that needs a transport is done under the engine's lock; held() only reads /proc, may
// take milliseconds, and is called without the lock.
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
  /// Only what the kind may hold is known yet: any open file of such devices counts.
  explicit Holdings(DeviceFiles devices = {}) : devices_(std::move(devices)) {}
  /// What this open transport holds now; if that includes a device, only that device counts.
  static Holdings of(const Transport& transport, DeviceFiles devices);
  /// Call directly after that transport was closed.
  void note_closed();
  /// Another open transport of livebtl's in this process, which may hold devices of the same kind:
  /// what it is known to hold does not count.
  void leave_to(const Transport& other, const std::string& name);

  /// Is there anything to look for?
  bool any() const noexcept { return !files_.empty() || !devices_.prefix.empty(); }
  /// The holders of any of it, for people, at most 32: "/dev/infiniband/uverbs0 is open as
  /// descriptor 17 of this process, 4711 (solver); likely by UCX"; and what prevents a look. Empty:
  /// nobody.
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
  std::vector<Event> events_;       // of the device; all share one name, so kept with numbers
  std::uint64_t pinned_bytes_ = 0;  // not given back yet, as far as is known
  std::uint64_t pinned_before_bytes_ = 0;  // by the whole process, just before it was closed
};

/// What to look for, by the transport's name.
using Wanted = std::vector<std::pair<std::string, Holdings>>;
/// Each holder, with "verbs: " in front.
std::vector<std::string> holders_of(const Wanted& wanted);

}  // namespace livebtl::core
