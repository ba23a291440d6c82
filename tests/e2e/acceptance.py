# SPDX-License-Identifier: BSD-3-Clause
"""Jobs whose processes differ in their transports, a transport that is absent at first, two failures at once."""
from tests.harness import kernel, processes
from tests.harness.control import DONE, btlctl, counted, drive, drive_until, order
from tests.harness.job import MpiJob
from tests.harness.ladders import NO_TAKEOVER, RUNGS, HeldLadder, standings
from tests.harness.scenario import NEEDS_ROOT, scenario
from tests.harness.waiting import check, wait_until

from .departures import SM_MEMORY


class UnevenJob(MpiJob):
    """Rank r gets only the transports of `sets[r % len(sets)]`, or that value of another setting."""

    def __init__(self, context, program, ranks, sets, variable="LIVEBTL_TRANSPORTS", **more):
        super().__init__(context.build, context.logs, program, ranks, **more)
        self.sets = sets
        self.variable = variable

    def program_command(self):
        script = "".join(f'if [ $((OMPI_COMM_WORLD_RANK % {len(self.sets)})) -eq {i} ]; '
                         f'then export {self.variable}={names}; fi; ' for i, names in enumerate(self.sets))
        return ["sh", "-c", script + 'exec "$@"', "sh", *super().program_command()]


@scenario("added-when-absent")
def added_when_absent(context):
    """sm is closed in every process at the start; it is added while messages flow, used, and removed again."""
    with MpiJob(context.build, context.logs, "stream", 3, environment={"LIVEBTL_EXCLUDE": "vader"}) as job:
        job.wait_ready()
        check(not any(processes.mappings(pid, SM_MEMORY) for pid in job.rank_pids().values()), "sm is open from the start")
        for _ in range(max(3, context.switches // 10)):
            added = btlctl(job, "add", "sm").expect(DONE)
            check(added.json["pairs_moved"] > 0, f"no pair moved to sm: {added}")
            for rank, pid in job.rank_pids().items():
                check(processes.mappings(pid, SM_MEMORY), f"rank {rank} has no shared memory after sm was added")
            btlctl(job, "remove", "sm").expect(DONE)
        totals = job.finish(60)
    return f"a transport that was absent was added and used; {totals['received']} messages"


def _unconnected(job):
    """No process has sent to another one yet, and at least one wants to."""
    members = btlctl(job, "status", "--peers").expect(DONE).json["members"]
    peers = [peer for member in members for peer in member["engine"]["peers"] if peer["process"] != member["engine"]["process"]]
    return peers and not any(peer["transport"] for peer in peers)


@scenario("started-apart")
def started_apart(context):
    """No transport connects the processes at the start, and their addresses name none: all messages wait until one is
    added and use it; then the job is switched like any other."""
    with MpiJob(context.build, context.logs, "stream", 3, environment={"LIVEBTL_EXCLUDE": "sm,tcp"}) as job:
        def members():
            job.check_running()
            answer = btlctl(job, "status")
            return answer.code == DONE and len(answer.json["members"]) == 3
        wait_until("three members without a transport", members, 60)
        wait_until("messages that wait", lambda: _unconnected(job), 60)
        btlctl(job, "add", "tcp").expect(DONE)
        job.wait_ready()
        btlctl(job, "add", "sm").expect(DONE)
        btlctl(job, "remove", "tcp").expect(DONE)
        btlctl(job, "add", "tcp").expect(DONE)
        summary = drive(job, max(4, context.switches // 5), 60)
        totals = job.finish(60)
    return f"three processes apart met over the first transport added; {summary['switches']} switches, {totals['received']} messages"


@scenario("spawned-apart")
def spawned_apart(context):
    """Spawned processes lack the one transport that their parents use: they connect once another one is added."""
    only_tcp = {"LIVEBTL_EXCLUDE": "tcp", "LIVEBTL_TRANSPORTS": "self,tcp"}
    with UnevenJob(context, "spawn", 2, ("self,sm,tcp",), environment=only_tcp) as job:
        def all_there():
            job.check_running()
            answer = btlctl(job, "status")
            return answer.code == DONE and len(answer.json["members"]) == 4
        wait_until("two parents and two children", all_there, 120)
        btlctl(job, "add", "tcp").expect(DONE)
        job.wait_ready(120)
        totals = job.finish(120)
    return f"children met their parents over a transport that was added; {totals['received']} messages"


@scenario("asymmetric-sets")
def asymmetric_sets(context):
    """All-to-all among ranks of which some lack sm: pairs that can move do, the others are reported and go on."""
    sets = ("self,sm,tcp", "self,tcp", "self,sm,tcp", "self,sm,tcp")
    switches = max(4, context.switches // 5)
    with UnevenJob(context, "collectives", 4, sets) as job:
        job.wait_ready()
        for i in range(switches):
            answer = order(job, "switch", *(("sm", "tcp") if i % 2 == 0 else ("tcp", "sm")))
            moved, left = answer.json["pairs_moved"], answer.json["pairs_left"]
            check(moved == 3, f"three pairs of ranks have sm, but {moved} moved: {answer}")
        totals = job.finish(120)
    return f"{switches} switches, {moved} pairs moved and {left} left, in a job of which one rank has no sm; {totals['received']} messages"


@scenario("killed-and-severed", NEEDS_ROOT)
def killed_and_severed(context):
    """Two failures in one switch: on each rung btlctl is killed and every data connection is cut; resume ends it."""
    cuts = 0
    with MpiJob(context.build, context.logs, "stream", 3, environment=NO_TAKEOVER) as job:
        job.wait_ready()
        pids = set(job.rank_pids().values())
        for route in [("sm", "tcp"), ("tcp", "sm")] * max(1, context.switches // 100):
            for rung in RUNGS:
                with HeldLadder(job, rung, "switch", *route) as ladder:
                    ladder.kill()
                    for end in kernel.rank_connections(pids):
                        cuts += kernel.sever(end)
                order(job, "resume")
                check(standings(job) <= {"old", "new"}, f"resume left members at {standings(job)}")
                order(job, "switch", *reversed(route))
            order(job, "switch", *route)
        check(cuts > 0, "no connection was cut")
        totals = job.finish(120)
    return f"{cuts} connections cut while the coordinator was killed; {totals['received']} messages"


@scenario("forks")
def forks(context):
    """Ranks fork continually while they are switched; some children live on."""
    with MpiJob(context.build, context.logs, "forks", 3) as job:
        job.wait_ready()
        summary = drive(job, context.switches, 60 + 2 * context.switches)
        totals = job.finish(120)
    return f"{summary['switches']} switches among forks; {totals['received']} messages"


@scenario("forks-among-loans")
def forks_among_loans(context):
    """... over libfabric's modules, with exposed memory that the children share."""
    modules, switches = ("ofi:tcp;ofi_rxm", "ofi:sockets"), 3 * max(2, context.switches // 10)
    transports = ",".join(("tcp", *modules))
    with MpiJob(context.build, context.logs, "forks", 3,
                environment={"LIVEBTL_TRANSPORTS": f"self,{transports}"}) as job:
        job.wait_ready()

        def lent():
            return min(counted(job, module, "frames_exposed") for module in modules)
        summary = drive_until("payloads lent over both modules", lambda: lent() >= switches, job, switches,
                              60 + 2 * switches, transports)
        payloads = lent()
        totals = job.finish(120)
    return (f"{summary['switches']} switches among forks, at least {payloads} payloads lent over each module; "
            f"{totals['received']} messages")
