# SPDX-License-Identifier: BSD-3-Clause
"""Where everything of the lab is kept: under build/vmlab of this checkout, and nowhere else."""
import contextlib
import fcntl
import os

from tests.harness.commands import ROOT
from tests.harness.waiting import Failed

HERE = os.path.dirname(os.path.abspath(__file__))
STATE = os.path.join(ROOT, "build", "vmlab")
PACKAGES = os.path.join(STATE, "packages")    # .deb files, as apt fetched them
IMAGES = os.path.join(STATE, "images")        # KEY/{vmlinux,initrd.img,root.ext4,manifest}
PRODUCTS = os.path.join(STATE, "products")    # KEY.ext4: what this checkout has built
GOLDEN = os.path.join(STATE, "golden")        # KEY/vmN.state: booted guests
SNAPSHOTS = os.path.join(STATE, "snapshots")  # NAME/{vmN.state,snapshot.json}
RUN = os.path.join(STATE, "run")              # of the lab that is up: sockets, consoles, lab.json
LOGS = os.path.join(STATE, "logs")
GUEST_FILES = os.path.join(HERE, "guest")


@contextlib.contextmanager
def locked(name, advice):
    """Holds build/vmlab/NAME.lock; raises Failed with the advice if another process holds it. Yields the descriptor:
    processes that inherit it hold the lock, too."""
    os.makedirs(STATE, exist_ok=True)
    with open(os.path.join(STATE, name + ".lock"), "w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failed(advice) from None
        yield file.fileno()
