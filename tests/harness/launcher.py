# SPDX-License-Identifier: BSD-3-Clause
"""mpirun, and the words in which its versions 4.1 and 5.0 differ."""
import functools
import os
import re
import subprocess

from .commands import ROOT
from .waiting import Failed

# Runs a command with its output in a folder for its rank.
CAPTURE = os.path.join(ROOT, "tests", "harness", "capture")


class OpenMpi4:
    """ORTE writes the output of each process into files of its own, spawned ones included."""
    OVER_STOCK = ("--mca", "pml", "ob1", "--mca", "btl_vader_single_copy_mechanism", "none", "--mca", "osc", "pt2pt,sm")
    HAS_ONE_SIDED_AS_MESSAGES = True  # osc/pt2pt
    COMPONENT_PATH = "SYSTEM_DEFAULT:{}"  # without the first word it finds none of its own
    PROCESSES = ("mpirun", "orted")  # the launcher, as the kernel names it once it runs, and its daemon on another node
    # For CRIU: the daemon leaves the ssh that started it, so that it is connected only to its like.
    DAEMONS_ALONE = ("--mca", "orte_launch_agent", "orted --daemonize")

    @staticmethod
    def for_one_sided(words):
        """Words for mpirun that choose livebtl for one-sided operations as well."""
        return words

    @staticmethod
    def options(output):
        """Words for mpirun; output: the directory for the ranks' output."""
        return ["--output-filename", output + ":nocopy"]

    @staticmethod
    def captured(_output, program, _capture=CAPTURE):
        """The command that each rank runs."""
        return program


class OpenMpi5:
    """PRRTE, over Debian 13's PMIx, fails to write the second of a process's two files. What spawned processes write goes to
    mpirun's own output."""
    OVER_STOCK = ("--mca", "pml", "ob1", "--mca", "smsc", "^cma,knem,xpmem")
    HAS_ONE_SIDED_AS_MESSAGES = False
    PROCESSES = ("prterun", "prted")
    # With --daemonize prted stays connected to ssh. The agent is share/checkpoint/ssh-detached, in every guest.
    DAEMONS_ALONE = ("--prtemca", "plm_ssh_agent", "/run/ssh-detached")
    COMPONENT_PATH = "{}"  # its own are in its library; PMIx, which also reads this path, does not know the first word

    @staticmethod
    def for_one_sided(words):
        """Open MPI 5.0.7 starts what osc/rdma runs over only if the PML ob1 is asked whether it would serve, and asks only
        the one that is named. Of those that it asks, cm comes first."""
        return ["^ucx" if word == "cm" else word for word in words]

    @staticmethod
    def options(_output):
        return []

    @staticmethod
    def captured(output, program, capture=CAPTURE):
        """capture: the path of CAPTURE as the rank sees it."""
        return [capture, output, *program]


@functools.lru_cache(maxsize=None)
def launcher():
    """The class for the mpirun in PATH."""
    said = subprocess.run(["mpirun", "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                          text=True, check=False).stdout
    found = re.match(r"mpirun \(Open MPI\) (\d+)\.", said)
    if not found or found[1] not in ("4", "5"):
        raise Failed(f"mpirun is not of Open MPI 4 or 5: it says {said[:100]!r}")
    return {"4": OpenMpi4, "5": OpenMpi5}[found[1]]
