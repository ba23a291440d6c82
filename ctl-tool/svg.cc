// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/svg.cc -- see svg.h.
#include "ctl-tool/svg.h"

#include <array>
#include <cstdio>

#include "ctl-tool/table.h"

namespace livebtl::tool {

std::string xml(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string pixels(double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

std::string svg_text(double x, double y, const std::string& text, const std::string& more) {
  return "<text x=\"" + pixels(x) + "\" y=\"" + pixels(y) + "\" " + more + ">" + xml(text) +
         "</text>\n";
}

std::string svg_picture(double width, double height, const std::string& body) {
  const std::string wide = pixels(width), high = pixels(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + wide + "\" height=\"" + high +
         "\" viewBox=\"0 0 " + wide + " " + high +
         "\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" "
         "fill=\"#ffffff\"/>\n" +
         body + "</svg>\n";
}

}  // namespace livebtl::tool
