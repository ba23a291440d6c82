// SPDX-License-Identifier: BSD-3-Clause
// The job's files are read and put back with only its user's rights: a link that appears after all
// checks leads root nowhere. With the real tar and setpriv; needs root, to become another user.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "hypervisor/criu/places.h"
#include "hypervisor/vm/program.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

constexpr FileOwner kOwner{12345, 12346};

/// The user's directory, in which `link` leads to one of root's; and the images' directory, root's.
class UsersFiles {
 public:
  UsersFiles() {
    std::string pattern = "/tmp/livebtl-owner-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    top = pattern;
    REQUIRE(::chmod(top.c_str(), 0711) == 0);
    for (const char* each : {"/job", "/roots", "/images"})
      REQUIRE(::mkdir((top + each).c_str(), 0700) == 0);
    REQUIRE(::chown((top + "/job").c_str(), kOwner.user, kOwner.group) == 0);
    std::filesystem::create_directory_symlink(top + "/roots", top + "/job/link");
    REQUIRE(::lchown((top + "/job/link").c_str(), kOwner.user, kOwner.group) == 0);
    write("/job/own", "the user's");
    REQUIRE(::chown((top + "/job/own").c_str(), kOwner.user, kOwner.group) == 0);
  }
  ~UsersFiles() { std::filesystem::remove_all(top); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(top + name) << text;
    REQUIRE(::chmod((top + name).c_str(), 0600) == 0);
  }
  std::string read(const std::string& name) const {
    std::ifstream in(top + name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Lets the script that CRIU calls archive these files; false: it failed.
  bool archive(const std::string& list) const {
    write("/images/livebtl-files", list);
    const std::string images = top + "/images";
    write("/images/script",
          dump_script(images, top + "/set", {INT64_MAX, INT64_MAX}, kOwner, false));
    ::setenv("CRTOOLS_SCRIPT_ACTION", "post-dump", 1);
    const bool done = runs({"sh", images + "/script"});
    ::unsetenv("CRTOOLS_SCRIPT_ACTION");
    return done;
  }
  static bool runs(const std::vector<std::string>& words) {
    const auto done = run_program(words, {monotonic_now() + 60 * kSecond, nullptr}, kSecond);
    return done && done->code == 0;
  }
  bool unpack() const { return runs(unpack_words(top + "/images", kOwner)); }
  std::string line(const std::string& name) const { return (top + name).substr(1) + "\n"; }

  std::string top;
};

}  // namespace

TEST_CASE("a job's files are archived and put back, as its user's") {
  if (::geteuid() != 0) return;  // needs root
  const UsersFiles files;
  REQUIRE(files.archive(files.line("/job") + files.line("/job/own")));
  std::filesystem::remove_all(files.top + "/job");
  CHECK_FALSE(files.unpack());  // because the user cannot make the directory
  REQUIRE(::mkdir((files.top + "/job").c_str(), 0700) == 0);
  REQUIRE(::chown((files.top + "/job").c_str(), kOwner.user, kOwner.group) == 0);
  REQUIRE(files.unpack());
  CHECK(files.read("/job/own") == "the user's");
  struct stat facts {};
  REQUIRE(::stat((files.top + "/job/own").c_str(), &facts) == 0);
  CHECK(facts.st_uid == kOwner.user);
  CHECK(facts.st_gid == kOwner.group);
  CHECK((facts.st_mode & 07777) == 0600);
}

TEST_CASE(
    "a link in the user's directory leads root to no file that is read, and to none that is "
    "written") {
  if (::geteuid() != 0) return;  // needs root
  const UsersFiles files;
  files.write("/roots/secret", "root's");
  CHECK_FALSE(files.archive(files.line("/job/link/secret")));
  // As if it had been a directory when the job was dumped.
  REQUIRE(UsersFiles::runs({"tar", "--create", "--file=" + files.top + "/images/livebtl-files.tar",
                            "--directory=/", files.top.substr(1) + "/job/link/secret"}));
  files.write("/roots/secret", "root's new");
  CHECK_FALSE(files.unpack());
  CHECK(files.read("/roots/secret") == "root's new");
}

TEST_CASE("directories that only root can make are made, and given to the user, in root's alone") {
  if (::geteuid() != 0) return;  // needs root
  const std::string place = "/run/livebtl-places-" + std::to_string(::getpid());
  REQUIRE(make_places((place + "/deep/file").substr(1) + "\n", kOwner.user));
  struct stat facts {};
  REQUIRE(::stat(place.c_str(), &facts) == 0);
  CHECK(facts.st_uid == kOwner.user);
  CHECK((facts.st_mode & 07777) == 0700);
  CHECK(::access((place + "/deep").c_str(), F_OK) != 0);  // the user will make it
  REQUIRE(make_places((place + "/deep/file").substr(1) + "\n", kOwner.user));
  CHECK(::access((place + "/deep").c_str(), F_OK) != 0);
  REQUIRE(::rmdir(place.c_str()) == 0);
  const std::string shared = "/tmp/livebtl-places-" + std::to_string(::getpid());
  REQUIRE(make_places((shared + "/file").substr(1) + "\n", kOwner.user));
  CHECK(::access(shared.c_str(), F_OK) != 0);
}
