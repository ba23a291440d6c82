// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/conformance.cc -- see conformance.h.
#include "tests/conformance/conformance.h"

#include <doctest/doctest.h>

#include "tests/conformance/behaviours.h"

namespace livebtl::conformance {

void run_conformance(const Subject& subject) {
  for (const auto table :
       {address_behaviours(), delivery_behaviours(), limit_behaviours(), zero_copy_behaviours(),
        zero_copy_memory_behaviours(), waiting_behaviours(), ending_behaviours()}) {
    for (const Behaviour& behaviour : table) {
      SUBCASE(behaviour.name) { behaviour.run(subject); }
    }
  }
}

}  // namespace livebtl::conformance
