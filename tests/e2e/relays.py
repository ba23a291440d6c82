# SPDX-License-Identifier: BSD-3-Clause
"""Relays that strangers flood, and relays that are killed: the ranks and their messages are not affected."""
import contextlib
import fcntl
import glob
import os
import signal
import subprocess
import sys

from tests.harness import processes
from tests.harness.control import DONE, MISSING, RETRACTED, btlctl, order
from tests.harness.ladders import HeldLadder
from tests.harness.nodes import job_on_two_nodes
from tests.harness.scenario import NEEDS_ROOT, scenario
from tests.harness.waiting import check, wait_until

# Makes silent connections, and makes them again when they are ended, until its input ends.
FLOOD = """
import resource, select, socket, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
host, _, port = sys.argv[1].rpartition(":")
silent = []
while not select.select([sys.stdin], [], [], 0)[0]:
    try:
        silent.append(socket.create_connection((host, int(port)), 5))
    except OSError:
        pass
    if len(silent) == 1500:
        print("flooded", flush=True)
        silent = silent[750:]
"""


def _relays(job):
    """The processes that relay for this job."""
    found = []
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if os.path.basename(words[0]) == b"livebtl-relay" and len(words) > 2 and words[2].startswith(job.rundir.encode()):
            found.append(pid)
    return found


def _flooded(job, node, context):
    relay = btlctl(job, "jobs").expect(DONE).json["jobs"][0]["relays"][0]
    flood = subprocess.Popen(["nsenter", "-t", str(node.holder.pid), "--net", "--", sys.executable, "-c", FLOOD, relay],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        check(flood.stdout.readline() == "flooded\n", "the flood did not begin")
        for i in range(max(4, context.switches // 5)):
            answer = order(job, "switch", *(("sm", "tcp") if i % 2 == 0 else ("tcp", "sm")))
            check(answer.json["members"] == 4, f"only {answer.json['members']} members took part")
            most = max(len(processes.descriptors(pid)) for pid in _relays(job))
            check(most < 600, f"a relay has {most} descriptors")
    finally:
        flood.communicate("end\n")


@scenario("relays-flooded-and-killed", NEEDS_ROOT)
def flooded_and_killed(context):
    """1,500 silent connections at a time keep nobody from commanding the job, nor does kill -9 of the relays in mid-ladder."""
    with job_on_two_nodes(context, "stream", 2) as (job, nodes):
        check(len(_relays(job)) == 2, f"relays: {_relays(job)}")
        _flooded(job, nodes[1], context)
        for rung in ("joint", "newtx"):
            with HeldLadder(job, rung, "switch", "sm", "tcp"):
                for pid in _relays(job):
                    os.kill(pid, signal.SIGKILL)
                wait_until("two new relays", lambda: len(_relays(job)) == 2, 20)
            wait_until("the ladder to end", lambda: btlctl(job, "resume").code == DONE, 30, interval=0.2)
            order(job, "switch", "tcp", "sm")
        totals = job.finish(60)
        wait_until("the relays to end with the job", lambda: not _relays(job), 20)
    return f"{totals['received']} messages, beside a flood and without relays"


@contextlib.contextmanager
def _on(job, node):
    """Within this context, commands are given on that node."""
    before, job.enter = job.enter, node.enter()
    try:
        yield
    finally:
        job.enter = before


def _relay_of(job, node):
    """"10.77.0.2:40123"; None: it has none now."""
    with _on(job, node):
        return (btlctl(job, "jobs").expect(DONE).json["jobs"][0]["relays"] or [None])[0]


# Occupies the port until its input ends.
TAKE_PORT = """
import socket, sys
host, _, port = sys.argv[1].rpartition(":")
taken = socket.create_server((host, int(port)))
print("taken", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def _relay_elsewhere(job, node):
    """Makes the node's next relay listen at another port than the last one. Yields where."""
    last = _relay_of(job, node)
    file, = glob.glob(f"/proc/{node.holder.pid}/root{job.rundir}/**/*.rly", recursive=True)
    with open(file.removesuffix("rly") + "rst", "r+b") as start_lock:
        fcntl.lockf(start_lock, fcntl.LOCK_EX)  # so that no member starts one
        for pid in _relays(job):
            with open(f"/proc/{pid}/cmdline", "rb") as words:
                if os.path.basename(file).removesuffix(".rly").encode() in words.read().split(b"\0"):
                    os.kill(pid, signal.SIGKILL)
        wait_until("the relay to end", lambda: len(_relays(job)) == 1, 20)
        keeper = subprocess.Popen([*node.enter(), sys.executable, "-c", TAKE_PORT, last], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        check(keeper.stdout.readline() == "taken\n", f"{last} could not be taken")
    try:
        wait_until("the next relay", lambda: _relay_of(job, node) not in (None, last), 60)
        yield _relay_of(job, node)
    finally:
        keeper.communicate("")


@scenario("restored-with-a-relay-elsewhere", NEEDS_ROOT)
def relay_elsewhere(context):
    """A held node's relay listens elsewhere, which its members cannot announce: job restored does not find them,
    changes nothing, and finds them by --relay. Messages and orders go on."""
    with job_on_two_nodes(context, "stream", 2) as (job, nodes):
        order(job, "hold", "start", "--lease", "600")
        with _relay_elsewhere(job, nodes[1]) as relay:
            answer = btlctl(job, "--timeout", "3", "job", "restored").expect(MISSING, RETRACTED)
            check(answer.json["members"] == 2, f"the other node's members were found: {answer}")
            restored = order(job, "job", "restored", "--relay", relay)
            check(restored.json["members"] == 4, f"not all were restored: {restored}")
            order(job, "switch", "sm", "tcp")
            order(job, "switch", "tcp", "sm")
            totals = job.finish(60)
    return f"{totals['received']} messages, the other node's relay at {relay}"
