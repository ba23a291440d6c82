# SPDX-License-Identifier: BSD-3-Clause
"""A job of one name is started and ended repeatedly, in good order and by SIGKILL: it must leave nothing behind.

In full, by hand: tests/e2e/run --only comings-and-goings --comings 64x100
"""
import os
import shutil
import tempfile

from tests.harness import processes
from tests.harness.control import DONE, btlctl
from tests.harness.job import MpiJob
from tests.harness.scenario import scenario
from tests.harness.waiting import check, wait_until

JOB = "comings"


def _living(rundir):
    return [pid for pid in processes.with_variable("LIVEBTL_RUNDIR", rundir) if processes.state(pid) not in ("Z", "")]


def _sockets(rundir):
    """Unix sockets bound below the run directory, or that name the job."""
    with open("/proc/net/unix") as table:
        return [line.split()[-1] for line in table if rundir in line or f"{JOB}." in line or f"{JOB}/" in line]


def _files(rundir):
    return [os.path.relpath(os.path.join(folder, name), rundir)
            for folder, folders, names in os.walk(rundir) for name in folders + names]


class _Comings:
    """Jobs of one name in one run directory."""

    def __init__(self, context, ranks):
        self.context, self.ranks = context, ranks
        self.rundir = tempfile.mkdtemp(prefix="lb-", dir="/tmp")

    def job(self):
        job = MpiJob(self.context.build, self.context.logs, "stream", self.ranks,
                     environment={"LIVEBTL_JOB": JOB, "LIVEBTL_RUNDIR": self.rundir})
        shutil.rmtree(job.rundir)
        job.rundir = self.rundir + "/none"  # so that leaving the job removes nothing of ours
        return job

    def come(self, crash):
        """Starts the job, checks who is there, and ends it."""
        job = self.job()
        with job:
            job.wait_ready(120)
            job.rundir = self.rundir
            try:
                listed = btlctl(job, "jobs").expect(DONE).json["jobs"]
                check([len(each["members"]) for each in listed] == [self.ranks], f"not one whole job: {listed}")
                cards = [name for name in _files(self.rundir) if name.endswith((".lock", ".gone"))]
                cards = [name for name in cards if "relay-" not in name]
                check(len(cards) == self.ranks, f"{len(cards)} cards of {self.ranks} ranks: an earlier run's are there")
                if crash:
                    for pid in job.rank_pids().values():
                        processes.kill(pid)
                    job.kill()
                else:
                    job.finish(120)
            finally:
                job.kill()
                job.rundir = self.rundir + "/none"
        wait_until("the job's processes to be gone", lambda: not _living(self.rundir), 30)

    def check_nothing_left(self):
        for what, left in (("processes", _living(self.rundir)), ("sockets", _sockets(self.rundir)),
                           ("files", _files(self.rundir))):
            check(not left, f"{len(left)} {what} are left: {left[:5]}")


@scenario("comings-and-goings")
def comings_and_goings(context):
    """Every second time except the last, all ranks are killed: the next start has to clean up after them."""
    ranks, times = context.comings
    comings = _Comings(context, ranks)
    crashes = 0
    try:
        for each in range(times):
            crash = each % 2 == 1 and each != times - 1
            comings.come(crash)
            crashes += crash
            if not crash:
                comings.check_nothing_left()
    finally:
        shutil.rmtree(comings.rundir, ignore_errors=True)
    return f"{ranks} ranks came and went {times} times, {crashes} of them by SIGKILL; nothing is left"
