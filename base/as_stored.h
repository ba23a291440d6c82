// SPDX-License-Identifier: BSD-3-Clause
// base/as_stored.h -- reads a field that was written a moment ago.
//
// A processor hands a store's bytes to a load at once only if that store wrote all of them. A
// compiler copies two adjacent fields by one load; if each was stored by itself, this load waits
// until both have reached the cache, some 15 cycles. So structures that one function fills in and
// the next copies, for each message, are copied field by field.
#pragma once

namespace livebtl {

/// field: fits a register.
template <class T>
[[gnu::always_inline]] inline T as_stored(const T& field) noexcept {
  static_assert(sizeof(T) <= sizeof(void*));
  T value = field;
  asm("" : "+r"(value));  // wanted in a register of its own: a wider load would not pay
  return value;
}

}  // namespace livebtl
