# SPDX-License-Identifier: BSD-3-Clause
"""What one-sided operations promise, tested between processes: for a transport that cannot have both ends in one process."""
from tests.harness.control import DONE, btlctl, counted
from tests.harness.job import MpiJob
from tests.harness.scenario import scenario
from tests.harness.waiting import check, wait_until

TRANSPORT = "ofi:shm"
ROUNDS = 3  # after each switch, over that transport alone


@scenario("promises-over-shm")
def over_shm(context):
    """Rounds over libfabric's shm alone, with switches to tcp and back between them."""
    turns = max(2, context.switches // 50)
    with MpiJob(context.build, context.logs, "promises", 2,
                environment={"LIVEBTL_TRANSPORTS": f"self,tcp,{TRANSPORT}"}) as job:
        job.wait_ready()

        def rounds():
            job.check_running()
            return min((rank["rounds"] for rank in job.told()), default=0)

        def some_more(count):
            begun = rounds()
            wait_until(f"{count} more rounds", lambda: rounds() >= begun + count, 120)
        frames = 0
        for _ in range(turns):
            btlctl(job, "switch", "tcp", TRANSPORT).expect(DONE)
            some_more(1)  # the round that began before the switch
            others, before = counted(job, "tcp", "frames_sent"), counted(job, TRANSPORT, "frames_sent")
            some_more(ROUNDS)
            check(counted(job, "tcp", "frames_sent") == others, "something went over tcp")
            frames += counted(job, TRANSPORT, "frames_sent") - before
            btlctl(job, "switch", TRANSPORT, "tcp").expect(DONE)
            some_more(1)
        check(frames > 0, f"nothing went over {TRANSPORT}")
        totals = job.finish(60)
    return f"{2 * turns} switches, {frames} frames over {TRANSPORT} alone; {totals['received']} operations"
