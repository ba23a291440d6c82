// SPDX-License-Identifier: BSD-3-Clause
// control/agent/shown.cc -- see shown.h.
#include "control/agent/shown.h"

#include <algorithm>
#include <cstring>

#include "base/log.h"
#include "control/place/page_reader.h"

namespace livebtl::control {

Shown::Shown(const JobFacts& job, MemberId self, core::Admin& admin) : admin_(admin) {
  auto page = MemberPage::make(job, self);
  if (!page) {
    log(LogLevel::kWarn, "agent", "%s", page.error().text.c_str());
    return;
  }
  page_ = std::make_unique<MemberPage>(std::move(*page));
  admin_.show_on(&page_->engine());
}

Shown::~Shown() {
  if (page_) admin_.show_on(nullptr);
}

void Shown::remember(const MemberEvent& event, const std::vector<MemberAction>& actions,
                     const MemberMachine& machine, TimeNs now) {
  if (std::holds_alternative<StandingRequest>(event)) return;  // it changes nothing
  const Standing standing = machine.standing(now);
  const bool taken = std::ranges::any_of(
      actions, [](const MemberAction& each) { return std::holds_alternative<Submit>(each); });
  const auto* order = std::get_if<Order>(&event);
  if (order != nullptr && taken) history_.ordered(*order, now, unix_now_ns());
  if (std::holds_alternative<core::RungReport>(event)) history_.stands(standing, now);
  if (page_) page_->write(standing, history_);
}

Message Shown::answer(ProcessId self) const {
  if (!page_) return ErrorAnswer{Errc::kNotFound, "this process has no page; its log says why"};
  const auto bytes = [this](std::size_t offset, MutableBytes into) {
    std::memcpy(into.data(), reinterpret_cast<const std::byte*>(&page_->image()) + offset,
                into.size());
    return true;
  };
  auto page = read_page(bytes, self);
  if (!page) return ErrorAnswer{page.error().code, page.error().text};
  return fit_page(PageAnswer{std::move(*page)});
}

}  // namespace livebtl::control
