# SPDX-License-Identifier: BSD-3-Clause
"""How many fetch-and-adds the program `regions` has done, and how many it must do."""
from tests.harness.control import DONE, btlctl
from tests.harness.job import MpiJob
from tests.harness.scenario import scenario
from tests.harness.waiting import check, wait_until

IN_FLIGHT_MIN = 64
SOAK_SWITCHES = 1000  # from here on it is a soak


def minimum(context):
    """The least number of fetch-and-adds in a scenario: 200,000 in CI."""
    return 10_000_000 if context.switches >= SOAK_SWITCHES else 2_000 * context.switches


def made(job):
    return sum(rank["fetch_adds"] for rank in job.told())


def check_in_flight(job):
    """Checks how many were in flight on average at the rank with the fewest, and returns that."""
    in_flight = min(rank["in_flight"] for rank in job.told())
    check(in_flight >= IN_FLIGHT_MIN, f"only {in_flight} fetch-and-adds were in flight in the mean")
    return in_flight


@scenario("fetch-adds-over-sockets")
def over_sockets(context):
    """Over libfabric's slowest provider: switched back and forth; counts those that began and ended over it alone."""
    wanted, turns, counted = 200 * context.switches, max(2, context.switches // 10), 0
    with MpiJob(context.build, context.logs, "regions", 3,
                environment={"LIVEBTL_TRANSPORTS": "self,tcp,ofi:sockets"}) as job:
        job.wait_ready()

        def grown(before, least):
            job.check_running()
            return made(job) >= before + least
        for _ in range(turns):
            btlctl(job, "switch", "tcp", "ofi:sockets").expect(DONE)
            before = {rank["rank"]: rank["fetch_adds"] for rank in job.told()}
            wait_until("the end of the round in which was switched",
                       lambda: all(rank["fetch_adds"] > before[rank["rank"]] for rank in job.told()), 60)
            begun = made(job)
            wait_until("fetch-and-adds over sockets", lambda: grown(begun, wanted // turns), 60)
            counted += made(job) - begun
            btlctl(job, "switch", "ofi:sockets", "tcp").expect(DONE)
        totals = job.finish(60)
        in_flight = check_in_flight(job)
    return (f"{2 * turns} switches, {counted} fetch-and-adds over sockets, {in_flight} in flight; "
            f"{totals['received']} operations, none lost")
