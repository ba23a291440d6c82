# SPDX-License-Identifier: BSD-3-Clause
"""The live part of scripts/demo: runs the job, switches it, shows what happens, and ends with the proof."""
import argparse
import glob
import json
import os
import sys
import time

from tests.harness.control import btlctl
from tests.harness.job import Build, MpiJob
from tests.harness.kernel import TcpBytes
from tests.harness.waiting import Failed, check, wait_until

MIB = 1 << 20
PHASE_SECONDS = 2


class Stream:
    """Reads the lines that the ranks print: {"stream": rank, "t", "seconds", "messages", "bytes", "gap_us"}."""

    def __init__(self, job):
        self.ranks = job.ranks
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

    def wait_beyond(self, moment):
        """Waits until every rank has reported the time up to `moment`."""
        def all_told():
            self.read()
            return len({line["stream"] for line in self.lines if line["t"] > moment}) == self.ranks
        wait_until("every rank to go on delivering messages", all_told, 30, interval=0.05)

    def longest_gap_ms(self, start, end):
        """The longest gap in lines that cover any moment from start to end (unix seconds)."""
        gaps = [line["gap_us"] for line in self.lines if line["t"] >= start and line["t"] - line["seconds"] <= end]
        return max(gaps, default=0) / 1000

    def bytes_between(self, start, end):
        return sum(line["bytes"] for line in self.lines if start < line["t"] <= end)


class Demo:
    """One job, and what was measured of it so far."""

    def __init__(self, job):
        self.job, self.stream, self.tcp = job, Stream(job), TcpBytes()
        self.started = time.time()
        self.pids = set(job.rank_pids().values())
        self.quiet_gaps, self.switch_gaps = [], []
        self.phases = []  # (transport, MiB that the program received, MiB that TCP carried)

    def say(self, text):
        print(f"  {time.time() - self.started:6.1f} s   {text}", flush=True)

    def show_rates(self, new, begin):
        span = time.time() - begin
        messages = sum(line["messages"] for line in new) / span
        mebibytes = sum(line["bytes"] for line in new) / span / MIB
        gap = max((line["gap_us"] for line in new), default=0) / 1000
        self.say(f"{messages:9.0f} messages/s  {mebibytes:8.1f} MiB/s   longest gap {gap:6.1f} ms   "
                 f"TCP so far {self.tcp.sample(self.pids) / MIB:8.1f} MiB (ss -ti)")

    def run_phase(self, transport):
        """Lets the job run on one transport, shows its rates, and records how much TCP carried."""
        begin, tcp_before = time.time(), self.tcp.sample(self.pids)
        self.stream.read()
        while time.time() - begin < PHASE_SECONDS:
            look = time.time()
            time.sleep(0.5)
            self.job.check_running()
            self.show_rates(self.stream.read(), look)
        end, tcp_after = time.time(), self.tcp.sample(self.pids)
        self.stream.wait_beyond(end)
        self.quiet_gaps.append(self.stream.longest_gap_ms(begin, end))
        self.phases.append((transport, self.stream.bytes_between(begin, end) / MIB, (tcp_after - tcp_before) / MIB))

    def show_pairs(self):
        """Which transport each pair sends on, as the processes themselves say."""
        members = btlctl(self.job, "status", "--peers").expect(0).json["members"]
        names = {member["member"]["process"]: member["rank"] for member in members}
        for member in sorted(members, key=lambda m: m["rank"]):
            uses = [f"{names.get(peer['process'], '?')} by {peer['transport']}" for peer in member["engine"]["peers"]
                    if peer["transport"]]
            print(f"             rank {member['rank']} sends to rank  {',  '.join(sorted(uses))}", flush=True)

    def switch(self, source, target):
        self.say(f"$ btlctl switch {source} {target}")
        begin = time.time()
        answer = btlctl(self.job, "switch", source, target).expect(0).json
        end = time.time()
        self.stream.wait_beyond(end)
        self.switch_gaps.append(self.stream.longest_gap_ms(begin, end))
        rungs = ", ".join(f"{rung['rung']} {rung['milliseconds']:.1f} ms" for rung in answer["rungs"])
        self.say(f"{answer['text']}: {answer['pairs_moved']} pairs moved ({rungs}); "
                 f"longest gap around it {self.switch_gaps[-1]:.1f} ms")
        check(answer["pairs_moved"] > 0, "the switch moved no pair")
        self.show_pairs()

    def show_proof(self, total):
        print("\nProof, by the MPI program itself (sequence number and hash of every message):")
        print(f"  sent {total['sent']}, received {total['received']} ({total['received_bytes'] / MIB:.0f} MiB)")
        print(f"  lost {total['lost']}, repeated {total['repeated']}, out of order {total['out_of_order']}, "
              f"corrupt {total['corrupt']}")
        print("Between the switches, what the program received and what TCP carried by the kernel's count (ss -ti):")
        for number, (transport, received, carried) in enumerate(self.phases):
            print(f"  {number + 1}. on {transport:3}   received {received:8.1f} MiB   TCP carried {carried:8.1f} MiB")
        print(f"  in all   received {total['received_bytes'] / MIB:.0f} MiB, TCP carried {self.tcp.total() / MIB:.0f} "
              f"MiB, the rest went through shared memory")
        print("Longest gap between two deliveries at any rank:")
        cores = os.cpu_count() or 1
        shared = f" ({self.job.ranks} ranks share {cores} processors)" if self.job.ranks > cores else ""
        print(f"  without a switch {max(self.quiet_gaps):.1f} ms; around the switches "
              + ", ".join(f"{gap:.1f}" for gap in self.switch_gaps) + f" ms{shared}")

    def check_carried(self):
        """The kernel must agree: TCP carried the traffic of the phases on tcp, and nothing in those on sm."""
        for transport, received, carried in self.phases:
            check(received > 0, f"no message was received in a phase on {transport}")
            check((carried > received / 2) if transport == "tcp" else carried < received / 100,
                  f"in a phase on {transport} the program received {received:.1f} MiB, and TCP carried {carried:.1f}")


def run(options, logs):
    job = MpiJob(Build(options.build), logs, "stream", options.ranks)
    print(f"Stock Open MPI, a plain MPI program:\n$ {' '.join(job.command())}\n", flush=True)
    with job:
        job.wait_ready()
        demo = Demo(job)
        demo.say(f"{options.ranks} ranks send to each other, 8 B to 200 kB a message, as fast as they can:")
        demo.show_pairs()
        route = ("sm", "tcp")
        demo.run_phase(route[0])
        for _ in range(options.switches):
            demo.switch(*route)
            demo.run_phase(route[1])
            route = route[::-1]
        demo.show_proof(job.finish(60))
        demo.check_carried()


def main():
    parser = argparse.ArgumentParser(prog="scripts/demo",
                                     description="Switches a running MPI job live and shows what happens.")
    parser.add_argument("--build", default="build/release", help=argparse.SUPPRESS)
    parser.add_argument("--ranks", type=int, default=4, help="MPI ranks (default: 4)")
    parser.add_argument("--switches", type=int, default=6, help="switches (default: 6)")
    options = parser.parse_args()
    if options.ranks < 2 or options.switches < 1:
        parser.error("it takes at least 2 ranks and 1 switch")
    try:
        run(options, os.path.abspath("build/demo-logs"))
    except Failed as failure:
        print(f"demo failed: {failure} (logs: build/demo-logs)")
        return 1
    print("demo passed: every message arrived once, in order, unchanged, over both transports")
    return 0


if __name__ == "__main__":
    sys.exit(main())
