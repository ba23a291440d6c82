// SPDX-License-Identifier: BSD-3-Clause
// provider/imports.h -- gives a loaded library another function in place of one that it imports.
//
// A library calls what it imports through slots (its global offset table) that the dynamic linker
// has filled. We find these slots through its relocation tables and refill them; calls by other
// libraries stay as they are. 64-bit ELF on x86-64 and aarch64 only.
//
// Threads: any, while nobody unloads the library. Its tables are only read, and checked before use.
#pragma once

#include <link.h>

#include <string_view>

#include "livebtl/result.h"

namespace livebtl::fi {

/// library: the file name without its directory, as in "librdmacm.so.1". Returns how many slots
/// were filled; 0: the library does not import the symbol.
/// Errors: kNotFound (not loaded), kUnsupported (its tables, or this processor, are not supported),
/// kSystem (its memory cannot be changed).
Result<unsigned> redirect_import(std::string_view library, std::string_view symbol,
                                 void* replacement);
/// The same for one object as dl_iterate_phdr describes it.
Result<unsigned> redirect_import(const dl_phdr_info& object, std::string_view symbol,
                                 void* replacement);

}  // namespace livebtl::fi
