# SPDX-License-Identifier: BSD-3-Clause
"""Third-party MPI programs, as shipped by Debian, switched while they run; each is judged by its own checks."""
import os
import re

from tests.harness.commands import ROOT
from tests.harness.control import DONE, MISSING, NOT_FOUND, btlctl
from tests.harness.job import MpiJob
from tests.harness.scenario import scenario
from tests.harness.waiting import check

HPCC_INPUT = "/usr/share/doc/hpcc/examples/_hpccinf.txt"
STOP = "STOP"  # in a command: stands for the stop file's path
RING = os.path.join(ROOT, "tests", "e2e", "programs", "ring.py")


class GuestJob(MpiJob):
    """A program without a proof of its own; it ends by itself, or when the file STOP exists."""

    def __init__(self, context, ranks, command):
        super().__init__(context.build, context.logs, command[0], ranks)
        self.guest = command

    def program_command(self):
        return [self.stop_file if word == STOP else word for word in self.guest]

    def switch_to_the_end(self, seconds, wanted=None):
        """Orders switches until the program has ended; asks it to end when `wanted` are done. Returns how many were."""
        done, codes = 0, set()
        route = ("sm", "tcp")
        for _ in range(100 * seconds):
            if not self.running():
                break
            answer = btlctl(self, "switch", *route)
            if answer.code == DONE and not answer.json["already"]:
                done, route = done + 1, route[::-1]
                if done == wanted:
                    self.stop()
            codes.add(answer.code)
        check(not self.running(), f"still running after {100 * seconds} switches")
        check(self.mpirun.returncode == 0, f"mpirun gave {self.mpirun.returncode}: {self.log_tail()}")
        # While it starts or ends, a job has no members, or too few.
        check(codes <= {DONE, NOT_FOUND, MISSING}, f"btlctl gave {codes}")
        check(done > 0, "no switch was done while it ran")
        return done


@scenario("guest-netpipe")
def netpipe(context):
    """NetPIPE's integrity check."""
    with GuestJob(context, 2, ["NPopenmpi", "-i", "-n", "300", "-u", "300000", "-o", "/dev/null"]) as job:
        switches = job.switch_to_the_end(120)
        text = "".join(job.output_lines()) + "".join(job.error_lines())
    check("Integrity check passed" in text and "failed" not in text.lower(), f"NetPIPE: {text[-300:]}")
    return f"{text.count('Integrity check passed')} sizes, {switches} switches"


@scenario("guest-hpcc")
def hpcc(context):
    """HPL, PTRANS, RandomAccess, FFT, b_eff: the residual checks of all of them."""
    with open(HPCC_INPUT) as file:
        text = re.sub(r"^1000 ", "1500 ", file.read(), flags=re.MULTILINE)
    with open(os.path.join(context.logs, "hpccinf.txt"), "w") as file:
        file.write(text)
    output = os.path.join(context.logs, "hpccoutf.txt")
    if os.path.exists(output):
        os.remove(output)
    with GuestJob(context, 4, ["hpcc"]) as job:
        switches = job.switch_to_the_end(300)
    with open(output) as file:
        text = file.read()
    check("Success=1" in text and "FAILED" not in text, f"hpcc: see {output}")
    return f"Success=1, {text.count('PASSED')} residual checks passed, {switches} switches"


@scenario("guest-mpi4py")
def mpi4py(context):
    """A small program sends pickled objects of all sizes among all ranks, and checks them."""
    with GuestJob(context, 3, ["/usr/bin/python3", RING, STOP]) as job:
        switches = job.switch_to_the_end(120, context.switches)
        text = "".join(job.output_lines())
    rounds = re.findall(r"^ok (\d+) rounds$", text, flags=re.MULTILINE)
    check(len(rounds) == 3 and int(rounds[0]) > 0 and switches >= context.switches, f"mpi4py, {switches} switches: {text[-300:]}")
    return f"3 ranks, {rounds[0]} rounds, {switches} switches"
