// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/svg.h -- texts and numbers as they appear in pictures (SVG). Pure.
#pragma once

#include <string>

namespace livebtl::tool {

/// Escaped for an element's content or an attribute, whatever it contains.
std::string xml(const std::string& text);
/// Pixels, with one digit after the point.
std::string pixels(double value);
/// Begins at (x, y), unless `more` says otherwise ("text-anchor=\"end\"").
std::string svg_text(double x, double y, const std::string& text, const std::string& more = "");
/// A picture of that size around `body`, on white.
std::string svg_picture(double width, double height, const std::string& body);

}  // namespace livebtl::tool
