// SPDX-License-Identifier: BSD-3-Clause
// tests/doctest_main.cc -- the main() of every doctest program.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
