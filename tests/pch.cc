// SPDX-License-Identifier: BSD-3-Clause
// tests/pch.cc -- is compiled first, and with it the header that the tests share (LIVEBTL_FAST_BUILD).
