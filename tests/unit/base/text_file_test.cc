// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/base/text_file_test.cc -- a file yields its whole text, or a reason why not.
#include "base/text_file.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace livebtl;

namespace {

TEST_CASE("a file is read whole, or not at all") {
  const std::string path =
      std::filesystem::temp_directory_path() / ("livebtl-text." + std::to_string(::getpid()));
  const std::string text(200'000, 'x');
  std::ofstream(path) << text;
  CHECK(read_text(path, text.size()).value() == text);
  CHECK(read_text(path, text.size() - 1).error().code == Errc::kLimit);
  std::filesystem::resize_file(path, 0);
  CHECK(read_text(path, 0).value().empty());
  std::filesystem::remove(path);
  CHECK(read_text(path, 10).error().code == Errc::kSystem);
  CHECK(read_text("/", 10).error().code == Errc::kSystem);
}

TEST_CASE("of a process that has ended there is nothing to read, and nobody throws") {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  const std::string path = "/proc/" + std::to_string(child) + "/cmdline";
  CHECK_FALSE(read_text(path, 1 << 20).value().empty());
  ::kill(child, SIGKILL);
  CHECK(::waitpid(child, nullptr, 0) == child);
  CHECK(read_text(path, 1 << 20).error().code == Errc::kSystem);
}

}  // namespace
