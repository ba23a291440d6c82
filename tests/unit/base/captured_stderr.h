// SPDX-License-Identifier: BSD-3-Clause
// What a piece of code writes to descriptor 2, captured in a temporary file. For tests of log and
// assert.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

#include "base/fd.h"

namespace livebtl::test {

template <class Code>
std::string captured_stderr(Code&& code) {
  std::FILE* file = std::tmpfile();
  const Fd saved(::dup(STDERR_FILENO));
  ::dup2(::fileno(file), STDERR_FILENO);
  code();
  ::dup2(saved.number(), STDERR_FILENO);
  std::rewind(file);
  std::array<char, 8192> text{};
  const std::size_t count = std::fread(text.data(), 1, text.size(), file);
  std::fclose(file);
  return std::string(text.data(), count);
}

}  // namespace livebtl::test
