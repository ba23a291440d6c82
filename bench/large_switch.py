# SPDX-License-Identifier: BSD-3-Clause
"""bench/large_switch.py -- switches of many processes on pretended nodes of this machine, each with its own relay.

usage: scripts/python -m bench.large_switch [--build build/release] [--nodes 16] [--members 64] [--switches 5]
Each process is a real agent with an engine that reaches every rung at once (tests/unit/ctl-tool/fake_member.cc), so
what is measured is the time of orders and answers. Prints, for each switch, the time of its ladder, of each rung, and
of the whole command with its processor time; then how long `btlctl status` takes.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DEADLINE_S = 120


class Nodes:
    """The processes of a job, in directories of which each is a node."""

    def __init__(self, build, scratch, nodes, members):
        self.build, self.scratch, self.total = build, Path(scratch), nodes * members
        (self.scratch / "secret").write_text("5a" * 32)
        (self.scratch / "secret").chmod(0o600)
        self.members = [[self.start(node, node * members + i) for i in range(members)] for node in range(nodes)]
        for node in self.members:
            for member in node:
                if member.stdout.readline() != "ready\n":
                    raise SystemExit("a process did not start")

    def environment(self, node):
        return dict(os.environ, LIVEBTL_RUNDIR=str(self.scratch / f"node{node}"), LIVEBTL_JOB="large",
                    LIVEBTL_NODE=f"node{node}", LIVEBTL_SIZE=str(self.total), LIVEBTL_TCP_IF="lo",
                    LIVEBTL_SECRET_FILE=str(self.scratch / "secret"))

    def start(self, node, rank):
        return subprocess.Popen([self.build / "bin/fake_member", str(rank)], env=self.environment(node), text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def btlctl(self, *words):
        """Returns exit code, standard output, seconds, and processor seconds."""
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run([self.build / "bin/btlctl", *words], env=self.environment(0), text=True,
                              capture_output=True, timeout=DEADLINE_S, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return done, time.monotonic() - begun, spent

    def relay_of(self, node):
        """Waits for the node's relay, and returns it as `btlctl jobs` names it."""
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            done = subprocess.run([self.build / "bin/btlctl", "jobs", "--json"], env=self.environment(node), text=True,
                                  capture_output=True, check=False)
            for job in json.loads(done.stdout or "{}").get("jobs", []):
                if job.get("relays"):
                    return ",".join("tcp://" + place for place in job["relays"])
            time.sleep(0.1)
        raise SystemExit(f"node {node} has no relay")

    def introduce(self):
        """Lets a process of the first node know the relays of all others."""
        teller = self.members[0][0]
        for node in range(1, len(self.members)):
            teller.stdin.write(f"relay {self.relay_of(node)}\n")
            teller.stdin.flush()
            teller.stdout.readline()

    def end(self):
        for node in self.members:
            for member in node:
                member.stdin.close()
        for node in self.members:
            for member in node:
                member.wait(DEADLINE_S)


def switch(nodes, routes):
    done, seconds, spent = nodes.btlctl("switch", *routes, "--json")
    outcome = json.loads(done.stdout)
    if outcome["exit_code"] != 0 or outcome["members"] != nodes.total:
        raise SystemExit(f"the switch failed: {outcome['text']}, {outcome['members']} processes")
    rungs = {rung["rung"]: round(rung["milliseconds"], 1) for rung in outcome["rungs"]}
    print(f"switch {' '.join(routes)}: rungs {rungs} ms, ladder {sum(rungs.values()):.1f} ms, "
          f"command {seconds * 1000:.0f} ms, of which btlctl's processor {spent * 1000:.0f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--members", type=int, default=64)
    parser.add_argument("--switches", type=int, default=5)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lvb-") as scratch:
        nodes = Nodes(Path(wanted.build).resolve(), scratch, wanted.nodes, wanted.members)
        try:
            nodes.introduce()
            for i in range(wanted.switches):
                switch(nodes, ("sm", "tcp") if i % 2 == 0 else ("tcp", "sm"))
            done, seconds, spent = nodes.btlctl("status", "--json")
            answered = len(json.loads(done.stdout).get("members", []))
            print(f"status: {answered} of {nodes.total} in {seconds * 1000:.0f} ms, "
                  f"of which btlctl's processor {spent * 1000:.0f} ms")
        finally:
            nodes.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
