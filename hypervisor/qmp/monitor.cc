// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/monitor.cc -- see monitor.h.
#include "hypervisor/qmp/monitor.h"

namespace livebtl::hypervisor {
namespace {

bool still_usable(Errc after) {
  return after == Errc::kRefused || after == Errc::kNotFound || after == Errc::kTimeout ||
         after == Errc::kCancelled || after == Errc::kInvalid;
}

}  // namespace

Status Monitor::run(const Act& act, const Deadline& deadline) {
  if (!qmp_) {
    auto opened = Qmp::open(path_, deadline);
    if (!opened) return tl::unexpected(opened.error());
    qmp_.emplace(std::move(*opened));
  }
  Status status = act(*qmp_, deadline);
  if (!status && !still_usable(status.error().code)) qmp_.reset();
  return status;
}

}  // namespace livebtl::hypervisor
