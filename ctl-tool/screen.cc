// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/screen.cc -- see screen.h.
#include "ctl-tool/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "ctl-tool/table.h"

namespace livebtl::tool {
namespace {

bool wants_colour() {
  const char* const no_colour = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return !dumb && (no_colour == nullptr || *no_colour == '\0');
}

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

}  // namespace

std::string Screen::painted(const std::string& text, Tone tone) const {
  if (!coloured || tone == Tone::kPlain) return text;
  return (tone == Tone::kBad ? "\x1b[1;31m" : "\x1b[33m") + text + "\x1b[0m";
}

Screen screen_of(const CommandLine& line) {
  Screen screen;
  screen.terminal = !line.json && ::isatty(STDOUT_FILENO) == 1;
  screen.coloured = screen.terminal && wants_colour();
  winsize size{};
  if (screen.terminal && !line.wide && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
      size.ws_col > 0)
    screen.columns = size.ws_col;
  return screen;
}

std::string cut_to(const std::string& text, std::size_t columns) {
  constexpr std::string_view kCut = "...";
  if (columns <= kCut.size() || columns_of(text) <= columns) return text;
  std::size_t end = text.size();
  while (end > 0 && columns_of(std::string_view(text).substr(0, end)) > columns - kCut.size()) {
    do {
      --end;
    } while (end > 0 && !begins_character(text[end]));
  }
  return text.substr(0, end) + std::string(kCut);
}

}  // namespace livebtl::tool
