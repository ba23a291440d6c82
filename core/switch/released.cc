// SPDX-License-Identifier: BSD-3-Clause
// core/switch/released.cc -- see released.h.
#include "core/switch/released.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "transports/interface/transport.h"

namespace livebtl::core {

namespace {

namespace fs = std::filesystem;

// Kernel, uverbs_std_types.c: asynchronous events and completions, each of which holds its device.
constexpr const char* kEventName = "anon_inode:[infinibandevent]";
constexpr std::size_t kProcessesMax = 1024;  // a child that forks without end is not followed
constexpr std::size_t kHoldersMax = 32;      // reported

std::string proc(long pid, const char* what) { return "/proc/" + std::to_string(pid) + "/" + what; }

/// Visits each entry; no exception if the directory changes. Returns the error that ended it.
template <class Act>
std::error_code each_entry(const std::string& directory, const Act& act) {
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
    act(at->path());
  return error;
}

std::string name_of(const fs::path& link) {
  std::error_code error;
  const auto target = fs::read_symlink(link, error);
  return error ? std::string{} : target.string();
}

std::string first_line(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

// Children of all of its threads; those that end meanwhile are not found.
std::vector<long> children_of(long pid) {
  std::vector<long> children;
  each_entry(proc(pid, "task"), [&](const fs::path& task) {
    std::istringstream line(first_line(task / "children"));
    for (long child = 0; line >> child;) children.push_back(child);
  });
  return children;
}

std::vector<long> descendants() {
  std::vector<long> all = children_of(::getpid());
  for (std::size_t i = 0; i < all.size() && all.size() < kProcessesMax; ++i) {
    const std::vector<long> more = children_of(all[i]);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

// Bytes that the kernel counts as pinned by this process; also 0 where it does not say.
std::uint64_t pinned_now_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmPin:", 0) == 0) return std::strtoull(line.c_str() + 6, nullptr, 10) << 10U;
  }
  return 0;
}

// Files that are mapped, each once.
std::set<std::string> mapped_files(long pid) {
  std::set<std::string> files;
  std::ifstream maps(proc(pid, "maps"));
  for (std::string line; std::getline(maps, line);) {
    const std::size_t at = line.find('/');
    if (at != std::string::npos) files.insert(line.substr(at));
  }
  return files;
}

// "; likely by ...": the loaded ones of the libraries that may hold such a device.
std::string likely(const DeviceFiles& devices, const std::set<std::string>& mapped) {
  std::string names;
  for (const auto& [library, holder] : devices.likely_holders) {
    const auto loaded = [&, &part = library](const std::string& file) {
      return file.find(part) != std::string::npos;
    };
    if (std::ranges::any_of(mapped, loaded)) names += (names.empty() ? "" : " or ") + holder;
  }
  return names.empty() ? names : "; likely by " + names;
}

}  // namespace

Holdings Holdings::of(const Transport& transport, DeviceFiles devices) {
  Holdings holdings(std::move(devices));
  const std::string& prefix = holdings.devices_.prefix;
  const HoldsDevice* const holder = transport.holds_device();
  if (holder == nullptr) return holdings;
  for (const int fd : holder->descriptors()) {
    std::string name = name_of("/proc/self/fd/" + std::to_string(fd));
    if (name == kEventName) holdings.events_.emplace_back(fd, name);
    // Other anonymous inodes (epoll, eventfd) share one name as well: it could prove nothing.
    if (name.empty() || name.starts_with("anon_inode:")) continue;
    if (!prefix.empty() && name.starts_with(prefix)) holdings.knows_device_ = true;
    holdings.files_.push_back(std::move(name));
  }
  holdings.pinned_bytes_ = holder->pinned_bytes();
  holdings.pinned_before_bytes_ = holdings.pinned_bytes_ == 0 ? 0 : pinned_now_bytes();
  return holdings;
}

// At once, as later another library may have pinned more, or reused the number of a descriptor.
// A kernel that counts less than we had registered does not count what this device pins.
void Holdings::note_closed() {
  std::erase_if(events_, [](const Event& event) {
    return name_of("/proc/self/fd/" + std::to_string(event.first)) != event.second;
  });
  if (pinned_before_bytes_ < pinned_bytes_ || still_pinned().empty()) pinned_bytes_ = 0;
}

void Holdings::leave_to(const Transport& other, const std::string& name) {
  const Holdings theirs = of(other, devices_);
  ours_.insert(ours_.end(), theirs.files_.begin(), theirs.files_.end());
  if (!theirs.knows_device_)  // it cannot tell; the empty name matches every library
    devices_.likely_holders.emplace_back("",
                                         "livebtl's own " + name + " (btlctl remove " + name + ")");
}

bool Holdings::counts(const std::string& file) const noexcept {
  if (std::ranges::find(ours_, file) != ours_.end()) return false;
  if (std::ranges::find(files_, file) != files_.end()) return true;
  return !knows_device_ && !devices_.prefix.empty() && file.starts_with(devices_.prefix);
}

std::vector<std::string> Holdings::held() const {
  std::vector<std::string> found;
  if (!any()) return found;
  add_process(::getpid(), "this process", found);
  for (const auto& [fd, name] : events_) {
    if (name_of("/proc/self/fd/" + std::to_string(fd)) == name)
      found.push_back(name + " is open as descriptor " + std::to_string(fd) + " of this process");
  }
  if (std::string pinned = still_pinned(); !pinned.empty()) found.push_back(std::move(pinned));
  for (const long child : descendants()) {
    if (found.size() < kHoldersMax) add_process(child, "its child", found);
  }
  found.resize(std::min(found.size(), kHoldersMax));
  return found;
}

// A child that has ended meanwhile, or that we may not look at, is passed over; that we cannot look
// at ourselves proves nothing either, but is reported.
void Holdings::add_process(long pid, const std::string& whose,
                           std::vector<std::string>& found) const {
  std::vector<std::string> held;
  const std::error_code error = each_entry(proc(pid, "fd"), [&](const fs::path& entry) {
    const std::string file = name_of(entry);
    if (counts(file)) held.push_back(file + " is open as descriptor " + entry.filename().string());
  });
  if (error && pid == ::getpid())
    held.push_back("open descriptors cannot be inspected (" + proc(pid, "fd") + ": " +
                   error.message() + "; is ulimit -n used up?): unknown descriptors");
  const std::set<std::string> mapped = mapped_files(pid);
  for (const std::string& file : mapped) {
    if (counts(file)) held.push_back(file + " is in the memory");
  }
  if (held.empty()) return;
  const std::string owner = " of " + whose + ", " + std::to_string(pid) + " (" +
                            first_line(proc(pid, "comm")) + ")" + likely(devices_, mapped);
  for (const std::string& what : held) found.push_back(what + owner);
}

std::string Holdings::still_pinned() const {
  if (pinned_bytes_ == 0) return {};
  const std::uint64_t left_bytes = pinned_before_bytes_ - pinned_bytes_;
  const std::uint64_t now_bytes = pinned_now_bytes();
  if (now_bytes <= left_bytes) return {};
  return "pinned memory (VmPin) of this process, " + std::to_string(::getpid()) +
         ", has fallen by " +
         std::to_string((pinned_before_bytes_ - std::min(pinned_before_bytes_, now_bytes)) >> 10U) +
         " KiB, and not by the " + std::to_string(pinned_bytes_ >> 10U) +
         " KiB that were registered with the device";
}

std::vector<std::string> holders_of(const Wanted& wanted) {
  std::vector<std::string> holders;
  for (const auto& [name, holdings] : wanted) {
    for (const std::string& holder : holdings.held()) holders.push_back(name + ": " + holder);
  }
  return holders;
}

}  // namespace livebtl::core
