// SPDX-License-Identifier: BSD-3-Clause
// control/agent/relay.cc -- see relay.h.
#include "control/agent/relay.h"

#include <fcntl.h>
#include <sys/inotify.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "control/place/fork_watch.h"
#include "control/place/member_file.h"

namespace livebtl::control {
namespace {

constexpr std::size_t kAddressesMax = 4;

}  // namespace

Result<std::vector<std::string>> relay_addresses(const std::vector<LocalAddress>& all,
                                                 const std::vector<std::string>& wanted) {
  const bool only_loopback =
      std::ranges::all_of(all, [](const LocalAddress& address) { return is_loopback(address.ip); });
  std::vector<std::string> chosen;
  for (const LocalAddress& address : all) {
    const bool named = std::ranges::any_of(
        wanted, [&](const std::string& name) { return names_address(name, address); });
    const bool by_default = wanted.empty() && (!is_loopback(address.ip) || only_loopback);
    if ((!named && !by_default) || chosen.size() == kAddressesMax) continue;
    chosen.push_back(is_v4(address.ip) ? to_text(address.ip) : "[" + to_text(address.ip) + "]");
  }
  if (!chosen.empty()) return chosen;
  if (all.empty()) return fail(Errc::kSystem, "no network interface is up");
  return tl::unexpected(choose_addresses(all, wanted).error());
}

RelayDuty::RelayDuty(const JobFacts& job) {
  const std::string path = relay_lock_path(job.directory, job.node, job.run);
  lock_ = Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock_) {
    log(LogLevel::kWarn, "agent", "cannot open %s: %s; other nodes cannot reach this one",
        path.c_str(), std::strerror(errno));
    return;
  }
  close_in_child(lock_.number());
  notify_ = Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!notify_ || ::inotify_add_watch(notify_.number(), path.c_str(), IN_CLOSE_WRITE) < 0) {
    log(LogLevel::kInfo, "agent", "no inotify (%s): this member will not take over as a relay",
        std::strerror(errno));
    notify_.reset();
  }
}

RelayDuty::~RelayDuty() {
  if (lock_) forget_in_child(lock_.number());
}

bool RelayDuty::take() noexcept { return lock_ && take_lock(lock_.number()); }

bool RelayDuty::may_be_free() noexcept {
  if (!notify_) return false;
  alignas(inotify_event) std::array<char, 4096> events;
  bool any = false;
  while (::read(notify_.number(), events.data(), events.size()) > 0) any = true;
  return any;
}

}  // namespace livebtl::control
