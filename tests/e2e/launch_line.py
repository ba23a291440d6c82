# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that only livebtl-run puts on livebtl: by each door, one-sided, on two nodes; and what it prints."""
import contextlib
import os
import re
import signal
import subprocess

from tests.harness.control import order
from tests.harness.job import MpiJob, mpirun
from tests.harness.launcher import launcher
from tests.harness.nodes import TwoNodes
from tests.harness.scenario import NEEDS_ROOT, scenario
from tests.harness.waiting import check, wait_until

UP = re.compile(r"^livebtl: (\d+) ranks? on (\d+) nodes?, (.*), job (\S+) \(btlctl status\)$", re.MULTILINE)


class RunJob(MpiJob):
    """Started by livebtl-run, which has to find out what the job needs."""

    def __init__(self, context, ranks, program="stream", own=()):
        super().__init__(context.build, context.logs, program, ranks)
        del self.environment["FI_PROVIDER_PATH"]
        self.own = list(own)

    def livebtl_run(self, *own):
        return [os.path.join(self.build.directory, "bin", "livebtl-run"), *self.own, *own]

    def line(self):
        output = os.path.join(self.logs, "out")
        return [*mpirun(self.ranks, as_root=os.geteuid() == 0), *launcher().options(output), *self.mca,
                *launcher().captured(output, self.program_command())]

    def command(self):
        return [*self.enter, *self.livebtl_run(), *self.line()]

    def wait_up(self):
        """(ranks, nodes, transports, job), from the line that is printed when the job is up."""
        def said():
            self.check_running()
            with open(os.path.join(self.logs, "mpirun.log")) as file:
                return UP.search(file.read())
        found = wait_until("the line that says that the job is up", said, 60)
        return int(found[1]), int(found[2]), found[3], found[4]


def _by(context, ranks, *own, program="stream"):
    with RunJob(context, ranks, program, own) as job:
        job.wait_ready()
        said = job.wait_up()
        check(said[:2] == (ranks, 1) and "sm" in said[2], f"it was said: {said}")
        check(said[3] == order(job, "status").json["job"], f"the wrong job: {said}")
        order(job, "switch", "sm", "tcp")
        order(job, "switch", "tcp", "sm")
        return job.finish(60)["received"]


@scenario("livebtl-run")
def livebtl_run(context):
    """By each door, and by the one that is chosen: the job says that it is up, is switched, and loses nothing."""
    counts = [_by(context, 3, *own) for own in ((), ("--door", "provider"), ("--door", "component"))]
    return f"{sum(counts)} messages by three doors"


@scenario("livebtl-run-onesided")
def onesided(context):
    """One-sided operations go over livebtl by either door: none are carried by Open MPI's own shared memory."""
    counts = [_by(context, 3, "--one-sided", "--door", door, program="onesided") for door in ("provider", "component")]
    return f"{sum(counts)} operations by two doors"


@scenario("livebtl-run-two-nodes", NEEDS_ROOT)
def two_nodes(context):
    """Settings reach the other node, whose processes are counted."""
    with TwoNodesJob(context) as (job, _):
        said = job.wait_up()
        check(said[:2] == (4, 2) and "sm" in said[2] and "tcp" in said[2], f"it was said: {said}")
        order(job, "switch", "sm", "tcp")
        totals = job.finish(60)
    return f"{totals['received']} messages; {said[2]}"


class TwoNodesJob:
    """Context manager: (job, nodes)."""

    def __init__(self, context):
        self.job = RunJob(context, 4)
        self.nodes = TwoNodes(self.job.rundir, self.job.shared)
        self.ends = None

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.nodes)
            self.job.enter = self.nodes.nodes[0].enter()
            self.job.mca += self.nodes.mpirun_options(2)
            stack.enter_context(self.job)
            self.job.wait_ready()
            self.ends = stack.pop_all()
        return self.job, self.nodes.nodes

    def __exit__(self, *failure):
        self.ends.__exit__(*failure)


@scenario("livebtl-run-becomes-the-launcher")
def becomes_the_launcher(context):
    """Its process number, signals and exit code are the launcher's; the output of --show does the same."""
    job = RunJob(context, 1)
    shown = subprocess.run([*job.livebtl_run("--show"), *job.line()[:-len(job.program_command())], "sh", "-c", "exit 7"],
                           env=job.environment, stdout=subprocess.PIPE, text=True, check=True).stdout
    ended = subprocess.run(["sh", "-c", shown], env=job.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           check=False)
    check(ended.returncode == 7, f"what was shown gave {ended.returncode}: {shown}")
    with job:
        job.wait_ready()
        with open(f"/proc/{job.mpirun.pid}/comm") as file:
            name = file.read().strip()
        check(name != "livebtl-run", "it is still itself")
        job.mpirun.send_signal(signal.SIGTERM)
        wait_until("the launcher to end by the signal", lambda: not job.running(), 30)
        check(job.mpirun.returncode != 0, "the launcher ended as if nothing had been")
    return f"it became {name}"
