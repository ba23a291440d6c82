# SPDX-License-Identifier: BSD-3-Clause
"""The agents of ranks with nothing to do: how often they wake, in whatever state a rank and its job are."""
import contextlib
import math
import os
import time

from tests.harness import processes
from tests.harness.control import DONE, btlctl
from tests.harness.job import MpiJob
from tests.harness.scenario import scenario
from tests.harness.waiting import check

AGENT = "livebtl-agent"
SECONDS = 10
STATES = ("away from MPI", "blocked in MPI", "looks in every 5 ms")  # of ranks 0, 1 and 2 of the program `quiet`
TRANSPORTS = "self,sm,tcp"


def _switched(job):
    btlctl(job, "switch", "sm", "tcp").expect(DONE)


def _both_in_use(job):
    """Transports of equal exclusivity share large messages, so each pair keeps a path over both."""
    btlctl(job, "set", "tcp", "exclusivity=1024").expect(DONE)


def _held_once(job):
    btlctl(job, "checkpoint", "prepare", "tcp").expect(DONE)
    btlctl(job, "checkpoint", "return").expect(DONE)


def _nothing(_job):
    pass


# What the job has gone through, or has: its transports, and what is done to it beforehand.
JOBS = {
    "as started": (TRANSPORTS, _nothing),
    "after a switch": (TRANSPORTS, _switched),
    "paths by sm and tcp": (TRANSPORTS, _both_in_use),
    "after a checkpoint": (TRANSPORTS, _held_once),
    "over ofi": ("self,tcp,ofi:tcp;ofi_rxm", _nothing),
    "a device is absent": (TRANSPORTS + ",verbs", _nothing),
}


def _agents(job):
    """{state: pid and thread of the agent of the rank in that state}"""
    pids = job.rank_pids()
    found = {}
    for rank, state in enumerate(STATES):
        threads = processes.threads(pids[rank], AGENT)
        check(len(threads) == 1, f"rank {rank} has {len(threads)} threads called {AGENT}")
        found[state] = (pids[rank], threads[0])
    return found


def _wakes(agents):
    return {key: processes.activity(*agent).wakes for key, agent in agents.items()}


@scenario("silence")
def silence(context):
    """An agent with nothing to do is woken at most once a second: away from MPI, blocked in it, or looking in."""
    with contextlib.ExitStack() as stack:
        jobs = {}
        for number, (name, (transports, _)) in enumerate(JOBS.items()):
            environment = {"LIVEBTL_TRANSPORTS": transports, "LIVEBTL_TCP_IF": "lo", "FI_TCP_IFACE": "lo"}
            job = MpiJob(context.build, os.path.join(context.logs, str(number)), "quiet", len(STATES),
                         environment=environment)
            jobs[name] = stack.enter_context(job)
        for name, job in jobs.items():
            job.wait_ready()
            JOBS[name][1](job)
        agents = {(name, state): agent for name, job in jobs.items() for state, agent in _agents(job).items()}
        time.sleep(3)  # for what was begun to end: acknowledgements, closed paths, the lease of a coordinator
        begun = time.monotonic()
        before = _wakes(agents)
        time.sleep(SECONDS)
        woken = {key: now - before[key] for key, now in _wakes(agents).items()}
        # One per second of the counting, which takes longer on a busy machine; one more may fall on its beginning.
        wakes_max = math.ceil(time.monotonic() - begun) + 1
        for job in jobs.values():
            job.finish(60)
    loud = [f"{name}, {state}: {wakes}" for (name, state), wakes in woken.items() if wakes > wakes_max]
    check(not loud, f"agents with nothing to do were woken more than {wakes_max} times in {SECONDS} s: {'; '.join(loud)}")
    return f"{len(woken)} agents in {len(jobs)} jobs were woken {min(woken.values())} to {max(woken.values())} times in {SECONDS} s"
