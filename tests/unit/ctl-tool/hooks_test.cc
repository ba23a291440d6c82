// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/hooks_test.cc -- btlctl hooks install | remove | check: what is written, what
// is left alone, and what the hooks call.
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
  const std::string left = "$image/etc/qemu/.livebtl-new.fsfreeze-hook";
  image.sh("mkdir $image/etc/qemu; echo precious > $outside/file; ln -s $outside/file " + left);
  for (int i = 0; i < 2; ++i) CHECK(image.hooks("install", "qemu-ga").code == 0);
  CHECK(image.hooks("check", "qemu-ga").code == 0);
  CHECK(image.sh("ls -A $image/etc/qemu").out == "fsfreeze-hook\n");
  CHECK(image.sh("cat $outside/file").out == "precious\n");
  const std::string other = image.root + "/new/";
  const auto install = [&] {
    return image.node.btlctl({"hooks", "install", "criu", "--root", other});
  };
  CHECK(install().code == 2);  // a typo creates no tree
  image.sh("mkdir $image/new");
  CHECK(install().code == 0);
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

TEST_CASE("where a dispatcher has the hook's place, it is given the hook to call") {
  Image image;
  const std::string qemu = "$image/etc/qemu", place = qemu + "/fsfreeze-hook";
  image.sh("mkdir " + qemu + "; echo 'run $(dirname $0)/fsfreeze-hook.d/* $1' >" + place);
  CHECK(image.hooks("check", "qemu-ga").code == 3);
  const Answer installed = image.hooks("install", "qemu-ga");
  CHECK(installed.code == 0);
  CHECK(installed.out.find("goes on with the freeze") != std::string::npos);
  CHECK(image.sh("ls -A " + qemu + " " + qemu + "/fsfreeze-hook.d | grep -v :").out ==
        "fsfreeze-hook\nfsfreeze-hook.d\n\nlivebtl\n");
  CHECK(image.sh("grep -c . " + place).out == "1\n");
  CHECK(image.hooks("check", "qemu-ga").code == 0);
  image.sh("echo '# its own' >" + qemu + "/fsfreeze-hook.d/livebtl");
  CHECK(image.hooks("install", "qemu-ga").code == 3);
  image.sh("rm -r " + qemu + "/fsfreeze-hook.d; ln -s $outside " + qemu + "/fsfreeze-hook.d");
  CHECK(image.hooks("install", "qemu-ga").code == 3);
  CHECK(image.sh("ls -A $outside").out.empty());
  image.sh("echo '# calls nothing of fsfreeze-hook.d' >" + place);
  CHECK(image.hooks("install", "qemu-ga").code == 3);
  image.sh("rm " + place);
  CHECK(image.hooks("install", "qemu-ga").code == 0);
  CHECK(image.hooks("check", "qemu-ga").code == 0);
  CHECK(image.sh("ls -A $outside; head -n 1 " + place).out == "#!/bin/sh\n");
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

TEST_CASE("what was edited is kept, where nobody calls it") {
  Image image;
  const std::string place = "$image/usr/local/libexec/livebtl";
  CHECK(image.hooks("install", "criu").code == 0);
  image.sh("echo '# mine' >>" + place + "/criu");
  CHECK(image.hooks("install", "criu").out.find(".livebtl-old.criu") != std::string::npos);
  CHECK(image.sh("tail -n 1 " + place + "/.livebtl-old.criu").out == "# mine\n");
  CHECK(image.sh("stat -c %a " + place + "/.livebtl-old.criu").out == "600\n");
  CHECK(image.hooks("check", "criu").code == 0);
}

TEST_CASE("what was installed is removed, and nothing that is somebody else's") {
  Image image;
  const std::string folder = "$image/usr/local/libexec/livebtl";
  CHECK(image.hooks("remove", "criu").code == 0);  // nothing to remove
  CHECK(image.hooks("install", "criu").code == 0);
  CHECK(image.node.btlctl({"--dry-run", "hooks", "remove", "criu", "--root", image.root}).code ==
        0);
  CHECK(image.hooks("check", "criu").code == 0);
  CHECK(image.hooks("remove", "criu").code == 0);
  CHECK(image.sh("ls -A " + folder).out.empty());
  CHECK(image.hooks("check", "criu").code == 3);
  CHECK(image.node.btlctl({"hooks", "remove", "--root", image.root}).code == 1);  // which one?
  image.hooks("install", "criu");
  image.sh("echo '# mine' >>" + folder + "/criu");
  CHECK(image.hooks("remove", "criu").code == 0);
  CHECK(image.sh("ls -A " + folder).out == ".livebtl-old.criu\n");
  CHECK(image.sh("tail -n 1 " + folder + "/.livebtl-old.criu").out == "# mine\n");
  image.sh("echo another >" + folder + "/criu");
  CHECK(image.hooks("remove", "criu").code == 3);
  CHECK(image.sh("cat " + folder + "/criu").out == "another\n");
}

TEST_CASE("a hook that a package has brought is left to the package") {
  Image image;
  image.hooks("install", "virsh");
  image.sh(
      "mkdir -p $image/var/lib/dpkg/info; echo /usr/local/bin/livebtl-virsh >"
      "$image/var/lib/dpkg/info/livebtl-hooks.list");
  const Answer refused = image.hooks("remove", "virsh");
  CHECK(refused.code == 3);
  CHECK(refused.out.find("of the package livebtl-hooks") != std::string::npos);
  CHECK(image.hooks("check", "virsh").code == 0);
  image.sh("echo '# mine' >>$image/usr/local/bin/livebtl-virsh");
  CHECK(image.hooks("install", "virsh").code == 3);
  CHECK(image.sh("tail -n 1 $image/usr/local/bin/livebtl-virsh").out == "# mine\n");
}

TEST_CASE("in a directory where others may write, a hook is told to be anybody's") {
  Image image;
  CHECK(image.hooks("install", "criu").code == 0);
  image.sh("chmod 777 $image/usr/local/libexec/livebtl");
  CHECK(image.hooks("check", "criu").code == 3);
  CHECK(image.hooks("install", "criu").out.find("others may write") != std::string::npos);
  image.sh("chmod 755 $image/usr/local/libexec/livebtl");
  CHECK(image.hooks("check", "criu").code == 0);
}

TEST_CASE("what was set aside for a hold that failed is not forgotten") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  CHECK(node.btlctl({"hold", "start"}).code == 0);
  const auto answer = node.btlctl({"checkpoint", "prepare", "--hold"});
  CHECK(answer.code == 4);
  CHECK(answer.err.find("btlctl checkpoint return") != std::string::npos);
}
