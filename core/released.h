// SPDX-License-Identifier: BSD-3-Clause
// core/released.h -- proof of a release: what a transport held, by the kernel's names, and who of
// this process and its children holds any of it still, as /proc tells.
//
// Threads: reads /proc and nothing else, so any; it may take milliseconds.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/node_facts.h"

namespace livebtl::core {

class Transport;

class Holdings {
 public:
  /// Nothing is known yet but what the kind may hold: whatever is open of such devices counts.
  explicit Holdings(DeviceFiles devices = {}) : devices_(std::move(devices)) {}
  /// What this transport, which is open, holds now: if a device is among it, only that one counts.
  static Holdings of(const Transport& transport, DeviceFiles devices);

  /// Is there anything to look for?
  bool any() const noexcept { return !files_.empty() || !devices_.prefix.empty(); }
  /// Who holds any of it, for people: "/dev/infiniband/uverbs0 is open as descriptor 17 of this
  /// process, 4711 (solver); likely by UCX". Empty: nobody.
  std::vector<std::string> held() const;
  /// Once the transport has been closed, and only shortly after: what it had pinned and is not
  /// given back, as a text. Empty: nothing.
  std::vector<std::string> still_pinned() const;

 private:
  struct Event {
    int fd;
    std::string name;
  };

  bool counts(const std::string& file) const noexcept;
  void add_process(long pid, const std::string& whose, std::vector<std::string>& found) const;

  DeviceFiles devices_;
  std::vector<std::string> files_;  // of the transport that was open
  bool knows_device_ = false;       // one of `devices_` is among them
  std::vector<Event> events_;       // of the device, which share one name: by their numbers, too
  std::uint64_t pinned_bytes_ = 0;
  std::uint64_t pinned_before_bytes_ = 0;  // by the whole process, while it was open
};

}  // namespace livebtl::core
