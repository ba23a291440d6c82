// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_shared.cc -- see tcp_shared.h.
#include "transports/tcp/tcp_shared.h"

#include <algorithm>

#include "base/log.h"

namespace livebtl::tcp {

void Roster::remove(const TcpEndpoint& endpoint) noexcept {
  const auto place = std::find(items_.begin(), items_.end(), &endpoint);
  if (place == items_.end()) return;
  *place = nullptr;
  ++holes_;
  if (walks_ == 0) close_holes();
}

void Roster::close_holes() noexcept {
  items_.erase(std::remove(items_.begin(), items_.end(), nullptr), items_.end());
  holes_ = 0;
}

void log_unauthenticated(Shared& shared, TimeNs now, const std::string& who,
                         const std::string& what) {
  if (!shared.unauthenticated.allow(now)) return;
  log(LogLevel::kWarn, "tcp", "dropped connection from=%s reason=\"%s\" withheld=%llu", who.c_str(),
      what.c_str(), static_cast<unsigned long long>(shared.unauthenticated.suppressed()));
}

}  // namespace livebtl::tcp
