// SPDX-License-Identifier: BSD-3-Clause
// provider/imports.h -- gives a loaded library another function in place of one that it imports.
//
// A library calls what it imports through slots that the dynamic linker has filled; the slots named
// in its relocation tables are found and filled anew. Calls of all others stay as they are. Only
// 64-bit ELF on x86-64 and aarch64. Any thread, at a time when nobody unloads the library; the
// library's tables are its own and are only read, and nothing in them is believed unchecked.
#pragma once

#include <link.h>

#include <string_view>

#include "livebtl/result.h"

namespace livebtl::fi {

/// library: the file's name without its folder, as in "librdmacm.so.1". Returns how many slots were
/// filled; 0: it does not import the symbol. Errors: kNotFound (not loaded), kUnsupported (its
/// tables are not understood, or not on this processor), kSystem (its memory cannot be changed).
Result<unsigned> redirect_import(std::string_view library, std::string_view symbol,
                                 void* replacement);
/// The same for one object as dl_iterate_phdr describes it.
Result<unsigned> redirect_import(const dl_phdr_info& object, std::string_view symbol,
                                 void* replacement);

}  // namespace livebtl::fi
