// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/screen.h -- what standard output is: a terminal of some width that may have colours, or something that
// programs read, which gets whole lines and no colour. One thread; plain values.
#pragma once

#include <cstdint>
#include <string>

#include "ctl-tool/command_line.h"

namespace livebtl::tool {

enum class Tone {
  kPlain,
  kActive,  // under way, or should not stay so for long: yellow
  kBad,     // somebody has to look: red
};

struct Screen {
  bool terminal = false;
  bool coloured = false;
  std::size_t columns = SIZE_MAX;  // lines are cut to this

  std::string painted(const std::string& text, Tone tone) const;
};

/// Of standard output. A terminal has colours unless NO_COLOR is set and not empty, or TERM is
/// unset or dumb; with -o wide no line is cut.
Screen screen_of(const CommandLine& line);

/// The text, or its beginning and "..." if it takes more columns. Characters are not cut in two.
std::string cut_to(const std::string& text, std::size_t columns);

}  // namespace livebtl::tool
