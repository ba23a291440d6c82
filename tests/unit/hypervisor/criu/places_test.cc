// SPDX-License-Identifier: BSD-3-Clause
// Root puts files back where all may write: nobody but the job's owner may have prepared the path.
#include "hypervisor/criu/places.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

/// Makes /tmp/livebtl-places-.../job/deep, in which a file is to be put back.
class PlacesOfJob {
 public:
  PlacesOfJob() {
    std::string pattern = "/tmp/livebtl-places-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    top = pattern;
    std::filesystem::create_directories(top + "/job/deep");
    // Regardless of the umask.
    for (const char* each : {"/job", "/job/deep"})
      REQUIRE(::chmod((top + each).c_str(), 0755) == 0);
  }
  ~PlacesOfJob() { std::filesystem::remove_all(top); }

  std::string list(const std::string& path) const { return (top + path).substr(1) + "\n"; }
  std::string refusal(const std::string& path, uid_t owner = ::geteuid()) const {
    const auto checked = check_places(list("/other") + list(path), owner);
    if (checked) return "";
    CHECK(checked.error().code == Errc::kRefused);
    return checked.error().text;
  }

  std::string top;
};

bool names(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("directories of the owner, or that are not there yet, are no obstacle") {
  const PlacesOfJob scene;
  CHECK(scene.refusal("/job/deep/file") == "");
  CHECK(scene.refusal("/job/new/deeper/file") == "");
  CHECK(check_places("", 1000));
  CHECK(check_places("tmp/livebtl-places-none\ndev/shm/livebtl-places-none\n", 1000));
}

TEST_CASE("a symbolic link above a file is named") {
  const PlacesOfJob scene;
  std::filesystem::create_directory_symlink("/etc", scene.top + "/job/deep/link");
  CHECK(names(scene.refusal("/job/deep/link/file"), "/job/deep/link' is a symbolic link"));
  CHECK(names(scene.refusal("/job/deep/link/cron.d/file"), "/job/deep/link' is a symbolic link"));
  CHECK(scene.refusal("/job/deep/link") == "");  // the link itself is replaced
}

TEST_CASE("so are a directory that all may change, one of another user, and a file in its place") {
  const PlacesOfJob scene;
  REQUIRE(::chmod((scene.top + "/job/deep").c_str(), 0777) == 0);
  CHECK(names(scene.refusal("/job/deep/file"), "/job/deep' can be written by all"));
  REQUIRE(::chmod((scene.top + "/job/deep").c_str(), 01777) == 0);
  CHECK(scene.refusal("/job/deep/file") == "");
  REQUIRE(::close(::creat((scene.top + "/job/plain").c_str(), 0600)) == 0);
  CHECK(names(scene.refusal("/job/plain/file"), "/job/plain' is no directory"));
  CHECK(scene.refusal("/job/plain") == "");  // the job's own file is replaced
  CHECK(names(scene.refusal("/job/plain", ::geteuid() + 1), "belongs to user"));
  if (::geteuid() != 0) {
    CHECK(names(scene.refusal("/job/file", ::geteuid() + 1), "belongs to user"));
    return;
  }
  REQUIRE(::chown((scene.top + "/job").c_str(), 12345, 12345) == 0);
  CHECK(names(scene.refusal("/job/file", 1000), "/job' belongs to user 12345"));
  CHECK(scene.refusal("/job/file", 12345) == "");
  CHECK(names(scene.refusal("/job/plain", 12345), "/job/plain' belongs to user 0"));
}
