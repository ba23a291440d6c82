// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/behaviours.h -- the tables of behaviours, one per theme; run_conformance()
// walks them all.
#pragma once

#include <span>

#include "tests/conformance/conformance.h"

namespace livebtl::conformance {

struct Behaviour {
  const char* name;
  void (*run)(const Subject& subject);
};

std::span<const Behaviour> delivery_behaviours();  // what is taken arrives, once and in order
std::span<const Behaviour> limit_behaviours();     // sizes, budgets, back-pressure, hostile lengths
std::span<const Behaviour> zero_copy_behaviours();  // payloads that the peer reads where they lie
std::span<const Behaviour> zero_copy_memory_behaviours();  // its owner at each time
std::span<const Behaviour> ending_behaviours();            // closing, loss, reconnecting, leftovers
std::span<const Behaviour> address_behaviours();           // capabilities, addresses, connecting
std::span<const Behaviour> waiting_behaviours();           // arm() and wait_fd()

}  // namespace livebtl::conformance
