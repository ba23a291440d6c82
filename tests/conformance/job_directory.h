// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/job_directory.h -- a job directory for one test, removed with its contents.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace livebtl::conformance {

class JobDirectory {
 public:
  explicit JobDirectory(const std::string& below = "") {
    std::string pattern = (std::filesystem::temp_directory_path() / "livebtl-test-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    path_ = below.empty() ? root_ : root_ / below;
    std::filesystem::create_directories(path_);
  }
  ~JobDirectory() {
    std::error_code ignored;  // a test that failed has said so already
    std::filesystem::remove_all(root_, ignored);
  }
  JobDirectory(const JobDirectory&) = delete;
  JobDirectory& operator=(const JobDirectory&) = delete;

  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path root_;
  std::filesystem::path path_;
};

}  // namespace livebtl::conformance
