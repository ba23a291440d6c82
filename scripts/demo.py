#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The live part of scripts/demo: runs the job, switches it, shows what happens, and ends with the proof."""
import argparse
import glob
import json
import os
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
from harness.control import btlctl  # noqa: E402
from harness.job import Build, MpiJob  # noqa: E402
from harness.kernel import TcpBytes  # noqa: E402
from harness.waiting import Failed  # noqa: E402

MIB = 1 << 20


class Stream:
    """Follows the lines that the ranks print: {"stream": rank, "t", "seconds", "messages", "bytes", "gap_us"}."""

    def __init__(self, job):
        self.pattern = os.path.join(job.logs, "out", "*", "rank.*", "stdout")
        self.offsets = {}
        self.lines = []

    def read(self):
        """New lines since the last call."""
        new = []
        for path in glob.glob(self.pattern):
            with open(path) as file:
                file.seek(self.offsets.get(path, 0))
                text = file.read()
            whole = text[:text.rfind("\n") + 1]
            self.offsets[path] = self.offsets.get(path, 0) + len(whole)
            new += [json.loads(line) for line in whole.splitlines() if line.startswith('{"stream"')]
        self.lines += new
        return new

    def longest_gap_ms(self, start, end):
        """Of the lines that cover any moment from start to end (unix seconds)."""
        gaps = [line["gap_us"] for line in self.lines if line["t"] >= start and line["t"] - line["seconds"] <= end]
        return max(gaps, default=0) / 1000


def show_rates(stream, tcp, pids, seconds, started):
    """Prints a line each half second; returns the longest gap of that time in ms."""
    begin = time.time()
    while time.time() - begin < seconds:
        time.sleep(0.5)
        new = stream.read()
        span = sum(line["seconds"] for line in new) / max(1, len({line["stream"] for line in new}))
        if span > 0:
            messages = sum(line["messages"] for line in new) / span
            mebibytes = sum(line["bytes"] for line in new) / span / MIB
            gap = max(line["gap_us"] for line in new) / 1000
            print(f"  {time.time() - started:6.1f} s   {messages:9.0f} messages/s  {mebibytes:8.1f} MiB/s   "
                  f"longest gap {gap:6.1f} ms   TCP so far {tcp.sample(pids) / MIB:8.1f} MiB (ss -ti)", flush=True)
    return stream.longest_gap_ms(begin, time.time())


def show_pairs(job):
    """Which transport each pair sends on, as the processes themselves say."""
    members = btlctl(job, "status", "--peers").expect(0).json["members"]
    names = {member["member"]["process"]: member["rank"] for member in members}
    for member in sorted(members, key=lambda m: m["rank"]):
        uses = [f"{names.get(peer['process'], '?')}:{peer['transport'] or '-'}" for peer in member["engine"]["peers"]]
        print(f"       rank {member['rank']} sends to  {'  '.join(sorted(uses))}")


def switch(job, stream, source, target, started):
    print(f"  {time.time() - started:6.1f} s   $ btlctl switch {source} {target}", flush=True)
    begin = time.time()
    answer = btlctl(job, "switch", source, target).expect(0)
    end = time.time()
    rungs = ", ".join(f"{rung['rung']} {rung['milliseconds']:.1f} ms" for rung in answer.json["rungs"])
    print(f"            {answer.json['text']}  [{rungs}]", flush=True)
    show_pairs(job)
    return begin, end


def show_proof(job, gaps, quiet_ms, tcp_total):
    proofs = job.proofs()
    total = {key: sum(proof[key] for proof in proofs)
             for key in ("sent", "received", "received_bytes", "lost", "repeated", "out_of_order", "corrupt")}
    print("\nProof, by the MPI program itself (sequence number and hash of every message):")
    print(f"  sent {total['sent']}, received {total['received']} ({total['received_bytes'] / MIB:.0f} MiB)")
    print(f"  lost {total['lost']}, repeated {total['repeated']}, out of order {total['out_of_order']}, "
          f"corrupt {total['corrupt']}")
    print("By the kernel (ss -ti, connections between the ranks):")
    print(f"  TCP carried {tcp_total / MIB:.0f} MiB, shared memory the rest")
    print("Longest gap between two deliveries at any rank:")
    print(f"  without a switch {quiet_ms:.1f} ms; around the switches "
          + ", ".join(f"{gap:.1f}" for gap in gaps) + " ms")


def run(options, logs):
    started = time.time()
    tcp = TcpBytes()
    with MpiJob(Build(options.build), logs, "stream", options.ranks) as job:
        print(f"$ {' '.join(job.command())}\n", flush=True)
        job.wait_ready()
        pids, stream = set(job.rank_pids().values()), Stream(job)
        print(f"{options.ranks} ranks send to each other as fast as they can:")
        show_pairs(job)
        quiet_ms = show_rates(stream, tcp, pids, 2, started)
        times, route = [], ("sm", "tcp")
        for _ in range(options.switches):
            times.append(switch(job, stream, *route, started))
            show_rates(stream, tcp, pids, 2, started)
            route = route[::-1]
        gaps = [stream.longest_gap_ms(*span) for span in times]
        tcp.sample(pids)
        job.finish(60)
        show_proof(job, gaps, quiet_ms, tcp.total())


def main():
    parser = argparse.ArgumentParser(description="Switches a running MPI job live and shows what happens.")
    parser.add_argument("--build", default="build/release", help="build directory (default: build/release)")
    parser.add_argument("--ranks", type=int, default=4, help="MPI ranks (default: 4)")
    parser.add_argument("--switches", type=int, default=6, help="switches (default: 6)")
    options = parser.parse_args()
    try:
        run(options, os.path.abspath("build/demo-logs"))
    except Failed as failure:
        print(f"demo: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
