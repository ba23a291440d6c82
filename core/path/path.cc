// SPDX-License-Identifier: BSD-3-Clause
// core/path/path.cc -- see path.h.
#include "core/path/path.h"

#include "core/engine/core.h"

namespace livebtl::core {

Path::Path(Core& its_core, TransportSlot& its_slot, std::unique_ptr<Endpoint> its_endpoint,
           bool is_dialled, TimeNs hello_deadline)
    : core(its_core),
      slot(its_slot),
      endpoint(std::move(its_endpoint)),
      deadline(hello_deadline),
      dialled(is_dialled),
      keeps(its_slot.caps.keeps) {
  endpoint->attach(*this);
  vouched = endpoint->kernel_vouched();
}

Path::~Path() = default;

MutableBytes Path::on_place(Bytes header, std::size_t payload_bytes, bool to_be_checked) noexcept {
  return core.receiver.on_place(*this, header, payload_bytes, to_be_checked);
}

void Path::on_frame(Bytes header, Bytes payload) noexcept {
  core.receiver.on_frame(*this, header, payload);
}

void Path::on_sent(std::uint64_t cookie) noexcept { core.transfers.on_sent(*this, cookie); }

void Path::on_down(const Error& why) noexcept { break_down(why); }

void Path::break_down(Error why) noexcept {
  if (down_reason.has_value()) return;
  down_reason = std::move(why);
  was_open = state == State::kOpen;
  state = State::kDown;
  core.bml.note_down(*this);
}

}  // namespace livebtl::core
