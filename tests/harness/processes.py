# SPDX-License-Identifier: BSD-3-Clause
"""Reads /proc: which processes belong to a job, and what they hold."""
import contextlib
import os
import signal
import sys
import time
from collections import namedtuple

from .waiting import wait_until

# What a process holds: numbers of descriptors, mappings and threads.
Holdings = namedtuple("Holdings", "descriptors mappings threads")


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def with_variable(name, value):
    """Pids of all processes but this one whose environment has name=value."""
    wanted = f"{name}={value}".encode()
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            if wanted in _read(f"/proc/{entry}/environ").split(b"\0"):
                found.append(int(entry))
    return sorted(found)


def variable(pid, name):
    for item in _read(f"/proc/{pid}/environ").split(b"\0"):
        key, _, value = item.partition(b"=")
        if key == name.encode():
            return value.decode()
    return None


def program(pid):
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return ""


def _stat(path):
    """The fields of a stat file after the program's name (which may contain anything); empty if there is no such process."""
    return _read(path).decode(errors="replace").rpartition(")")[2].split()


def state(pid):
    """'R', 'S', 'T' and so on; '' if there is no such process."""
    return "".join(_stat(f"/proc/{pid}/stat")[:1])


def started(pid):
    """Its start time in clock ticks, which together with the pid identifies a process. 0 if there is no such process."""
    fields = _stat(f"/proc/{pid}/stat")
    return int(fields[19]) if fields else 0


def age(pid):
    """Seconds since it was started; 0 if there is no such process."""
    ticks = started(pid)
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK") if ticks else 0


def written_bytes(pid):
    """Bytes that it has caused to be written to a disk, by system calls or through mappings."""
    return int(_read(f"/proc/{pid}/io").partition(b"write_bytes: ")[2].split()[0])


def holdings(pid):
    return Holdings(len(os.listdir(f"/proc/{pid}/fd")), _read(f"/proc/{pid}/maps").count(b"\n"),
                    len(os.listdir(f"/proc/{pid}/task")))


def descriptors(pid):
    """{descriptor: what it refers to}"""
    found = {}
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            found[int(number)] = os.readlink(f"/proc/{pid}/fd/{number}")
        except OSError:
            pass  # closed in between
    return found


# What a thread has done since it began: how often it was woken, and how long it has had a processor.
Activity = namedtuple("Activity", "wakes seconds")


def threads(pid, name):
    """The ids of a process's threads of that name."""
    tasks = os.listdir(f"/proc/{pid}/task")
    return [int(task) for task in tasks if _read(f"/proc/{pid}/task/{task}/comm").decode(errors="replace").strip() == name]


def activity(pid, thread):
    """Wakes are voluntary switches: it sleeps once per wake."""
    status = _read(f"/proc/{pid}/task/{thread}/status").decode()
    wakes = int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])
    return Activity(wakes, int(_read(f"/proc/{pid}/task/{thread}/schedstat").split()[0]) / 1e9)


def mappings(pid, part):
    """Lines of /proc/PID/maps that contain `part`."""
    return [line for line in _read(f"/proc/{pid}/maps").decode(errors="replace").splitlines() if part in line]


def stop(pid):
    """Sends SIGSTOP and waits until every thread has stopped: the signal takes effect when one of them gets a
    processor, and until then the others run on."""
    def all_stopped():
        return all(_stat(f"/proc/{pid}/task/{task}/stat")[:1] == ["T"] for task in os.listdir(f"/proc/{pid}/task"))
    os.kill(pid, signal.SIGSTOP)
    wait_until(f"process {pid} to stop", all_stopped, 10)


@contextlib.contextmanager
def standing_still(pid):
    try:
        stop(pid)
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def exit_on_sigterm():
    """SIGTERM raises SystemExit, so that jobs and guests are ended on the way out."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
