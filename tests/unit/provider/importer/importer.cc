// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/provider/importer/importer.cc -- a library that imports a function, to call it and to
// take its address. Built twice: with slots that are filled at load time and then read-only, and
// with slots filled by the first call.
extern "C" int livebtl_test_imported(int number);

#define LIVEBTL_TEST_JOIN(a, b) a##b
#define LIVEBTL_TEST_NAME(a, b) LIVEBTL_TEST_JOIN(a, b)
#define CALLS LIVEBTL_TEST_NAME(IMPORTER, _calls)
#define ADDRESS LIVEBTL_TEST_NAME(IMPORTER, _address)

using Function = int(int);
extern "C" __attribute__((visibility("default"))) int CALLS(int number);
extern "C" __attribute__((visibility("default"))) Function* ADDRESS();

extern "C" int CALLS(int number) { return livebtl_test_imported(number); }
extern "C" Function* ADDRESS() { return livebtl_test_imported; }
