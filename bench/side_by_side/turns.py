# SPDX-License-Identifier: BSD-3-Clause
"""Contenders measured in turns, and the median of the ratios of neighbours in time."""
import contextlib
import statistics

from tests.harness.waiting import Failed

from .contenders import Contender

LATENCY, BANDWIDTH = "latency", "bandwidth"
PUT, FETCH_ADD, PUT_BANDWIDTH = "put", "fetch-add", "put-bandwidth"
RATES = (BANDWIDTH, PUT_BANDWIDTH)  # more is better
# What is compared: ours, its peers.
GROUPS = (("livebtl-sm", ("livebtl-sm-rings", "vader", "ucx-sm")), ("livebtl-tcp", ("ob1-tcp", "ofi-rxm-tcp")))
ONE_SIDED_GROUPS = (("livebtl-sm-rdma", ("livebtl-sm-rings-rdma", "vader-rdma")), ("livebtl-tcp-rdma", ("tcp-pt2pt",)),
                    ("livebtl-ofi-rxm-rdma", ("livebtl-tcp-rdma", "tcp-pt2pt")))
OFI_GROUPS = (("livebtl-ofi-rxm", ("ofi-rxm-tcp",)),)
POINTS = [(LATENCY, size) for size in (8, 1024, 8192, 65536, 1 << 20)] + \
         [(BANDWIDTH, size) for size in (65536, 1 << 20, 4 << 20)]
ONE_SIDED_POINTS = [(PUT, 8), (FETCH_ADD, 8), (PUT, 1 << 20), (PUT_BANDWIDTH, 1 << 20)]
TURN_SECONDS = 0.03  # per measurement, roughly


def rounds_for(kind, first):
    """How many rounds take TURN_SECONDS, from one measured value."""
    if kind not in RATES:
        return max(5, int(TURN_SECONDS * 1e6 / max(0.05, 2 * first)))
    return max(3, int(TURN_SECONDS * first * 1e9 / (16 << 20)))


def start(stack, build, logs, names, threads):
    """Returns the contenders that start, and {name: reason} of the others."""
    ready, absent = {}, {}
    for name in names:
        contender = stack.enter_context(Contender(build, logs, name, threads))
        try:
            contender.measure(LATENCY, 8, 100)
            ready[name] = contender
        except Failed as failure:
            absent[name] = str(failure)
    return ready, absent


def take_turns(ready, kind, size, turns):
    """{name: [value of each turn]}; every other turn runs in the opposite order."""
    values = {name: [] for name in ready}
    best = max if kind in RATES else min
    rounds = {name: rounds_for(kind, best(contender.measure(kind, size, 5) for _ in range(3)))
              for name, contender in ready.items()}
    for turn in range(turns):
        for name in list(ready)[::1 if turn % 2 else -1]:
            values[name].append(ready[name].measure(kind, size, rounds[name]))
    return values


def compare(kind, size, values, ours, peers):
    """One line of the table. A ratio below 1 is good for a latency, above 1 for a bandwidth."""
    best = {name: (max if kind in RATES else min)(values[name]) for name in values}
    line = {"what": kind, "bytes": size, "ours": ours, "threads": False,
            "unit": "GB/s" if kind in RATES else "us", "turns": len(values[ours]),
            "median": {name: statistics.median(values[name]) for name in values},
            "best": best, "ratio": {}}
    for peer in peers:
        if peer in values:
            ratios = sorted(own / other for own, other in zip(values[ours], values[peer]))
            line["ratio"][peer] = {"median": statistics.median(ratios), "low": ratios[len(ratios) // 4],
                                   "high": ratios[-1 - len(ratios) // 4], "best": best[ours] / best[peer]}
    return line


def show(line):
    cells = []
    for name, value in line["median"].items():
        ratio = line["ratio"].get(name)
        cells.append(f"{name} {value:.3g}" + (f" ({ratio['median']:.2f}x, half of the turns {ratio['low']:.2f}-"
                                              f"{ratio['high']:.2f}, of the best {ratio['best']:.2f})"
                                              if ratio else ""))
    size = line["bytes"] if line["bytes"] < 1024 else f"{line['bytes'] >> 10} Ki"
    mode = " MPI_THREAD_MULTIPLE" if line["threads"] else ""
    print(f"  {line['what']:13} {size!s:>7} B {line['unit']:>4}{mode}:  " + "   ".join(cells), flush=True)


def run(build, logs, turns, threads=False, groups=GROUPS, points=POINTS):
    """The lines of all groups, with the ratios of ours to each peer's."""
    lines = []
    for ours, peers in groups:
        with contextlib.ExitStack() as stack:
            ready, absent = start(stack, build, logs, (ours, *peers), threads)
            for name, reason in absent.items():
                print(f"  {name}: not measured: {reason}", flush=True)
            if ours not in ready:
                raise Failed(f"{ours} did not start: {absent[ours]}")
            for kind, size in points:
                line = compare(kind, size, take_turns(ready, kind, size, turns), ours, peers)
                line["threads"], line["absent"] = threads, absent
                show(line)
                lines.append(line)
            for contender in ready.values():
                contender.quit()
    return lines
