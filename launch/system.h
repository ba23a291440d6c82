// SPDX-License-Identifier: BSD-3-Clause
// launch/system.h -- what livebtl-run and `btlctl doctor` see of the machine: environment, files,
// and what other programs say. Behind an interface, so that tests can play machines that nobody
// has.
//
// Threads: one. All input is hostile: bounded in size, and checked by its users.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace livebtl::launch {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// What came of running a program.
struct Ran {
  int exit_code = -1;  // -1: it did not start, did not end in time, or was killed
  std::string output;  // both streams, the first 256 KiB
};

struct FileFacts {
  enum class Kind { kFile, kDirectory, kSocket, kOther };
  Kind kind = Kind::kOther;
  uid_t owner = 0;
  mode_t mode = 0;  // permission bits
  std::uint64_t bytes = 0;
};

class System {
 public:
  System() = default;
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  virtual ~System() = default;

  virtual std::optional<std::string> variable(std::string_view name) const = 0;
  virtual std::vector<std::string> variable_names() const = 0;  // sorted
  /// The first 64 KiB; nullopt: it cannot be read.
  virtual std::optional<std::string> file_text(const std::string& path) const = 0;
  /// Sorted, without "." and ".."; empty: there is no such directory.
  virtual std::vector<std::string> names_in(const std::string& directory) const = 0;
  /// Follows links; nullopt: nothing is there.
  virtual std::optional<FileFacts> facts(const std::string& path) const = 0;
  /// With links resolved; nullopt: nothing is there.
  virtual std::optional<std::string> resolved(const std::string& path) const = 0;
  virtual bool may_read_and_write(const std::string& path) const = 0;
  virtual bool may_execute(const std::string& path) const = 0;
  /// words.front() is a path. more: additional variables for the program, which gets no input.
  virtual Ran run(const std::vector<std::string>& words, const Variables& more = {}) const = 0;
};

/// This machine, for this process.
class RealSystem final : public System {
 public:
  std::optional<std::string> variable(std::string_view name) const override;
  std::vector<std::string> variable_names() const override;
  std::optional<std::string> file_text(const std::string& path) const override;
  std::vector<std::string> names_in(const std::string& directory) const override;
  std::optional<FileFacts> facts(const std::string& path) const override;
  std::optional<std::string> resolved(const std::string& path) const override;
  bool may_read_and_write(const std::string& path) const override;
  bool may_execute(const std::string& path) const override;
  Ran run(const std::vector<std::string>& words, const Variables& more = {}) const override;
};

/// The program that a shell would run for this word; nullopt: none.
std::optional<std::string> program_of(const System& system, const std::string& word);

std::vector<std::string> lines_of(std::string_view text);
/// Without white space at either end.
std::string_view trimmed(std::string_view text) noexcept;
std::string directory_of(const std::string& path);

}  // namespace livebtl::launch
