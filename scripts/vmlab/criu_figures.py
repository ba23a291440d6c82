# SPDX-License-Identifier: BSD-3-Clause
"""What a job gains that uses verbs until CRIU dumps it, beside one that was started on tcp so that it can be dumped.

Four ranks on two guests exchange messages and go on through each dump. Of the same program, in the same guests, one job after
the other: how much it delivers between dumps, how long nothing is delivered in a dump, and how large a set is. Emulated guests:
only ratios mean anything.
"""
import json
import statistics
import time
from dataclasses import dataclass, field

from tests.harness.waiting import check
from tests.vm.criu import SETS
from tests.vm.criu_nodes import NodesJob
from tests.vm.job import OUTPUT, StandaloneContext

from . import lab
from .lab import say

KINDS = {"verbs": "self,sm,tcp,verbs", "tcp": "self,sm,tcp"}
WINDOW_SECONDS = 20  # that is measured before each dump


@dataclass
class Taken:
    """Of one job, a value a dump. pause_ms: the longest gap between two deliveries at any of the head's ranks, from the order to
    dump until all go on; for verbs that includes the way to tcp before it and back after it."""
    megabytes_per_second: list = field(default_factory=list)
    pause_ms: list = field(default_factory=list)
    dump_ms: list = field(default_factory=list)
    set_megabytes: list = field(default_factory=list)


def lines_between(job, begin, end):
    """What the head's ranks have told in this time, by the head's clock."""
    whole = job.head.output(f"cat {OUTPUT}/*/rank.*/stdout | grep '\"t\":.*}}$'", 120).splitlines()
    told = [line for line in map(json.loads, whole) if begin < line["t"] <= end]
    check(told, f"the ranks told nothing between {begin} and {end}")
    return told


def now(job):
    return float(job.head.output("date +%s.%N"))


def measure(job, taken):
    """What is delivered for a while, and then a dump through which the job goes on."""
    begin = now(job)
    time.sleep(WINDOW_SECONDS)
    dump = now(job)
    phases = job.dump("set", "--leave-running").json["phases"]
    job.wait_progress()
    after = now(job)
    told = lines_between(job, begin, dump)
    taken.megabytes_per_second.append(sum(line["bytes"] for line in told) / sum(line["seconds"] for line in told) / 1e6)
    taken.pause_ms.append(max(line["gap_us"] for line in lines_between(job, dump, after)) / 1000)
    taken.dump_ms.append(sum(phase["milliseconds"] for phase in phases))
    taken.set_megabytes.append(sum(int(guest.output(f"du -sb {SETS}/set").split()[0]) for guest in job.lab.guests) / 1e6)
    job.everywhere("rm -rf set")


def run(options):
    taken = {}
    with lab.new(2, options.build, with_parent=True) as made:
        for kind, transports in KINDS.items():
            with NodesJob(made, StandaloneContext("figures-criu").logs, transports) as job:
                job.wait_ready()
                job.check_device_open(kind == "verbs")
                taken[kind] = Taken()
                for number in range(options.pairs):
                    measure(job, taken[kind])
                    say(f"{kind}: {number + 1} of {options.pairs} dumps")
                job.finish()
    print("| | on verbs, but in a dump | on tcp from the start | ratio |\n| --- | --- | --- | --- |")
    for what in vars(Taken()):
        medians = [statistics.median(getattr(each, what)) for each in taken.values()]
        print(f"| {what} | {medians[0]:.1f} | {medians[1]:.1f} | {medians[0] / medians[1]:.2f} |")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({kind: vars(each) for kind, each in taken.items()}, file, indent=1)
    return f"{options.pairs} dumps of each"
