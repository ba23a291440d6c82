# SPDX-License-Identifier: BSD-3-Clause
"""What concerns only Open MPI's component: when it declines, and how it handles a dead peer. Run by --door ompi."""
import functools
import json
import os

import pytest

from tests.harness.job import DOORS, MpiJob
from tests.harness.scenario import scenario
from tests.harness.waiting import check, wait_until

PROVIDER = DOORS[0]


def by_the_component(run):
    @functools.wraps(run)
    def guarded(context):
        if context.build.door == PROVIDER:
            pytest.skip("for --door ompi")
        return run(context)
    return guarded


class PlainJob(MpiJob):
    """A program without options and without a proof."""

    def program_command(self):
        return [self.build.program(self.program)]

    def wait_for_end(self, seconds):
        wait_until(f"the end of {self.program}", lambda: not self.running(), seconds)
        return self.mpirun.returncode


class RecoveringJob(PlainJob):
    """A job in which mpirun leaves the others alone when one dies."""

    def __init__(self, context, transports, *words):
        super().__init__(context.build, context.logs, "survivor", 2, environment={"LIVEBTL_TRANSPORTS": transports})
        self.words = words

    def command(self):
        command = super().command()
        return command[:1] + ["--enable-recovery"] + command[1:]

    def program_command(self):
        return [*super().program_command(), *self.words]


def _survive(context, transports, *words):
    with RecoveringJob(context, transports, *words) as job:
        job.wait_for_end(60)
        told = [json.loads(line) for line in job.output_lines() if line.startswith('{"survivor"')]
        check(told and told[-1]["survivor"] == "done", f"rank 0 did not come to its end: {told}, {job.log_tail()}")
    *calls, last = told
    check(last["alone"], "a receive from any source ended where nobody had died")
    wrong = {call["survivor"]: call["error"] for call in calls if call["error"] != "other"}
    check(not wrong, f"calls to a dead process gave other errors than MPI_ERR_OTHER: {wrong}")
    return len(calls)


@scenario("component-outlives-a-peer")
@by_the_component
def outlives_a_peer(context):
    """A process is killed: what the other has open with it ends with an error, over shared memory and over TCP."""
    calls = sum(_survive(context, transports, *words) for transports in ("self,sm,tcp", "self,tcp")
                for words in ((), ("listens",), ("elsewhere",)))
    return f"{calls} calls ended with MPI_ERR_OTHER"


@scenario("component-outlives-communicators")
@by_the_component
def outlives_communicators(context):
    """Messages set aside are received after their communicator was freed; MPI_Finalize ends what still waits there."""
    with PlainJob(context.build, context.logs, "outlived", 2) as job:
        code = job.wait_for_end(60)
        told = sorted(json.loads(line)["outlived"] for line in job.output_lines() if line.startswith('{"outlived"'))
        check(code == 0 and told == ["receiver: right", "sender: right"],
              f"mpirun gave {code}, the ranks said {told}: {job.log_tail()}")
    return "messages and receives outlived their communicators"


class OtherVersionJob(PlainJob):
    """A job whose Open MPI claims to be another version."""

    def __init__(self, context):
        super().__init__(context.build, context.logs, "stream", 2)
        self.preload = os.path.join(context.build.directory, "e2e", "libe2e_other_version.so")

    def program_command(self):
        return ["env", f"LD_PRELOAD={self.preload}", *super().program_command(), "--rounds", "2"]


@scenario("component-declines")
@by_the_component
def declines(context):
    """In an Open MPI of another version, a rank says so in one line, and the job does not begin."""
    with OtherVersionJob(context) as job:
        code = job.wait_for_end(60)
        said = [line for line in job.error_lines() if "pml/livebtl cannot be used" in line]
    # The first to decline may end the job before the other has said it.
    check(1 <= len(said) <= 2 and all("built for Open MPI" in line for line in said), f"the ranks said: {said}")
    check(code != 0, "the job ran without a component")
    return f"declined; mpirun gave {code}"
