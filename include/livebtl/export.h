// SPDX-License-Identifier: BSD-3-Clause
// livebtl/export.h -- what liblivebtl.so shows; everything is hidden unless marked.
#pragma once

#define LIVEBTL_API __attribute__((visibility("default")))
