# SPDX-License-Identifier: BSD-3-Clause
"""Commands for one node: only its pairs move, and only its processes release transports; nothing is lost meanwhile."""
from tests.harness import processes
from tests.harness.control import BUSY, NOT_FOUND, REFUSED, USAGE, btlctl, order
from tests.harness.scenario import scenario
from tests.harness.waiting import check

from .acceptance import UnevenJob
from .departures import SM_MEMORY

HERE = ("--scope", "node:east")


class TwoNames(UnevenJob):
    """Ranks 0 and 1 are told that their node is `east`, 2 and 3 that it is `west`: two nodes, as far as livebtl knows."""

    def __init__(self, context, program, **more):
        super().__init__(context, program, 4, ("east", "east", "west", "west"), variable="LIVEBTL_NODE", **more)


def _pair(job, one, other):
    """The transport on which rank `one` sends to rank `other`."""
    members = {member["rank"]: member for member in order(job, "status", "--peers").json["members"]}
    process = members[other]["member"]["process"]
    return next(peer["transport"] for peer in members[one]["engine"]["peers"] if peer["process"] == process)


def _holders(job):
    """The ranks that hold sm's shared memory."""
    return {rank for rank, pid in job.rank_pids().items() if processes.mappings(pid, SM_MEMORY)}


def _switched_there_and_back(job):
    answer = order(job, "switch", "sm", "tcp", *HERE)
    check(answer.json["pairs_moved"] == 1 and answer.json["scope"] == "node:east", f"not the one pair: {answer}")
    check((_pair(job, 0, 1), _pair(job, 3, 2)) == ("tcp", "sm"), "the wrong pair was moved")
    check(order(job, "switch", "sm", "tcp", *HERE).json["already"], "a second switch there is not already so")
    order(job, "switch", "tcp", "sm", *HERE)
    check((_pair(job, 1, 0), _pair(job, 2, 3), _pair(job, 0, 2)) == ("sm", "sm", "tcp"), "not all are back where they were")


def _released_and_added(job):
    check(_holders(job) == {0, 1, 2, 3}, f"sm is open in {_holders(job)}")
    answer = order(job, "remove", "sm", *HERE)
    check(answer.json["released"] and _holders(job) == {2, 3}, f"still open in {_holders(job)}: {answer}")
    check(_pair(job, 2, 3) == "sm", "a pair of another node left sm")
    check(btlctl(job, "switch", "tcp", "sm", *HERE).expect(REFUSED).code == REFUSED, "")
    job_wide = order(job, "add", "sm")
    check(job_wide.json["already"] and _holders(job) == {2, 3}, f"add for the job undid a command for a node: {job_wide}")
    check("not on node:" in job_wide.json["text"], f"add for the job keeps to itself where it did nothing: {job_wide}")
    order(job, "add", "sm", *HERE)
    check(_holders(job) == {0, 1, 2, 3} and _pair(job, 0, 1) == "sm", "sm did not come back")


def _checkpointed(job):
    """sm stands in for a transport that is bound to a device."""
    for _ in range(2):  # the second time it is already done
        answer = order(job, "checkpoint", "prepare", "sm", *HERE)
        check(answer.json["released"] and _holders(job) == {2, 3}, f"still open in {_holders(job)}: {answer}")
    check(answer.json["already"], f"not already so: {answer}")
    job_wide = order(job, "checkpoint", "return")
    check(_holders(job) == {2, 3} and "not on node:" in job_wide.json["text"], f"return for the job: {job_wide}")
    for _ in range(2):
        order(job, "checkpoint", "return", *HERE)
        check(_holders(job) == {0, 1, 2, 3} and _pair(job, 0, 1) == "sm", "sm did not come back")
    order(job, "remove", "sm", *HERE)
    order(job, "checkpoint", "prepare", "sm", *HERE)
    order(job, "checkpoint", "return", *HERE)
    check(_holders(job) == {2, 3}, "return brought back what an operator had removed")
    order(job, "add", "sm", *HERE)
    plan = order(job, "checkpoint", "prepare", "--hold", "--dry-run")
    check("then hold start: would park all" in plan.json["text"], f"the plan leaves out the hold: {plan}")
    held = order(job, "checkpoint", "prepare", "--hold", "--lease", "60")  # nothing is bound to a device here
    check(held.json["verb"] == "hold start", f"not held: {held}")
    btlctl(job, "checkpoint", "prepare", "--hold", "--dry-run").expect(BUSY)
    order(job, "hold", "end")


@scenario("scoped")
def scoped(context):
    """switch, remove, add and checkpoint for one of two nodes, repeatedly, under collectives over both."""
    rounds = max(3, context.switches // 20)
    with TwoNames(context, "collectives") as job:
        job.wait_ready()
        for _ in range(rounds):
            _switched_there_and_back(job)
            _released_and_added(job)
            _checkpointed(job)
        refused = btlctl(job, "remove", "tcp", *HERE).expect(REFUSED)
        check("rank" in refused.output, f"the pairs that would be cut off are not named: {refused}")
        nobody = btlctl(job, "remove", "sm", "--scope", "node:north").expect(NOT_FOUND)
        check("east" in nobody.output and "west" in nobody.output, f"the nodes that there are are not named: {nobody}")
        btlctl(job, "remove", "sm", "--scope", "rank:3").expect(USAGE)
        btlctl(job, "set", "sm", "weight=3", *HERE).expect(USAGE)
        totals = job.finish(120)
    return f"{rounds} rounds on one of two nodes; {totals['received']} messages"
