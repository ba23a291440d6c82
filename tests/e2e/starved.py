# SPDX-License-Identifier: BSD-3-Clause
"""A coordinator that gets no processor for longer than its lease, while another one takes command of the job."""
import os
import signal
import threading

from tests.harness import processes
from tests.harness.control import btlctl, drive, order
from tests.harness.job import MpiJob
from tests.harness.ladders import standings
from tests.harness.scenario import scenario
from tests.harness.waiting import check, wait_until

from .coordinators import LEASE


class Driver:
    """The switch driver, run in the background."""

    def __init__(self, job, switches, seconds):
        self.job, self.summary, self.failure = job, None, None
        self.thread = threading.Thread(target=self._run, args=(switches, seconds), daemon=True)
        self.thread.start()
        wait_until("the switch driver to start", lambda: self.pids() or not self.thread.is_alive(), 30)

    def _run(self, switches, seconds):
        try:
            self.summary = drive(self.job, switches, seconds)
        except Exception as failure:  # raised again by result(), in the scenario's own thread
            self.failure = failure

    def pids(self):
        return [pid for pid in processes.with_variable("LIVEBTL_RUNDIR", self.job.rundir)
                if processes.program(pid) == "livebtl-switch-driver"]

    def running(self):
        return self.thread.is_alive() and bool(self.pids())

    def result(self):
        self.thread.join()
        if self.failure is not None:
            raise self.failure
        return self.summary


def _lose_ladder(job, pid):
    """Stops the driver; if that was in mid-ladder, another coordinator finishes its ladder, and this returns True."""
    try:
        processes.stop(pid)
    except ProcessLookupError:
        return False  # it has just ended
    try:
        if standings(job) <= {"old", "new"}:
            return False
        wait_until("the lease of the stopped coordinator to end",
                   lambda: not any(member["busy"] for member in btlctl(job, "status").expect(0).json["members"]), LEASE)
        if standings(job) <= {"old", "new"}:
            return False  # the ladder was that of its btlctl, which was not stopped
        order(job, "resume")
        return True
    finally:
        os.kill(pid, signal.SIGCONT)


@scenario("starved-coordinator")
def starved_coordinator(context):
    """The ladder of a stopped coordinator is taken over; when it runs again it rightly reports the command as done."""
    switches = max(60, context.switches)
    taken = 0
    with MpiJob(context.build, context.logs, "stream", 3) as job:
        job.wait_ready()
        driver = Driver(job, switches, 60 + 2 * switches)
        while taken < 2 and driver.running():
            taken += sum(_lose_ladder(job, pid) for pid in driver.pids())
        summary = driver.result()
        totals = job.finish(60)
    check(taken > 0, "no ladder was taken from the driver")
    check(summary["lost"] == 0, f"{summary['lost']} switches were said to be busy, although they were carried out")
    return f"{taken} of {switches} ladders taken over, and all reported as done; {totals['received']} messages"
