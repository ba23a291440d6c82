# SPDX-License-Identifier: BSD-3-Clause
"""What a switch costs a running job: gaps between deliveries, time to the last acknowledgement, ranks that compute."""
import bisect
import json
import os
import resource
import time

from tests.harness import processes
from tests.harness.control import DONE, btlctl, drive
from tests.harness.job import OVER_LIVEBTL, MpiJob
from tests.harness.waiting import check

from .contenders import PerfJob

REST_MS = 12  # between two switches: room for a window of equal length without one
GAP_FLOOR_US = 5  # the shortest gap that bench_mpi records


def percentile(values, percent):
    """Percentile by the nearest-rank method."""
    values = sorted(values)
    return values[max(0, -(-len(values) * percent // 100) - 1)]


def summary(values):
    return {"p50": percentile(values, 50), "p99": percentile(values, 99), "max": max(values)}


class Gaps:
    """The gaps that one rank recorded; they do not overlap."""

    def __init__(self, path):
        with open(path) as file:
            lines = file.read().splitlines()
        self.messages = int(lines[-1].split()[1])
        self.gaps = [tuple(map(int, line.split())) for line in lines[:-1]]
        self.begins = [begin for begin, _ in self.gaps]

    def longest_us(self, begin, end):
        """The longest gap that touches [begin, end]."""
        first = max(0, bisect.bisect_left(self.begins, begin) - 1)
        last = bisect.bisect_right(self.begins, end)
        touching = [length for start, length in self.gaps[first:last] if start + length >= begin]
        return max(touching, default=GAP_FLOOR_US * 1000) / 1000


def windows(switches):
    """[(begin, end) of a switch, the same length of quiet after it]; those without room for the second are left out."""
    for this, following in zip(switches, [*switches[1:], None]):
        length = int(this["ms"] * 1e6)
        quiet = this["begin_ns"] + length + 2_000_000
        if following and quiet + length < following["begin_ns"]:
            yield (this["begin_ns"], this["begin_ns"] + length), (quiet, quiet + length)


def longest_gaps(build, logs, count, size=1024):
    """The longest gap in each switch, and in an equal time without one just after it."""
    job = PerfJob(build, os.path.join(logs, "gaps"), OVER_LIVEBTL, {"LIVEBTL_TCP_IF": "lo"}, 2, [])
    log = os.path.join(job.shared, "gaps")
    job.words = ["gaps", str(size), job.stop_file, log, job.ready_file]
    with job:
        job.wait_ready()
        # Every tenth goes through btlctl and is not measured; some leave no room for the second window.
        drive(job, count + count // 4, 60 + count, rest_ms=REST_MS)
        with open(os.path.join(job.logs, "driver.log")) as file:
            switches = [each for each in map(json.loads, file) if "begin_ns" in each and not each["btlctl"]]
        job.stop()
        job.mpirun.wait(60)
        ranks = [Gaps(f"{log}.{rank}") for rank in range(2)]
    pairs = list(windows(switches))[:count]
    check(pairs, "no switch had room for a window without one")
    with_switch = [max(rank.longest_us(*switch) for rank in ranks) for switch, _ in pairs]
    without = [max(rank.longest_us(*quiet) for rank in ranks) for _, quiet in pairs]
    return {"what": "gap", "bytes": size, "unit": "us", "switches": len(pairs), "messages": ranks[1].messages,
            "with": summary(with_switch), "without": summary(without),
            "switch_ms": summary([each["ms"] for each in switches])}


class Agents:
    """What the agents of all ranks have done since begin(): wake-ups and processor milliseconds, per member."""

    def __init__(self, job):
        self.threads = [(pid, thread) for pid in job.rank_pids().values()
                        for thread in processes.threads(pid, "livebtl-agent")]
        self.before = []

    def _read(self):
        return [processes.activity(*each) for each in self.threads]

    def begin(self):
        self.before = self._read()

    def since_begin(self):
        pairs = list(zip(self.before, self._read()))
        return (sum(after.wakes - before.wakes for before, after in pairs) / len(pairs),
                sum(after.seconds - before.seconds for before, after in pairs) / len(pairs) * 1000)


def processor_ms_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def ladder(build, logs, ranks, mode, count):
    """Time from order to last acknowledgement, of each rung and of whole switches, as btlctl reports it; from the start
    of btlctl to its end; and a switch's processor time."""
    job = PerfJob(build, os.path.join(logs, f"{mode}-{ranks}"), OVER_LIVEBTL, {"LIVEBTL_TCP_IF": "lo"}, ranks, [])
    job.words = [mode, job.stop_file, job.ready_file]
    found = {name: [] for name in ("rung", "switch", "command", "wakes", "agent_ms", "btlctl_ms")}
    pairs = 0
    with job:
        job.wait_ready(300)
        agents = Agents(job)
        for number in range(count):
            route = ("sm", "tcp") if number % 2 == 0 else ("tcp", "sm")
            agents.begin()
            used, started = processor_ms_of_children(), time.monotonic()
            answer = btlctl(job, "switch", *route).expect(DONE).json
            found["command"].append((time.monotonic() - started) * 1000)
            found["btlctl_ms"].append(processor_ms_of_children() - used)
            wakes, agent_ms = agents.since_begin()
            found["wakes"].append(wakes)
            found["agent_ms"].append(agent_ms)
            found["rung"] += [rung["milliseconds"] for rung in answer["rungs"]]
            found["switch"].append(sum(rung["milliseconds"] for rung in answer["rungs"]))
            pairs = answer["pairs_moved"]
        job.stop()
        job.mpirun.wait(300)
    return {"what": "ladder", "members": ranks, "mode": mode, "unit": "ms", "switches": count, "pairs": pairs,
            **{name: summary(values) for name, values in found.items()}}


def hostage(build, logs, count):
    """Two ranks compute without an MPI call: a switch and a removal, as ladder time and with btlctl's own start."""
    ladders, commands, removals = [], [], []
    with MpiJob(build, os.path.join(logs, "hostage"), "compute", 2) as job:
        job.wait_ready()
        for _ in range(count):
            started = time.monotonic()
            answer = btlctl(job, "switch", "sm", "tcp").expect(DONE).json
            commands.append((time.monotonic() - started) * 1000)
            ladders.append(sum(rung["milliseconds"] for rung in answer["rungs"]))
            answer = btlctl(job, "remove", "sm").expect(DONE).json
            removals.append(sum(rung["milliseconds"] for rung in answer["rungs"]))
            btlctl(job, "add", "sm").expect(DONE)
            btlctl(job, "switch", "tcp", "sm").expect(DONE)
        job.finish(60)
    return {"what": "hostage", "unit": "ms", "ranks": 2, "switches": count, "switch": summary(ladders),
            "remove": summary(removals), "switch_with_btlctl": summary(commands)}


def show(line):
    def cell(name):
        value = line[name]
        return f"{name} p50 {value['p50']:.3g} p99 {value['p99']:.3g} max {value['max']:.3g}"
    if line["what"] == "gap":
        print(f"  longest gap, {line['bytes']} B ping-pong, us:  {cell('with')}   {cell('without')}   "
              f"({line['switches']} switches, each beside as long a time without)")
    elif line["what"] == "ladder":
        print(f"  order to last acknowledgement, {line['members']} members, {line['mode']}, {line['pairs']} pairs, ms:  "
              f"{cell('rung')}   {cell('switch')}   {cell('command')}   "
              f"a member's agent: {cell('wakes')}   {cell('agent_ms')}   {cell('btlctl_ms')}", flush=True)
    else:
        print(f"  all ranks compute, ms:  {cell('switch')}   {cell('remove')}   {cell('switch_with_btlctl')}")
