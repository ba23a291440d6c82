# SPDX-License-Identifier: BSD-3-Clause
"""Holds a ladder on a given rung: btlctl blocks in writing its next line of progress, as the pipe is full.

When all members have reached a rung it prints so ("joint 4/4") before it orders the next one. Its standard error is a
pipe with room for everything up to the line that tells of the order for the rung ("joint 0/4"), and for nothing more.
A member moves only on an order, so the ladder stays where it is until the pipe is read, or btlctl killed.
"""
import fcntl
import os
import subprocess
import threading

from .control import Answer, btlctl, command_line
from .waiting import PATIENCE, Failed, check, wait_until

RUNGS = ("joint", "newtx", "new")
NO_TAKEOVER = {"LIVEBTL_TAKEOVER": "off"}  # for scenarios that inspect what a coordinator leaves behind, however long that takes
F_SETPIPE_SZ = 1031  # fcntl has a name for it since Python 3.10 only
PIPE_BYTES = os.sysconf("SC_PAGESIZE")


def _lines_up_to(rung):
    """What btlctl prints until `rung` is ordered; the number of members has one digit."""
    said = []
    for each in RUNGS:
        said.append(f"{each} 0/4\n")
        if each == rung:
            return "".join(said)
        said.append(f"{each} 4/4\n")
    raise ValueError(rung)


class Overtaken(Failed):
    """The held btlctl got no processor for so long that the job's takeover finished its ladder."""


class HeldLadder:
    """A btlctl that waits in mid-ladder, all members on `rung`. Leaving the context ends it."""

    def __init__(self, job, rung, *arguments):
        self.arguments = arguments
        self.errors, pipe = os.pipe()
        check(fcntl.fcntl(pipe, F_SETPIPE_SZ, PIPE_BYTES) == PIPE_BYTES, "the size of a pipe cannot be set")
        os.write(pipe, b"\n" * (PIPE_BYTES - len(_lines_up_to(rung))))
        self.process = subprocess.Popen(command_line(job, "--progress", *arguments), env=job.environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=pipe, text=True)
        os.close(pipe)
        try:
            wait_until(f"all members to stand on {rung}", lambda: self._held_at(job, rung), 30)
        except BaseException:
            self.kill()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def _held_at(self, job, rung):
        if self.process.poll() is not None:
            raise Failed(f"not held at {rung}: {self.go_on()}")
        members = btlctl(job, "status").expect(0).json["members"]
        if rung != "new" and self._all_on(members, "new"):
            raise Overtaken(f"the job's own takeover finished the ladder before all members were seen on {rung}")
        return self._all_on(members, rung)

    def _all_on(self, members, rung):
        return members and all(member["rung"] == rung and member["reached"] and self._is_ours(member) for member in members)

    def _is_ours(self, member):
        """An earlier ladder may rest on the same rung."""
        words = (member["operation"]["verb"], *member["operation"]["arguments"])
        return words == self.arguments[-len(words):]

    def go_on(self):
        """Drains the pipe, so that btlctl goes on, and waits for its end."""
        said = []
        reader = threading.Thread(target=lambda: said.append(self._read_errors()), daemon=True)
        reader.start()
        try:
            output, _ = self.process.communicate(timeout=60 * PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failed(f"btlctl {' '.join(self.arguments)} did not end within {60 * PATIENCE} s") from None
        reader.join()
        return Answer(self.arguments, self.process.returncode, output, said[0].lstrip("\n"))

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        self._read_errors()

    def _read_errors(self):
        if self.errors is None:
            return ""
        with os.fdopen(self.errors) as errors:
            self.errors = None
            return errors.read()


def standings(job):
    """The rungs on which the members stand: a set of names."""
    answer = btlctl(job, "status").expect(0)
    rungs = {member["rung"] for member in answer.json["members"]}
    check(rungs, f"no members in {answer}")
    return rungs
