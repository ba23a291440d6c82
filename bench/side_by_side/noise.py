# SPDX-License-Identifier: BSD-3-Clause
"""What the library costs a rank that computes: its agent's wake-ups and processor time, interrupts between processors,
and how much longer pieces of equal work (a fixed-work quantum) take than the fastest of them."""
import os
import statistics
import time

from tests.harness import processes
from tests.harness.waiting import wait_until

from .contenders import CONTENDERS, PerfJob
from .switching import percentile

AGENT = "livebtl-agent"
QUANTA = 6_000   # of about a millisecond
SECONDS = 5      # during which wake-ups are counted, while the quanta run
CONTENDERS_HERE = ["livebtl-sm", "livebtl-tcp", "livebtl-ompi-sm", "vader"]


def interrupts():
    """Interrupts between processors (membarrier causes them), all processors together; None if not reported."""
    with open("/proc/interrupts") as file:
        for line in file:
            words = line.split()
            if words and words[0] == "CAL:":
                return sum(int(word) for word in words[1:] if word.isdigit())
    return None


def agents(job):
    return [processes.activity(pid, thread) for pid in job.rank_pids().values()
            for thread in processes.threads(pid, AGENT)]


def slowdown(path):
    """In percent above the fastest hundredth: the mean of all quanta, and the worst thousandth."""
    with open(path) as file:
        took = [int(line) for line in file]
    floor, worst = percentile(took, 1), sorted(took)[-len(took) // 1000 - 1]
    return 100 * (statistics.fmean(took) / floor - 1), 100 * (worst / floor - 1)


def measure(build, logs, name):
    """One job of two ranks that compute, each on a processor of its own."""
    options, environment = CONTENDERS[name]
    job = PerfJob(build, os.path.join(logs, f"noise-{name}"), options, environment, 2, [],
                  bound=(os.cpu_count() or 1) >= 2)
    file = os.path.join(job.shared, "quanta")
    job.words = ["quanta", str(QUANTA), file, job.ready_file]
    with job:
        job.wait_ready()
        before, calls, began = agents(job), interrupts(), time.monotonic()
        time.sleep(SECONDS)
        after, calls_after, seconds = agents(job), interrupts(), time.monotonic() - began
        wait_until(f"the end of {name}", lambda: not job.running(), 120)
        ranks = [slowdown(f"{file}.{rank}") for rank in range(2)]
    line = {"what": "noise", "contender": name, "ranks": 2,
            "mean_percent": statistics.fmean(rank[0] for rank in ranks),
            "p999_percent": statistics.fmean(rank[1] for rank in ranks),
            "wakes_per_second": 0.0, "processor_percent": 0.0,
            "calls_per_second": None if calls is None else (calls_after - calls) / seconds / 2}
    if before:
        line["wakes_per_second"] = max(b.wakes - a.wakes for a, b in zip(before, after)) / seconds
        line["processor_percent"] = 100 * max(b.seconds - a.seconds for a, b in zip(before, after)) / seconds
    return line


def run(build, logs, times=3):
    """Contenders take turns; returns the median of each figure."""
    found = {name: [] for name in CONTENDERS_HERE}
    for _ in range(times):
        for name, lines in found.items():
            lines.append(measure(build, logs, name))
    result = []
    for lines in found.values():
        line = dict(lines[0])
        for key in line:
            if isinstance(line[key], float):
                line[key] = statistics.median(each[key] for each in lines)
        result.append(line)
        show(line)
    return result


def show(line):
    calls = "?" if line["calls_per_second"] is None else f"{line['calls_per_second']:.1f}"
    print(f"  {line['contender']:16} a rank that computes: {line['wakes_per_second']:.2f} wake-ups of its agent a second, "
          f"{line['processor_percent']:.4f} % of a processor, {calls} calls to other processors a second; "
          f"equal work takes {line['mean_percent']:.2f} % longer than the fastest, the worst of 1,000 "
          f"{line['p999_percent']:.1f} %", flush=True)
