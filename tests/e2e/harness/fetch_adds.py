# SPDX-License-Identifier: BSD-3-Clause
"""How many fetch-and-adds the program `regions` has made, and jobs that go on until they are enough."""
import json

from .control import DONE, btlctl, drive
from .job import MpiJob
from .waiting import check, wait_until

IN_FLIGHT_MIN = 64
SOAK_SWITCHES = 1000  # who asks for so many wants a soak


def minimum(context):
    """The fetch-and-adds that a scenario makes at least: 200,000 in CI."""
    return 10_000_000 if context.switches >= SOAK_SWITCHES else 2_000 * context.switches


def told(job):
    """What each rank has told last."""
    last = {}
    for line in job.output_lines():
        if line.startswith('{"rank"') and line.endswith("\n"):
            rank = json.loads(line)
            last[rank["rank"]] = rank
    return last.values()


def made(job):
    return sum(rank["fetch_adds"] for rank in told(job))


def check_in_flight(job):
    """Returns how many were in flight at most, of the rank that had fewest."""
    in_flight = min(rank["in_flight_max"] for rank in told(job))
    check(in_flight >= IN_FLIGHT_MIN, f"only {in_flight} fetch-and-adds were in flight at once")
    return in_flight


def drive_until_made(job, wanted, switches, seconds, transports):
    """Drives rounds of switches until so many were made. Returns the driver's summary, of all rounds together."""
    switches += -switches % len(transports.split(","))  # each round ends where it began
    summaries, before = [], 0
    while made(job) < wanted or not summaries:
        summaries.append(drive(job, switches, seconds, transports))
        check(made(job) > before, f"no fetch-and-add was told in {switches} switches")
        before = made(job)
    slowest = max(summaries, key=lambda each: each["max_ms"])
    return {**slowest, "switches": sum(each["switches"] for each in summaries),
            "lost": sum(each["lost"] for each in summaries)}


def over_sockets(context):
    """Of libfabric's providers the slowest: back and forth, and a count of what was begun and ended over it alone."""
    wanted, turns, counted = 200 * context.switches, max(2, context.switches // 10), 0
    with MpiJob(context.build, context.logs, "regions", 3,
                environment={"LIVEBTL_TRANSPORTS": "self,tcp,ofi:sockets"}) as job:
        job.wait_ready()

        def grown(before, least):
            job.check_running()
            return made(job) >= before + least
        for _ in range(turns):
            btlctl(job, "switch", "tcp", "ofi:sockets").expect(DONE)
            before = {rank["rank"]: rank["fetch_adds"] for rank in told(job)}
            wait_until("the end of the round in which was switched",
                       lambda: all(rank["fetch_adds"] > before[rank["rank"]] for rank in told(job)), 60)
            begun = made(job)
            wait_until("fetch-and-adds over sockets", lambda: grown(begun, wanted // turns), 60)
            counted += made(job) - begun
            btlctl(job, "switch", "ofi:sockets", "tcp").expect(DONE)
        totals = job.finish(60)
        in_flight = check_in_flight(job)
    return (f"{2 * turns} switches, {counted} fetch-and-adds over sockets, {in_flight} in flight; "
            f"{totals['received']} operations, none lost")


CASES = (("fetch-adds-over-sockets", over_sockets),)
