// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/exposition.h -- writes metrics, family by family, in one of two forms of text (metrics_text.h). Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ctl-tool/metrics_text.h"

namespace livebtl::tool {

inline std::string escaped(const std::string& value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    if (c == '\n')
      text += "\\n";
    else
      text += c;
  }
  return text;
}

using Labels = std::vector<std::pair<const char*, std::string>>;

/// Builds the text in one form, family by family.
class Exposition {
 public:
  explicit Exposition(MetricsForm form) : open_(form == MetricsForm::kOpenMetrics) {}

  void counter(const std::string& name, const char* help) {
    sample_ = name + "_total";
    head(open_ ? name : sample_, "counter", help);
  }
  void gauge(const std::string& name, const char* help) {
    sample_ = name;
    head(name, "gauge", help);
  }
  void add(const Labels& labels, const std::string& value) {
    text_ += sample_;
    const char* before = "{";
    for (const auto& [name, label] : labels) {
      text_ += before + std::string(name) + "=\"" + escaped(label) + "\"";
      before = ",";
    }
    text_ += (labels.empty() ? " " : "} ") + value + "\n";
  }
  std::string end() { return text_ + (open_ ? "# EOF\n" : ""); }

 private:
  void head(const std::string& family, const char* type, const char* help) {
    text_ += "# HELP " + family + " " + help + "\n# TYPE " + family + " " + type + "\n";
  }
  const bool open_;
  std::string sample_, text_;
};

}  // namespace livebtl::tool
