// SPDX-License-Identifier: BSD-3-Clause
// core/path/path.cc -- see path.h.
#include "core/path/path.h"

#include "core/path/transport_slot.h"

namespace livebtl::core {

Path::Path(const PathParts& parts, TransportSlot& its_slot, std::unique_ptr<Endpoint> its_endpoint,
           bool is_dialled, TimeNs hello_deadline)
    : slot(its_slot),
      endpoint(std::move(its_endpoint)),
      deadline(hello_deadline),
      dialled(is_dialled),
      keeps(its_slot.caps.keeps),
      parts_(parts) {
  endpoint->attach(*this);
  vouched = endpoint->kernel_vouched();
}

Path::~Path() = default;

void Path::on_down(const Error& why) noexcept { break_down(why); }

void Path::break_down(Error why) noexcept {
  if (down_reason.has_value()) return;
  down_reason = std::move(why);
  was_open = state == State::kOpen;
  state = State::kDown;
  parts_.broken.push_back(this);
}

}  // namespace livebtl::core
