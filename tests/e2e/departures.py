# SPDX-License-Identifier: BSD-3-Clause
"""Removing transports: the last one is refused; a removed one leaves nothing behind; a hundred leave no growth."""
import json

from tests.harness import processes
from tests.harness.control import DONE, REFUSED, btlctl
from tests.harness.job import MpiJob
from tests.harness.scenario import scenario
from tests.harness.waiting import check

SM_MEMORY = "memfd:livebtl"  # as /proc/PID/maps names the segments of sm


@scenario("last-transport-refused")
def last_transport_refused(context):
    """The refusal names the pairs that would be cut off, and nothing changes."""
    with MpiJob(context.build, context.logs, "stream", 3) as job:
        job.wait_ready()
        btlctl(job, "remove", "sm").expect(DONE)
        refused = btlctl(job, "remove", "tcp").expect(REFUSED)
        check(refused.json["pairs"], f"no pairs are named: {refused}")
        check(any("rank" in pair for pair in refused.json["pairs"]), f"pairs without ranks: {refused.json['pairs']}")
        btlctl(job, "add", "sm").expect(DONE)
        btlctl(job, "remove", "tcp").expect(DONE)
        btlctl(job, "add", "tcp").expect(DONE)
        totals = job.finish(60)
    return f"refused, naming {', '.join(refused.json['pairs'][:3])}; {totals['received']} messages"


def _nothing_left_of_sm(job):
    for rank, pid in job.rank_pids().items():
        left = processes.mappings(pid, SM_MEMORY)
        left += [name for name in processes.descriptors(pid).values() if SM_MEMORY in name]
        check(not left, f"rank {rank} still holds {left[:3]} after sm was removed")


def _each(choose, samples):
    """{rank: the maximum (or minimum, by `choose`) of each kind of holding over the samples}"""
    return {rank: processes.Holdings(*map(choose, zip(*(sample[rank] for sample in samples)))) for rank in samples[0]}


WARM = 5  # cycles of warm-up


@scenario("removals-and-additions")
def hundred_removals(context):
    """Descriptors, mappings and threads are counted: the last cycles end with no more than the first warm ones."""
    cycles = max(10, context.switches)
    with MpiJob(context.build, context.logs, "stream", 2) as job:
        job.wait_ready()
        pids = job.rank_pids()

        def cycle():
            answer = btlctl(job, "remove", "sm").expect(DONE)
            check(answer.json["released"], f"not released: {answer}")
            _nothing_left_of_sm(job)
            btlctl(job, "add", "sm").expect(DONE)
            return {rank: processes.holdings(pid) for rank, pid in pids.items()}
        # The connection of a btlctl that has just ended may or may not be counted: hence the maximum of the first
        # cycles, and the minimum of the last ones.
        before = _each(max, [cycle() for _ in range(WARM)])
        for _ in range(cycles):
            cycle()
        after = _each(min, [cycle() for _ in range(WARM)])
        for rank in pids:
            check(after[rank].descriptors <= before[rank].descriptors and after[rank].threads <= before[rank].threads,
                  f"rank {rank} grew from {before[rank]} to {after[rank]}")
            check(after[rank].mappings <= before[rank].mappings + 4,  # the C library's heap may grow by a mapping
                  f"rank {rank} grew from {before[rank]} to {after[rank]}")
        totals = job.finish(60)
    return f"{cycles} removals and additions: {before[0]} before, {after[0]} after; {totals['received']} messages"


# Each rank sends FLOOD bytes, in messages small enough for every transport to send eagerly, to one
# that keeps no more than FLOOD_KEPT of them; with the rings and the heap it may grow by FLOOD_GROWTH.
FLOOD, FLOOD_MESSAGE, FLOOD_KEPT, FLOOD_GROWTH = 384 << 20, 16 << 10, 32 << 20, 96 << 20


@scenario("flood-then-compute")
def flood_then_compute(context):
    """Two ranks flood each other, then compute without receiving; switched meanwhile, memory bounded."""
    switches = max(4, context.switches // 10)
    with MpiJob(context.build, context.logs, "flood_compute", 2,
                ("--bytes", str(FLOOD_MESSAGE), "--messages", str(FLOOD // FLOOD_MESSAGE),
                 "--growth", str(FLOOD_GROWTH)), environment={"LIVEBTL_UNEXPECTED_BYTES": str(FLOOD_KEPT)}) as job:
        job.wait_ready(120)
        for i in range(switches):
            btlctl(job, "switch", *(("sm", "tcp") if i % 2 == 0 else ("tcp", "sm"))).expect(DONE)
        totals = job.finish(120)
        grown = max(json.loads(line)["grown"] for line in job.output_lines() if line.startswith('{"grown"'))
    return (f"{switches} switches under {FLOOD >> 20} MiB that nobody received, memory grew by {grown >> 20} MiB; "
            f"{totals['received']} messages")
