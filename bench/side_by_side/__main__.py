# SPDX-License-Identifier: BSD-3-Clause
"""scripts/bench: measures livebtl beside its peers and prints ratios."""
import argparse
import json
import os
import platform
import sys
import time

from tests.harness.job import Build
from tests.harness.processes import exit_on_sigterm
from tests.harness.waiting import Failed

from . import bare, instructions, noise, switching, turns

PARTS = {
    "ratios": "latency and bandwidth beside Open MPI's own transports and UCX",
    "threads": "the same under MPI_THREAD_MULTIPLE, small messages",
    "ofi": "livebtl's ofi over libfabric's tcp;ofi_rxm, beside Open MPI over the same provider",
    "bare": "put, fetch-and-add and their bandwidth through livebtl's ofi transport, beside the bare tcp;ofi_rxm",
    "onesided": "put and fetch-and-add through osc/rdma, beside vader, and osc/pt2pt over TCP",
    "gaps": "longest gap between deliveries in a switch, beside as long a time without",
    "ladder": "order to last acknowledgement for idle and for spinning members",
    "hostage": "a switch and a removal while all ranks compute",
    "noise": "a rank that computes: wake-ups of its agent, and what equal pieces of work take, beside ob1",
    "instructions": "instructions a message, by callgrind",
}


def run_ladders(options, build, failed):
    """Members that spin and far outnumber the processors may starve the coordinator; such a failure is recorded."""
    lines = []
    for mode, members in [(mode, n) for mode in options.modes for n in options.members]:
        try:
            lines.append(switching.ladder(build, options.logs, members, mode, options.ladders))
            switching.show(lines[-1])
        except Failed as failure:
            failed[f"ladder {members} {mode}"] = str(failure)
            print(f"  {members} members, {mode}: FAILED: {failure}", flush=True)
    return lines


def run_one(part, options, build, failed):
    """Measures one part and returns its lines, which are shown as they come; adds failures to `failed`."""
    if part == "ratios":
        return turns.run(build, options.logs, options.turns)
    if part == "threads":
        return turns.run(build, options.logs, options.turns, True, points=turns.POINTS[:3])
    if part == "ofi":
        return turns.run(build, options.logs, options.turns, False, turns.OFI_GROUPS)
    if part == "bare":
        return bare.run(build, options.turns)
    if part == "onesided":
        return turns.run(build, options.logs, options.turns, False, turns.ONE_SIDED_GROUPS, turns.ONE_SIDED_POINTS)
    if part == "ladder":
        return run_ladders(options, build, failed)
    if part == "noise":
        return noise.run(build, options.logs)
    if part == "instructions":
        return instructions.run(build, options.logs)
    line = (switching.longest_gaps(build, options.logs, options.switches) if part == "gaps"
            else switching.hostage(build, options.logs, 20))
    switching.show(line)
    return [line]


def conditions():
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "?")
    return {"date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "processors": os.cpu_count(), "model": model,
            "kernel": platform.release(), "load": os.getloadavg()[0], "nice": os.nice(0)}


def parse():
    names = "\n".join(f"  {name:13} {text}" for name, text in PARTS.items())
    parser = argparse.ArgumentParser(prog="scripts/bench", formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description="Measures livebtl beside its peers, in turns, and prints ratios "
                                                 "(median of the ratios of neighbours in time).",
                                     epilog=f"parts:\n{names}\nTo take part of a loaded machine's noise away: "
                                            "nice -n -15 scripts/bench (as root).")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas (default: all)")
    parser.add_argument("--turns", type=int, default=25, help="measurements of each point (default: 25)")
    parser.add_argument("--switches", type=int, default=1000, help="for gaps (default: 1000)")
    parser.add_argument("--ladders", type=int, default=20, help="switches of each point of ladder (default: 20)")
    parser.add_argument("--members", type=lambda text: [int(each) for each in text.split(",")], default=[2, 8, 64],
                        help="for ladder (default: 2,8,64)")
    parser.add_argument("--modes", type=lambda text: text.split(","), default=["idle", "spin"],
                        help="for ladder: what the members do (default: idle,spin)")
    parser.add_argument("--json", metavar="FILE", help="also write all figures there; - for stdout, at the end")
    parser.add_argument("--build", default="build/release", help=argparse.SUPPRESS)
    parser.add_argument("--logs", default=os.path.abspath("build/bench-logs"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.only = options.only.split(",")
    unknown = [part for part in options.only if part not in PARTS]
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)} (there are {', '.join(PARTS)})")
    return options


def write_json(path, document):
    text = json.dumps(document, indent=1)
    if path == "-":
        print(text)
    elif path:
        with open(path, "w") as file:
            file.write(text + "\n")


def main():
    options = parse()
    exit_on_sigterm()
    build = Build(options.build)
    document = {"schema": "livebtl.bench/1", "conditions": conditions(), "lines": [], "failed": {}}
    told = document["conditions"]
    print(f"{told['date']}, {told['processors']} processors ({told['model']}), load {told['load']:.1f}", flush=True)
    for part in options.only:
        print(f"{part}: {PARTS[part]}", flush=True)
        try:
            document["lines"] += run_one(part, options, build, document["failed"])
        except Failed as failure:
            document["failed"][part] = str(failure)
            print(f"  FAILED: {failure}", flush=True)
    write_json(options.json, document)
    return 1 if document["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
