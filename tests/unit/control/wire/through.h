// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/wire/through.h -- a message on its way through JSON and back.
#pragma once

#include <doctest/doctest.h>

#include "control/wire/messages.h"

namespace livebtl::test {

using namespace livebtl::control;

template <class T>
T through(const T& message) {
  const auto text = encode(Message(message));
  REQUIRE(text);
  const auto back = decode(*text);
  REQUIRE_MESSAGE(back, (back ? "" : back.error().text));
  REQUIRE(std::holds_alternative<T>(*back));
  // What was read is written as the same text: no field is lost either way.
  CHECK(*encode(*back) == *text);
  return std::get<T>(*back);
}

}  // namespace livebtl::test
