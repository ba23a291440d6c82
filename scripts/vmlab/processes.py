# SPDX-License-Identifier: BSD-3-Clause
"""The lab's processes: they outlive the command that started them, so they are identified by pid and start time."""
import os
import signal
import subprocess
import time
from collections import namedtuple

from tests.harness.processes import started, state

from .places import RUN

Process = namedtuple("Process", "pid started")


def start(words, log, keep=(), with_parent=False):
    """Starts it in RUN, in a session of its own, which Ctrl-C does not reach. `keep`: descriptors that it inherits.
    with_parent: the kernel kills it when this process ends, in whatever way."""
    if with_parent:
        words = ["setpriv", "--pdeathsig", "KILL", *words]
    with open(os.path.join(RUN, log), "ab") as output:
        child = subprocess.Popen(words, cwd=RUN, stdin=subprocess.DEVNULL, stdout=output, stderr=output, pass_fds=keep,
                                 start_new_session=True)
    return Process(child.pid, started(child.pid))


def log_end(path):
    """The last lines of a log, in one."""
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return " | ".join(file.read().splitlines()[-5:])


def alive(process):
    return started(process.pid) == process.started and state(process.pid) not in ("", "Z", "X")


def stop(processes, how=signal.SIGTERM):
    """Ends them all, with SIGKILL after five seconds; returns when none is left."""
    for process in processes:
        _signal(process, how)
    deadline = time.monotonic() + 5
    while any(alive(each) for each in processes):
        if time.monotonic() > deadline:
            for process in processes:
                _signal(process, signal.SIGKILL)
            deadline += 5
        time.sleep(0.01)
    for process in processes:
        try:
            os.waitpid(process.pid, os.WNOHANG)  # if it is a child
        except ChildProcessError:
            pass


def _signal(process, number):
    if alive(process):
        try:
            os.kill(process.pid, number)
        except ProcessLookupError:
            pass
