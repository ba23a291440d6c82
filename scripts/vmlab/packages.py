# SPDX-License-Identifier: BSD-3-Clause
"""The Debian packages of the guests: chosen by apt from this machine's sources, fetched, and never installed here."""
import json
import os
import platform
from collections import namedtuple

from tests.harness.commands import run
from tests.harness.waiting import Failed, check

from .places import PACKAGES

WANTED = (
    "bash", "busybox-static", "coreutils", "criu", "iproute2", "kmod", "libc-bin", "openssh-client", "openssh-server", "qemu-guest-agent", "strace",
    "ibverbs-providers", "ibverbs-utils", "libfabric-bin", "openmpi-bin", "perftest", "rdmacm-utils",
    "libinih1", "libisal2", "libprotobuf-lite32", "libpugixml1v5", "libsodium23", "libstdc++6", "libzmq5", "tar",
)
# CRIU 3.17, of Debian 12, calls no script of its settings if a container's runtime calls it.
PODMAN = {"trixie": ("podman", "crun", "conmon", "libcriu2")}
# Dependencies that no guest uses: they serve installation, and nothing is installed there.
UNUSED = (
    "adduser", "debconf", "dpkg", "init-system-helpers", "libdb5.3", "libfile-find-rule-perl", "libgdbm", "libhwloc-plugins",
    "libicu", "libnumber-compare-perl", "libpciaccess", "libperl", "libtext-glob-perl", "libx11", "libxau",
    "libprotobuf32", "libpython3", "libxcb", "libxdmcp", "libxext", "libxml2", "libxnvctrl", "lsb-base", "mawk", "media-types",
    "ocl-icd", "passwd", "pci.ids", "perl", "procps", "python3", "sensible-utils", "sgml-base", "sysvinit-utils", "ucf", "usrmerge",
)
KERNEL = "linux-image-amd64"
APT_LISTS = "/var/lib/apt/lists"

Package = namedtuple("Package", "file sha256")  # file: its name in PACKAGES


def wanted():
    return (*WANTED, *PODMAN.get(platform.freedesktop_os_release().get("VERSION_CODENAME"), ()))


def _apt(archives):
    """An apt-get that believes nothing is installed, and keeps what it fetches in `archives`."""
    status = os.path.join(PACKAGES, "no-package-installed")
    os.makedirs(os.path.join(archives, "partial"), exist_ok=True)
    with open(status, "w", encoding="utf-8"):
        pass
    settings = {"Dir::State::status": status, "Dir::Cache::archives": archives + "/", "APT::Install-Recommends": "false",
                "Acquire::ForceHash": "SHA256", "Debug::NoLocking": "1",
                "Dir::Cache::pkgcache": os.path.join(PACKAGES, "pkgcache"),
                "Dir::Cache::srcpkgcache": os.path.join(PACKAGES, "srcpkgcache")}
    if os.geteuid() == 0:
        settings["APT::Sandbox::User"] = "root"  # apt's own user may not write here
    return ["apt-get", "-y", "-qq", *(word for item in settings.items() for word in ("-o", "=".join(item)))]


def _listed(command):
    """What apt would fetch: lines 'URI' FILE SIZE SHA256:HASH."""
    packages = []
    for line in run(command, "choosing the guests' packages (apt-get update may help)").splitlines():
        words = line.split()
        if len(words) == 4 and words[0].startswith("'"):
            check(words[3].startswith("SHA256:"), f"apt names no SHA256 for {words[1]}")
            packages.append(Package(words[1], words[3].partition(":")[2]))
    check(packages, "apt names no packages: run apt-get update")
    return packages


def kernel_name():
    """The package that KERNEL currently depends on."""
    for line in run(["apt-cache", "depends", KERNEL], "looking for the kernel").splitlines():
        words = line.split()
        if words[:1] == ["Depends:"] and words[1].startswith("linux-image-"):
            return words[1]
    raise Failed(f"{KERNEL} names no kernel: run apt-get update")


def choose():
    """(packages of the root file system, the kernel's package). The choice stands until apt's lists change."""
    question = [*wanted(), *UNUSED, KERNEL, str(os.stat(APT_LISTS).st_mtime_ns)]
    path = os.path.join(PACKAGES, "choice.json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            choice = json.load(file)
        if choice["question"] == question:
            return [Package(*each) for each in choice["used"]], Package(*choice["kernel"])
    used, kernel = _ask_apt()
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"question": question, "used": used, "kernel": kernel}, file, indent=1)
    return used, kernel


def _ask_apt():
    nowhere = os.path.join(PACKAGES, "none")  # apt leaves out what is in its archive directory already
    listed = _listed([*_apt(nowhere), "--print-uris", "install", *wanted()])
    used = [each for each in listed if not each.file.startswith(UNUSED)]
    kernel, = _listed([*_apt(nowhere), "--print-uris", "download", kernel_name()])
    return sorted(used), kernel


def fetch(packages, kernel):
    """Fetches what is missing; apt checks the hashes."""
    present = set(os.listdir(PACKAGES))
    if not all(each.file in present for each in packages):
        run([*_apt(PACKAGES), "--download-only", "install", *wanted()], "fetching the guests' packages")
    if kernel.file not in present:
        run([*_apt(PACKAGES), "download", kernel_name()], "fetching the guests' kernel", cwd=PACKAGES)
    present = set(os.listdir(PACKAGES))
    missing = [each.file for each in (*packages, kernel) if each.file not in present]
    check(not missing, f"apt did not fetch {missing[:3]}")
