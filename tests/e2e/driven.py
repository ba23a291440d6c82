# SPDX-License-Identifier: BSD-3-Clause
"""The scenarios in which a program runs while switches are driven under it: their table, and how its rows are run."""
from dataclasses import dataclass, field

import pytest

from tests.harness.control import drive_until
from tests.harness.job import MpiJob
from tests.harness.launcher import launcher
from tests.harness.scenario import ON_STOCK_TOO, scenario

from . import fetch_adds

ONE_SIDED = ("--mca", "btl", "self,ofi", "--mca", "osc", "rdma")
AS_MESSAGES = ("--mca", "osc", "pt2pt")
GIB = 1 << 30


@dataclass(frozen=True)
class Driven:
    name: str
    program: str
    ranks: int
    arguments: tuple = ()
    mca: tuple = ()
    share: float = 1.0          # of the switches requested: less than 1 for programs with slow rounds
    environment: dict = field(default_factory=dict)
    transports: str = "sm,tcp"  # to switch between
    told: tuple = ()            # numbers that the ranks print: switches are driven until each is large enough


def over_ofi(provider, beside, program, ranks, arguments=(), share=0.3):
    """A program that is switched between the transport `beside` and ofi over one of libfabric's providers."""
    name = f"ofi-{provider.replace(';', '-').replace('_', '-')}-{program}-{ranks}"
    return Driven(name, program, ranks, arguments, share=share, transports=f"{beside},ofi",
                    environment={"LIVEBTL_TRANSPORTS": f"self,tcp,{beside},ofi" if beside != "tcp" else "self,tcp,ofi",
                                 "LIVEBTL_OFI_PROVIDER": provider})


def over_several(program, ranks, arguments=(), mca=(), **more):
    """A program that is switched in turn between shared memory, TCP and three ofi modules."""
    modules = ("ofi:tcp;ofi_rxm", "ofi:shm", "ofi:sockets")
    return Driven(f"several-ofi-{program}-{ranks}", program, ranks, arguments, mca, share=0.2,
                    transports=",".join(("sm", "tcp", *modules)),
                    environment={"LIVEBTL_TRANSPORTS": ",".join(("self", "sm", "tcp", *modules))}, **more)


TABLE = (
    Driven("storm-2", "storm", 2),
    Driven("storm-4", "storm", 4, ("--bytes", str(16 << 20))),
    Driven("storm-8", "storm", 8, ("--bytes", "100000", "--messages", "40")),
    Driven("storm-1gib", "storm", 2, ("--bytes", str(GIB)), share=0.1),
    Driven("stream-3", "stream", 3),
    Driven("collectives-5", "collectives", 5),
    Driven("semantics-2", "semantics", 2, share=0.3),
    Driven("semantics-4", "semantics", 4, share=0.3),
    Driven("onesided-3", "onesided", 3, mca=ONE_SIDED),
    Driven("onesided-as-messages-3", "onesided", 3, mca=AS_MESSAGES),
    Driven("windows-3", "windows", 3, mca=ONE_SIDED),
    Driven("regions-4", "regions", 4, told=("fetch_adds",)),
    Driven("threads-2", "threads", 2),
    Driven("threads-4", "threads", 4, ("--bytes", "100000")),
    Driven("spawn-2", "spawn", 2, share=0.3),
    Driven("rendezvous-unmatched", "rendezvous", 2, ("--bytes", str(GIB))),
    over_several("storm", 3, ("--bytes", str(1 << 20))),
    over_several("onesided", 3, mca=ONE_SIDED),
    over_several("regions", 3, told=("fetch_adds",)),
    over_several("taken_back", 2, told=("refused", "torn")),
    over_several("remapped", 3),
    over_several("windows", 3, mca=ONE_SIDED),
    over_ofi("tcp;ofi_rxm", "tcp", "storm", 4, ("--bytes", str(1 << 20))),
    over_ofi("tcp;ofi_rxm", "sm", "collectives", 5),
    over_ofi("shm", "sm", "stream", 3),
    over_ofi("sockets", "tcp", "stream", 3, share=0.1),
)


def drive_under(driven, context):
    """Returns a line of figures; raises Failed."""
    if driven.mca == AS_MESSAGES and not launcher().HAS_ONE_SIDED_AS_MESSAGES:
        pytest.skip("this Open MPI has no osc/pt2pt")
    switches = max(5, int(context.switches * driven.share))
    seconds = 60 + 2 * switches
    with MpiJob(context.build, context.logs, driven.program, driven.ranks, driven.arguments, driven.mca,
                driven.environment) as job:
        job.wait_ready()
        least = {name: fetch_adds.minimum(context) if name == "fetch_adds" else 1 for name in driven.told}

        def happened():
            return {name: sum(rank[name] for rank in job.told()) for name in driven.told}
        summary = drive_until(f"at least {least}", lambda: all(happened()[name] >= least[name] for name in least),
                              job, switches, seconds, driven.transports)
        totals = job.finish(60 + seconds)
        if "fetch_adds" in driven.told:
            fetch_adds.check_in_flight(job)
    lost = f", {summary['lost']} ladders lost to another coordinator and finished" if summary["lost"] else ""
    return (f"{summary['switches']} switches (p50 {summary['p50_ms']:.1f} ms, slowest {summary['max_ms']:.1f} ms, in "
            f"which the driver waited {summary['max_starved_ms']:.1f} ms for a processor{lost}), "
            f"{totals['received']} messages, {totals['received_bytes'] >> 20} MiB, lost 0, repeated 0, out of order 0"
            + "".join(f", {count} {name}" for name, count in happened().items()))


def run_stock(driven, context):
    """Runs the program over stock Open MPI, without livebtl: shows that the program itself is correct."""
    with MpiJob(context.build, context.logs, driven.program, driven.ranks, (*driven.arguments, "--rounds", "3"),
                stock=True) as job:
        job.wait_ready()
        totals = job.finish(120)
    return f"{totals['received']} messages over stock Open MPI"


def _scenario_of(driven):
    @scenario(driven.name, ON_STOCK_TOO)
    def run(context):
        return run_stock(driven, context) if context.stock else drive_under(driven, context)
    return run


SCENARIOS = tuple(map(_scenario_of, TABLE))
