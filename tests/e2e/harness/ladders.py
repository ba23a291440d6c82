# SPDX-License-Identifier: BSD-3-Clause
"""Catches a ladder on a given rung: btlctl is stopped (SIGSTOP) when it says that it is there.

A member moves only on an order, so while its coordinator is stopped the ladder stays where it is.
"""
import os
import signal
import subprocess

from . import processes
from .control import Answer, btlctl
from .waiting import Failed, check, wait_until

RUNGS = ("joint", "newtx", "new")


class HeldLadder:
    """A btlctl that was stopped in mid-ladder. Leaving the context ends it."""

    def __init__(self, job, *arguments, options=()):
        self.job, self.arguments = job, arguments
        self.process = subprocess.Popen([*job.enter, job.build.btlctl, "--json", *options, *arguments], env=job.environment,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def stop_at(self, rung):
        """Reads btlctl's progress ("joint 0/4") and stops it at once when `rung` is ordered. False: it ended before."""
        for line in self.process.stderr:
            if line.split()[:1] == [rung]:
                os.kill(self.process.pid, signal.SIGSTOP)
                wait_until("btlctl to stop", lambda: processes.state(self.process.pid) in ("T", "Z", ""), 5)
                return processes.state(self.process.pid) == "T"
        return False

    def go_on(self, seconds=60):
        os.kill(self.process.pid, signal.SIGCONT)
        try:
            output, errors = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"btlctl {' '.join(self.arguments)} did not end within {seconds} s") from None
        return Answer(self.arguments, self.process.returncode, output, errors)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def standings(job):
    """The rungs on which the members stand: a set of names."""
    answer = btlctl(job, "status").expect(0)
    rungs = {member["rung"] for member in answer.json["members"]}
    check(rungs, f"no members in {answer}")
    return rungs
