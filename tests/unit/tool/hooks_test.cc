// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/tool/hooks_test.cc -- btlctl hooks install | check: what is written, and what is left
// alone; and what hooks call.
#include <doctest/doctest.h>

#include "node_of_children.h"

using namespace livebtl::test;

namespace {

/// An image of a guest, and the machine that it is on.
struct Image {
  Scratch files;
  Node node;
  std::string root = files / "image", outside = files / "outside";

  Image() { sh("mkdir -p $image/etc $outside"); }
  Answer sh(const std::string& script) {
    return node.shell("image=" + root + "; outside=" + outside + "; " + script);
  }
  Answer hooks(const std::string& action, const std::string& name) {
    return node.btlctl({"--json", "hooks", action, name, "--root", root});
  }
};

}  // namespace

TEST_CASE("a hook is installed once, whatever a call left that was killed") {
  Image image;
  CHECK(image.hooks("check", "qemu-ga").code == 3);
  const std::string left = "$image/etc/qemu/fsfreeze-hook.livebtl-new";
  image.sh("mkdir $image/etc/qemu; echo precious > $outside/file; ln -s $outside/file " + left);
  for (int i = 0; i < 2; ++i) CHECK(image.hooks("install", "qemu-ga").code == 0);
  CHECK(image.hooks("check", "qemu-ga").code == 0);
  CHECK(image.sh("ls $image/etc/qemu").out == "fsfreeze-hook\n");
  CHECK(image.sh("cat $outside/file").out == "precious\n");
  CHECK(image.node.btlctl({"hooks", "install", "criu", "--root", image.root + "/new/"}).code == 0);
}

TEST_CASE(
    "nothing is written through the links of an image, nor over one that is somebody else's") {
  Image image;
  image.sh("ln -s $outside $image/etc/qemu");
  CHECK(image.hooks("install", "qemu-ga").code == 3);
  CHECK(image.sh("ls -A $outside").out.empty());
  image.sh(
      "rm $image/etc/qemu; mkdir $image/etc/qemu; ln -s nowhere $image/etc/qemu/fsfreeze-hook");
  CHECK(image.hooks("install", "qemu-ga").code == 3);
  CHECK(image.sh("readlink $image/etc/qemu/fsfreeze-hook").out == "nowhere\n");
  image.sh(
      "rm $image/etc/qemu/fsfreeze-hook; rmdir $image/etc/qemu; mkdir $image/elsewhere; "
      "ln -s ../elsewhere $image/etc/qemu");
  CHECK(image.hooks("install", "qemu-ga").code == 0);
  CHECK(image.sh("ls $image/elsewhere").out == "fsfreeze-hook\n");
}

TEST_CASE("a hook that others may write to is no hook") {
  Image image;
  CHECK(image.hooks("install", "criu").code == 0);
  for (const char* change : {"chmod 775", "chmod 757", "chmod 644"}) {
    image.sh(std::string(change) + " $image/usr/local/libexec/livebtl/criu");
    CHECK(image.hooks("check", "criu").code == 3);
    CHECK(image.hooks("install", "criu").code == 0);
    CHECK(image.hooks("check", "criu").code == 0);
  }
  if (::geteuid() != 0) return;
  image.sh("chown 65534 $image/usr/local/libexec/livebtl/criu");
  CHECK(image.hooks("check", "criu").code == 3);
}

TEST_CASE("what was set aside for a hold that failed is not forgotten") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  CHECK(node.btlctl({"hold", "start"}).code == 0);
  const auto answer = node.btlctl({"checkpoint", "prepare", "--hold"});
  CHECK(answer.code == 4);
  CHECK(answer.err.find("btlctl checkpoint return") != std::string::npos);
}
