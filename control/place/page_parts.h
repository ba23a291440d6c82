// SPDX-License-Identifier: BSD-3-Clause
// control/place/page_parts.h -- the parts of a page, checked and turned into values: internal to
// the reader. Pure.
#pragma once

#include "control/place/member_page.h"
#include "control/place/page_fit.h"
#include "control/place/page_view.h"

namespace livebtl::control {

void take_header(const PageHeader& page, PageView& view, Fit& fit);
void take_standing(const StandingPage& page, PageView& view, Fit& fit);
/// clock_to_unix: what to add to the engine's clock for the wall clock.
void take_engine(const core::EnginePage& page, std::uint64_t clock_to_unix, PageView& view,
                 Fit& fit);

}  // namespace livebtl::control
