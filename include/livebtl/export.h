// SPDX-License-Identifier: BSD-3-Clause
// livebtl/export.h -- marks what liblivebtl.so exports; everything else is hidden.
#pragma once

#define LIVEBTL_API __attribute__((visibility("default")))
