# SPDX-License-Identifier: BSD-3-Clause
"""Trouble for coordinators: killed on every rung, with stopped members, two at once, with a process that joins."""
import os
import random
import signal
import subprocess
import time

from tests.harness import processes
from tests.harness.control import BUSY, DONE, NOT_RELEASED, RETRACTED, btlctl, order, start_btlctl
from tests.harness.job import MpiJob
from tests.harness.ladders import NO_TAKEOVER, RUNGS, HeldLadder, Overtaken, standings
from tests.harness.scenario import scenario
from tests.harness.waiting import PATIENCE, check, wait_until

LEASE = 3  # seconds (docs/SWITCH.md)


def killed_at(job, moment, chance):
    """Starts a switch and kills its btlctl on a given rung, or anywhere."""
    if moment != "anywhere":
        with HeldLadder(job, moment, "switch", "sm", "tcp") as ladder:
            ladder.kill()
        return
    process = start_btlctl(job, "switch", "sm", "tcp")
    try:
        process.wait(chance.uniform(0, 0.1))  # mostly in mid-ladder; the scenario must hold wherever it is
    except subprocess.TimeoutExpired:
        process.kill()
    process.communicate()


def killed_coordinator(context, verb):
    """kill -9 of btlctl on every rung, and anywhere; then resume or abort; then the next switch works."""
    notes = []
    chance = random.Random(1)
    with MpiJob(context.build, context.logs, "storm", 4, ("--bytes", "100000"), environment=NO_TAKEOVER) as job:
        job.wait_ready()
        for moment in (*RUNGS, *["anywhere"] * max(3, context.switches // 10)):
            killed_at(job, moment, chance)
            busy = btlctl(job, "switch", "tcp", "sm").expect(BUSY, DONE)
            if moment == "newtx":
                lease_ends(job, busy)
            answer = end_interrupted(job, verb)
            notes.append(f"{moment}: {'busy' if busy.code == BUSY else 'done'} before, {verb} {answer.code}")
            order(job, "switch", "sm", "tcp")
            order(job, "switch", "tcp", "sm")
        job.finish(120)
    return "; ".join(notes)


@scenario("coordinator-killed-resume")
def killed_and_resumed(context):
    return killed_coordinator(context, "resume")


@scenario("coordinator-killed-abort")
def killed_and_aborted(context):
    return killed_coordinator(context, "abort")


def lease_ends(job, answer):
    """A killed coordinator counts as active for LEASE seconds; after that, the next one is told that a command was left
    unfinished, and what to do."""
    def told():
        answer = btlctl(job, "switch", "tcp", "sm").expect(BUSY, DONE)
        return answer.code == DONE or "left unfinished" in answer.json["text"]
    if answer.code == BUSY:
        wait_until("the killed coordinator's lease to end", told, LEASE, interval=0.2)


def end_interrupted(job, verb):
    """Ends it by resume or abort. The killed coordinator may already have given its next order: once a member stands on
    new, nothing can be taken back; abort then says so, and resume must finish it."""
    answer = order(job, verb, also=(NOT_RELEASED,) if verb == "abort" else ())
    rungs = standings(job)
    if answer.code == NOT_RELEASED:
        check("new" in rungs and rungs <= {"newtx", "new"}, f"said to be committed, with members at {rungs}: {answer}")
        check(all(one["answered"] for one in answer.json["stragglers"]), f"members that run are called silent: {answer}")
        order(job, "resume")
        rungs = standings(job)
        check(rungs == {"new"}, f"resume left members at {rungs}")
    check(rungs <= {"old", "new"}, f"{verb} left members at {rungs}")
    return answer


@scenario("coordinator-killed-and-left")
def killed_and_left(context):
    """kill -9 of btlctl on every rung, and no other command follows: the job itself finishes the ladder."""
    waits = []
    with MpiJob(context.build, context.logs, "storm", 4, ("--bytes", "100000")) as job:
        job.wait_ready()
        for rung, route in zip(RUNGS, (("sm", "tcp"), ("tcp", "sm"), ("sm", "tcp"))):
            with held_in_time(job, rung, route) as ladder:
                ladder.kill()
                killed = time.monotonic()
            wait_until(f"the ladder left on {rung} to end", lambda: finished(job, route), 30, interval=0.2)
            waits.append(f"{rung} {time.monotonic() - killed:.1f} s")
            answer = btlctl(job, "resume").expect(DONE, BUSY)
            check(answer.code == BUSY or answer.json["already"], f"something was left to resume: {answer}")
        totals = job.finish(120)
    return f"finished by the job itself: {', '.join(waits)}; {totals['received']} messages"


def held_in_time(job, rung, route):
    """On a starved machine the rung may take longer than the lease; then the job has already finished the ladder."""
    for _ in range(2):
        try:
            return HeldLadder(job, rung, "switch", *route)
        except Overtaken:
            order(job, "switch", *reversed(route))
    return HeldLadder(job, rung, "switch", *route)


def finished(job, route):
    """All members stand at the end of this switch, and none waits for a coordinator."""
    job.check_running()
    members = btlctl(job, "status").expect(DONE).json["members"]
    return all(one["rung"] == "new" and one["reached"] and not one["left_open"] and
               one["operation"]["arguments"] == list(route) for one in members)


@scenario("rank-stopped-before-commit")
def stopped_before_commit(context):
    """A rank is stopped; the switch is taken back and names it; the job goes on; afterwards the switch works."""
    with MpiJob(context.build, context.logs, "stream", 3) as job:
        job.wait_ready()
        pid = job.rank_pids()[2]
        processes.stop(pid)
        answer = btlctl(job, "--timeout", "3", "switch", "sm", "tcp").expect(RETRACTED)
        check("rank 2" in answer.output, f"the straggler is not named: {answer}")
        os.kill(pid, signal.SIGCONT)
        btlctl(job, "resume").expect(DONE)
        check(standings(job) <= {"old", "new"}, f"members stand at {standings(job)}")
        btlctl(job, "switch", "sm", "tcp").expect(DONE)
        totals = job.finish(60)
    return f"retracted with the straggler named, then switched; {totals['received']} messages"


@scenario("rank-stopped-after-commit")
def stopped_after_commit(context):
    """A rank is stopped between NEWTX and NEW: committed, not released, straggler named; after SIGCONT resume ends it."""
    with MpiJob(context.build, context.logs, "stream", 3, environment=NO_TAKEOVER) as job:
        job.wait_ready()
        pid = job.rank_pids()[2]
        with HeldLadder(job, "newtx", "--timeout", "20", "remove", "sm") as ladder:
            processes.stop(pid)
            answer = ladder.go_on()
        os.kill(pid, signal.SIGCONT)
        answer.expect(NOT_RELEASED)
        check("rank 2" in answer.output, f"the straggler is not named: {answer}")
        btlctl(job, "resume").expect(DONE)
        check(standings(job) == {"new"}, f"members stand at {standings(job)}")
        totals = job.finish(60)
    return f"committed, not released; resumed; {totals['received']} messages"


@scenario("two-coordinators")
def two_coordinators(context):
    """Opposite switches are ordered at once, repeatedly: each is done or refused as busy, and nothing is lost."""
    codes = []
    with MpiJob(context.build, context.logs, "stream", 4) as job:
        job.wait_ready()
        for _ in range(max(3, context.switches // 10)):
            rivals = [start_btlctl(job, "switch", *route) for route in (("sm", "tcp"), ("tcp", "sm"), ("sm", "tcp"))]
            for rival in rivals:
                output, errors = rival.communicate(timeout=60 * PATIENCE)
                check(rival.returncode in (DONE, BUSY), f"code {rival.returncode}: {output}{errors}")
                codes.append(rival.returncode)
            job.check_running()
            # A coordinator that got no processor for the length of the lease may have lost the job to a rival before
            # its own ladder was finished: this follows btlctl's advice for that.
            order(job, "resume")
        order(job, "switch", "sm", "tcp")
        totals = job.finish(60)
    check(DONE in codes, "no coordinator ever succeeded")
    return f"{codes.count(DONE)} done, {codes.count(BUSY)} busy; {totals['received']} messages"


@scenario("spawned-in-mid-ladder")
def spawned_in_mid_ladder(context):
    """Processes are spawned while a ladder stands at JOINT; it then goes on and includes them."""
    # Otherwise the job would finish the ladder of a btlctl that is held for long.
    with MpiJob(context.build, context.logs, "spawn", 2, environment=NO_TAKEOVER) as job:
        job.wait_ready()
        parents = set(job.rank_pids().values())

        def spawned():
            job.check_running()
            return {pid for pid in processes.with_variable("LIVEBTL_RUNDIR", job.rundir)
                    if processes.program(pid) == "e2e_spawn"} - parents
        rounds = max(2, context.switches // 20)
        for route in [("sm", "tcp"), ("tcp", "sm")] * rounds:
            with HeldLadder(job, "joint", "switch", *route) as ladder:
                before = spawned()
                wait_until("processes spawned in mid-ladder", lambda: spawned() - before, 30)
                ladder.go_on().expect(DONE)
        totals = job.finish(120)
    return f"{2 * rounds} ladders with processes that joined at JOINT; {totals['received']} messages"


@scenario("no-hostage")
def no_hostage(context):
    """All ranks compute without calling MPI; a switch and a removal complete all the same."""
    with MpiJob(context.build, context.logs, "compute", 2) as job:
        job.wait_ready()
        started = time.monotonic()
        switched = btlctl(job, "switch", "sm", "tcp").expect(DONE)
        middle = time.monotonic()
        removed = btlctl(job, "remove", "sm").expect(DONE)
        ended = time.monotonic()
        check(switched.json["pairs_moved"] > 0, f"no pair moved: {switched}")
        check(removed.json["released"], f"not released: {removed}")
        job.finish(60)
    rungs = sum(rung["milliseconds"] for rung in switched.json["rungs"])
    return (f"switch {1000 * (middle - started):.0f} ms with btlctl's start, ladder {rungs:.1f} ms; "
            f"remove {1000 * (ended - middle):.0f} ms")
