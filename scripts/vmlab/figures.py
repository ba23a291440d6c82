# SPDX-License-Identifier: BSD-3-Clause
"""scripts/vmlab/figures -- what livebtl adds to verbs: MPI over livebtl's verbs beside perftest, on the same devices; or (criu)
what a job has of verbs that can be dumped, beside one that was started on tcp (criu_figures.py).

usage: scripts/vmlab/figures [verbs|criu] [--pairs N] [--json FILE] [--build DIR]
verbs: two guests, one rank each. A pair of measurements is one of each side, back to back, in alternating order: half a round trip
(ib_send_lat) and bandwidth (ib_write_bw). Emulated guests are slow and fluctuate: only ratios within a pair mean anything.
Prints a table for docs/PERFORMANCE.md; the last line begins with "figures: ".
"""
import argparse
import json
import statistics
import sys

from tests.harness.processes import exit_on_sigterm
from tests.harness.waiting import Failed, check, wait_until
from tests.vm.job import DIRECTORY, StandaloneContext
from tests.vm.verbs import VerbsJob

from . import criu_figures, lab
from .lab import say

# (what, bytes, messages in one measurement, perftest's program, its column)
MEASURED = (("latency", 8, 200, "ib_send_lat", "t_typical[usec]"), ("latency", 4096, 200, "ib_send_lat", "t_typical[usec]"),
            ("latency", 65536, 100, "ib_send_lat", "t_typical[usec]"), ("bandwidth", 65536, 200, "ib_write_bw", "BW average[MB/sec]"),
            ("bandwidth", 1 << 20, 30, "ib_write_bw", "BW average[MB/sec]"))
PORT = 18515


class PerfJob(VerbsJob):
    """bench_mpi with one rank a guest; it measures on order, and sleeps between orders."""

    def __init__(self, made, context):
        super().__init__(made, context)
        self.per_guest, self.ranks, self.answers = 1, len(made.guests), 0

    def program_words(self):
        return ["/opt/livebtl/bin/bench_mpi", "orders", DIRECTORY]

    def prepare(self, guest, rank):
        """Pipes that stay open between two orders."""
        guest.output(f"mkfifo {DIRECTORY}/order.{rank} {DIRECTORY}/answer")
        guest.start_script(f"exec 3<>{DIRECTORY}/order.{rank}; exec sleep 100000")
        guest.start_script(f"exec cat <>{DIRECTORY}/answer >{DIRECTORY}/answers")

    def measure(self, what, size, rounds):
        """Microseconds, or MB/s."""
        for rank, guest in enumerate(self.lab.guests):
            guest.output(f"echo {what} {size} {rounds} >{DIRECTORY}/order.{rank}")
        self.answers += 1

        def answered():
            self.check_running()
            lines = self.head.output(f"cat {DIRECTORY}/answers").split()
            return float(lines[self.answers - 1]) if len(lines) >= self.answers else None
        value = wait_until(f"{what} of {size} bytes", answered, 120 * self.lab.pace, interval=0.3)
        return value if what == "latency" else 1000 * value


def perftest(server, client, program, size, rounds, column):
    """One run of a perftest program between the guests' devices."""
    command = f"{program} -d rxe0 -x 1 -F -s {size} -n {rounds}"
    pid = server.start_script(f"exec {command} >/run/perftest.log 2>&1")
    server.output(f"for i in $(seq 1000); do ss -tln | grep -q :{PORT} && exit 0; sleep 0.05; done; exit 1", 60)
    lines = client.output(f"{command} {server.name}", 120).splitlines()
    wait_until(f"the server of {program} to end", lambda: server.agent().status(pid)["exited"], 60 * server.pace)
    heads = [number for number, line in enumerate(lines) if line.lstrip().startswith("#bytes")]
    check(heads and column in lines[heads[-1]], f"{program} said: {' | '.join(lines)[-400:]}")
    names = [name.strip() for name in lines[heads[-1]].replace("#iterations", " #iterations ").split("  ") if name.strip()]
    return float(lines[heads[-1] + 1].split()[names.index(column)])


def pair(job, measured, turn):
    """(livebtl's figure, perftest's)"""
    what, size, rounds, program, column = measured
    server, client = job.lab.guests[1], job.lab.guests[0]
    acts = [lambda: job.measure(what, size, rounds), lambda: perftest(server, client, program, size, rounds, column)]
    if turn % 2:
        theirs = acts[1]()
        return acts[0](), theirs
    ours = acts[0]()
    return ours, acts[1]()


def row(measured, pairs):
    what, size, _, program, _ = measured
    ratios = sorted(ours / theirs for ours, theirs in pairs)
    quarter = len(ratios) // 4
    return {"what": what, "bytes": size, "peer": program, "livebtl": statistics.median(each[0] for each in pairs),
            "theirs": statistics.median(each[1] for each in pairs), "ratio": statistics.median(ratios),
            "middle_half": [ratios[quarter], ratios[-1 - quarter]], "pairs": len(pairs)}


def run(options):
    with lab.new(2, options.build, with_parent=True) as made, PerfJob(made, StandaloneContext("figures")) as job:
        job.measure("latency", 8, 10)  # so that the ranks are connected
        job.order("add", "verbs")
        job.wait_across("verbs")
        taken = {measured: [] for measured in MEASURED}
        for turn in range(options.pairs):
            for measured in MEASURED:
                taken[measured].append(pair(job, measured, turn))
            say(f"{turn + 1} of {options.pairs} turns")
        on, lost = job.transports()["verbs"]
        check(on == 1, "the pair has left verbs on the way")
    rows = [row(measured, pairs) for measured, pairs in taken.items()]
    for each in rows:
        unit = "us" if each["what"] == "latency" else "MB/s"
        print(f"| {each['what']}, {each['bytes']} B | {each['livebtl']:.1f} {unit} | {each['theirs']:.1f} {unit} ({each['peer']}) | "
              f"{each['ratio']:.2f} | {each['middle_half'][0]:.2f}-{each['middle_half'][1]:.2f} |")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"rows": rows, "paths_lost": lost}, file, indent=1)
    return f"{options.pairs} pairs of each, {lost:.0f} ends of verbs paths lost"


def main():
    parser = argparse.ArgumentParser(prog="scripts/vmlab/figures", description="MPI over livebtl's verbs beside perftest; or a job "
                                     "on verbs that is dumped by CRIU beside one that was started on tcp.")
    parser.add_argument("what", nargs="?", choices=("verbs", "criu"), default="verbs", help="default: %(default)s")
    parser.add_argument("--pairs", type=int, default=8, help="default: %(default)s")
    parser.add_argument("--json", metavar="FILE")
    lab.add_build_option(parser.add_argument)
    options = parser.parse_args()
    exit_on_sigterm()
    try:
        print(f"figures: {(criu_figures.run if options.what == 'criu' else run)(options)}")
        return 0
    except Failed as failure:
        print(f"figures failed: {failure}")
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
