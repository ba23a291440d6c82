# SPDX-License-Identifier: BSD-3-Clause
"""The disk with what this checkout has built: made anew in a second or two, while the guests' image stays."""
import glob
import hashlib
import os
import shutil
import tempfile

from tests.harness.commands import run
from tests.harness.waiting import check

from .image import make_disk
from .places import PRODUCTS

# Paths below the build directory; in the guest they are below MOUNTED.
WANTED = ("bin/btlctl", "bin/bench_mpi", "bin/livebtl-switch-driver", "bin/*_transport_test", "bin/conformance_*_device",
          "bin/verbs_*_test",
          "lib/liblivebtl.so.*", "lib/liblivebtl-fi.so", "lib/livebtl/livebtl-relay", "e2e/e2e_*")
REQUIRED = ("bin/btlctl", "lib/liblivebtl-fi.so", "lib/livebtl/livebtl-relay", "e2e/e2e_stream")
PROGRAMS = ("collectives", "compute", "flood_compute", "forks", "onesided", "rendezvous", "spawn", "storm", "stream", "threads")
TARGETS = ("livebtl", "livebtl-fi", "btlctl", "bench_mpi", "livebtl-switch-driver", "tcp_transport_test", "conformance_verbs_device",
           "conformance_ofi_device", "verbs_device_test", "verbs_pure_test", "verbs_engine_test", "verbs_transport_test",
           *(f"e2e_{name}" for name in PROGRAMS))
MOUNTED = "/opt/livebtl"


def build(build_directory, say):
    """Makes the disk if anything has changed, and returns its path."""
    for name in REQUIRED:
        check(os.path.exists(os.path.join(build_directory, name)),
              f"{build_directory}/{name} is missing: cmake --preset release && cmake --build --preset release")
    paths = sorted(path for pattern in WANTED for path in glob.glob(os.path.join(build_directory, pattern)))
    facts = [(path, os.lstat(path).st_size, os.lstat(path).st_mtime_ns) for path in paths]
    disk = os.path.join(PRODUCTS, hashlib.sha256(repr(facts).encode()).hexdigest()[:16] + ".ext4")
    if os.path.exists(disk):
        return disk
    say(f"products: {len(paths)} files of {os.path.relpath(build_directory)}")
    os.makedirs(PRODUCTS, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="new-", dir=PRODUCTS) as work:
        tree = os.path.join(work, "tree")
        for path in paths:
            _copy(path, os.path.join(tree, os.path.relpath(path, build_directory)))
        make_disk(tree, os.path.join(work, "disk"))
        os.rename(os.path.join(work, "disk"), disk)
    return disk


def forget_others(disk):
    """Removes disks with older products; no guest may be up."""
    for path in glob.glob(os.path.join(PRODUCTS, "*.ext4")):
        if path != disk:
            os.remove(path)


def _copy(path, target):
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.islink(path):
        os.symlink(os.readlink(path), target)
    else:
        run(["strip", "--strip-debug", "-o", target, path], "copying without debug information")
        shutil.copymode(path, target)
