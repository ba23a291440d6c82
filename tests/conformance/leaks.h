// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/leaks.h -- LIVEBTL_LEAKS_OF_A_LIBRARY: from there to the end of the scope
// LeakSanitizer ignores allocations, as a library is known not to free them.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define LIVEBTL_LEAKS_OF_A_LIBRARY const __lsan::ScopedDisabler its_own
#endif
#endif
#ifndef LIVEBTL_LEAKS_OF_A_LIBRARY
#define LIVEBTL_LEAKS_OF_A_LIBRARY static_cast<void>(0)
#endif
