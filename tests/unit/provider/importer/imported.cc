// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/provider/importer/imported.cc -- a library with a function for others to import.
extern "C" __attribute__((visibility("default"))) int livebtl_test_imported(int number);

extern "C" int livebtl_test_imported(int number) { return number + 1; }
