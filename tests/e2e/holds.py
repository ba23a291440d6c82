# SPDX-License-Identifier: BSD-3-Clause
"""btlctl hold: all traffic is parked while the job is held and goes on afterwards; a broken hold is never reported as good."""
import time

from tests.harness.control import BUSY, DONE, INCONSISTENT, REFUSED, btlctl, order
from tests.harness.job import MpiJob
from tests.harness.scenario import scenario
from tests.harness.waiting import check, wait_until

from .scopes import TwoNames


def _frames(job):
    """Frames that all members have sent and received, over all transports."""
    return sum(int(transport[count]) for member in order(job, "list").json["members"]
               for transport in member["transports"] for count in ("frames_sent", "frames_received"))


def _moves(job):
    """Waits until traffic flows."""
    before = _frames(job)
    wait_until("traffic to go on", lambda: _frames(job) > before + 100, 30)


def _nothing_to_warn_of(job):
    """A process that is let go first sends to others that are still held: that is how a hold ends."""
    warned = [line for line in job.error_lines() if " warn " in line and "hold" in line]
    check(not warned, f"processes that were held to the end warn: {warned[:3]}")


@scenario("held")
def held(context):
    """A storm is held again and again, over one transport and the other: nothing moves, and nothing is lost."""
    rounds = max(4, context.switches // 10)
    with MpiJob(context.build, context.logs, "storm", 4) as job:
        job.wait_ready()
        longest_ms = 0.0
        for turn in range(rounds):
            if turn % 2 == 1:
                order(job, "switch", *(("sm", "tcp") if turn % 4 == 1 else ("tcp", "sm")))
            began = time.monotonic()
            answer = order(job, "hold", "start", "--lease", "600")
            longest_ms = max(longest_ms, 1000 * (time.monotonic() - began))
            check(answer.json["members"] == 4, f"not all are held: {answer}")
            before = _frames(job)
            btlctl(job, "set", "sm", f"weight={turn + 2}").expect(REFUSED)
            order(job, "hold", "check", "--id", answer.json["operation"])
            check(_frames(job) == before, "frames were sent while the job was held")
            btlctl(job, "--timeout", "5", "hold", "start").expect(BUSY)
            order(job, "hold", "end")
            _moves(job)
        _nothing_to_warn_of(job)
        totals = job.finish(120)
    return f"{rounds} times, at most {longest_ms:.0f} ms until parked, with btlctl's start; {totals['received']} messages"


@scenario("hold-left-behind")
def hold_left_behind(context):
    """The hold is not ended but expires with its lease: traffic goes on, and check and end report that it was broken."""
    with MpiJob(context.build, context.logs, "storm", 2) as job:
        job.wait_ready()
        btlctl(job, "hold", "check").expect(INCONSISTENT)
        order(job, "hold", "start", "--lease", "1")
        wait_until("the lease to run out", lambda: btlctl(job, "hold", "check").expect(DONE, INCONSISTENT).code
                   == INCONSISTENT, 30)
        _moves(job)
        broken = btlctl(job, "hold", "end").expect(INCONSISTENT)
        check("lease ran out" in broken.json["text"], f"it does not say why: {broken}")
        order(job, "hold", "start", "--lease", "600")
        order(job, "hold", "end")
        totals = job.finish(60)
    return f"said to be broken; {totals['received']} messages"


def _incarnations(job):
    return {member["engine"]["incarnation"] for member in order(job, "status").json["members"]}


def _connected(job):
    """The number of paths opened so far, over all pairs."""
    return sum(peer["generation"] for member in order(job, "status", "--peers").json["members"]
               for peer in member["engine"]["peers"])


@scenario("restored")
def restored(context):
    """A held job goes on as if its machines had been restored, repeatedly: over new connections, without losses."""
    rounds = max(3, context.switches // 20)
    with TwoNames(context, "collectives") as job:
        job.wait_ready()
        btlctl(job, "job", "restored").expect(INCONSISTENT)
        known = {1}
        for turn in range(rounds):
            held_by = order(job, "hold", "start", "--lease", "600").json["operation"]
            before = _connected(job)
            btlctl(job, "job", "restored", "--id", "0x1").expect(INCONSISTENT)
            order(job, "--dry-run", "job", "restored")
            check(_incarnations(job) == known, "a dry run raised the incarnation")
            answer = order(job, "job", "restored", *(("--id", held_by) if turn % 2 else ()))
            check(answer.json["members"] == 4 and answer.json["operation"] == held_by, f"not all were restored: {answer}")
            now = _incarnations(job)
            check(len(now) == 1 and max(now) > max(known), f"incarnations {known} became {now}")
            known = now
            check(order(job, "job", "restored").json["already"], "a second one is not already so")
            _moves(job)
            wait_until("new connections", lambda: _connected(job) > before, 30)
        order(job, "switch", "sm", "tcp")  # switches work as before
        order(job, "switch", "tcp", "sm")
        totals = job.finish(120)
    return f"{rounds} times; {totals['received']} messages"
