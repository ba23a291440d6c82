// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/svg.h -- texts and numbers as pictures (SVG) have them. Pure.
#pragma once

#include <string>

namespace livebtl::tool {

/// For an element's content or an attribute, whatever is in it.
std::string xml(const std::string& text);
/// Pixels, with one digit behind the point.
std::string pixels(double value);
/// Where it begins, or where `more` says ("text-anchor=\"end\"").
std::string svg_text(double x, double y, const std::string& text, const std::string& more = "");
/// The frame of a picture of that size, on white.
std::string svg_picture(double width, double height, const std::string& body);

}  // namespace livebtl::tool
