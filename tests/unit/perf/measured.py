# SPDX-License-Identifier: BSD-3-Clause
"""btlperf between two real processes: each of its tests over shared memory, over tcp and through switches, with every
byte compared; its document, its picture, two processes started by hand, and how it fails. No time is judged.

usage: scripts/python -m tests.unit.perf.measured --build DIR
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from tests.harness.waiting import Failed, check, wait_until

TESTS = ("latency", "bandwidth", "bidirectional", "rate", "put", "get", "atomic")
PERCENTILES = ("min", "p50", "p90", "p99", "p99_9", "max")
ROUNDS = 100
WINDOWS = 10


class Perf:
    def __init__(self, program, directory):
        self.program, self.directory = program, directory
        rundir = os.path.join(directory, "run")
        os.mkdir(rundir, 0o700)
        self.environment = dict(os.environ, LIVEBTL_RUNDIR=rundir, TMPDIR=directory, LIVEBTL_LOG="error")

    def start(self, *words, **variables):
        return subprocess.Popen([self.program, *words], env=dict(self.environment, **variables), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *words, code=0):
        process = self.start(*words)
        out, err = process.communicate(timeout=300)
        check(process.returncode == code, f"btlperf {' '.join(words)}: {process.returncode}, not {code}: {out[-500:]} {err[-500:]}")
        return out, err

    def document(self, *words, code=0):
        return json.loads(self.run(*words, "--json", code=code)[0])


def sizes_of(test):
    return ["--sizes", "1,8,100K"] if test != "atomic" else []


def rounds_of(test):
    return ["--rounds", str(ROUNDS if test in ("latency", "put", "get", "atomic") else WINDOWS), "--window", "8"]


def check_distribution(times, count, what):
    check(times["count"] >= count, f"{what}: {times['count']} times, not {count}")
    values = [times[name] for name in PERCENTILES]
    check(values == sorted(values) and values[0] > 0, f"{what}: {times}")
    check(values[0] <= times["mean"] <= values[-1], f"{what}: the mean is none: {times}")


def over_one(perf, test, transport):
    document = perf.document(test, *sizes_of(test), *rounds_of(test), "--transport", transport, "--check", "--histogram")
    figures = document["figures"]
    check([each["bytes"] for each in figures] == ([8] if test == "atomic" else [1, 8, 102400]), f"{test}: {figures}")
    for figure in figures:
        what = f"{test} over {transport}, {figure['bytes']} B"
        check(figure["over"] == transport and not figure["switching"], f"{what} went over {figure['over']}")
        check_distribution(figure["us"], int(rounds_of(test)[1]), what)
        check(sum(each["count"] for each in figure["histogram"]) == figure["us"]["count"], f"{what}: the histogram lacks times")
        check(figure["messages_per_second"] > 0, what)


def through_switches(perf, test):
    words = ["--size", "4K"] if test != "atomic" else []
    document = perf.document(test, *words, *rounds_of(test), "--switch-every", "2ms", "--switches", "3")
    one, other, switched = document["figures"]
    check((one["over"], other["over"]) == ("sm", "tcp"), f"{test}: not on each of both: {one['over']}, {other['over']}")
    check(document["checked"] and switched["switching"] and switched["switches"] >= 3, f"{test}: {switched}")
    check(switched["longest_in_a_switch_us"]["count"] > 0, f"{test}: no time overlapped a switch")
    check_distribution(switched["us"], int(rounds_of(test)[1]), f"{test} through switches")
    return switched["switches"]


def picture(perf):
    path = os.path.join(perf.directory, "latency.svg")
    out, _ = perf.run("latency", "--size", "8", "--rounds", "200", "--histogram", "--plot", path)
    check("#" in out and "p99.9" in out, f"no bars, or no table: {out}")
    root = xml.etree.ElementTree.parse(path).getroot()
    check(root.tag.endswith("svg") and len(root.findall("{*}polyline")) == 1, "the picture has not one curve")
    link = os.path.join(perf.directory, "link.svg")
    os.symlink("led-to.svg", link)  # the target does not exist yet
    perf.run("latency", "--size", "8", "--rounds", "200", "--plot", link)
    check(os.path.islink(link) and os.path.getsize(link) > 0, "a link to a picture that was not there yet is no link any more")


def by_hand(perf):
    meeting = os.path.join(perf.directory, "meeting")
    os.mkdir(meeting)
    words = ("latency", "--size", "8", "--rounds", "200", "--job", "by-hand", "--meet", meeting)
    other = perf.start(*words, "--rank", "1")
    out, _ = perf.run(*words, "--rank", "0", "--ranks", "2", "--json")
    other.communicate(timeout=60)
    check(other.returncode == 0, "rank 1 did not end well")
    check(json.loads(out)["figures"][0]["us"]["count"] == 200, out)
    wrong = perf.start(*words, "--rank", "1", "--check")
    document = perf.document(*words, "--rank", "0", code=1)
    wrong.communicate(timeout=60)
    check("different things" in document["text"] and wrong.returncode == 1, f"not told apart: {wrong.returncode} {document}")


def failures(perf):
    document = perf.document("latency", "--job", "alone", "--rank", "0", "--meet", perf.directory, "--timeout", "0.5", code=10)
    check("--rank 1" in document["text"] and document["reason"] == "members-missing", document)
    document = perf.document("latency", "--transport", "nonsense", code=1)
    check("nonsense" in document["text"], document)
    for words, why in ((("latency", "--size", "abc"), "--size"), (("nosuch",), "no such test"), (("latency", "--timeout", "0"), "seconds")):
        document = perf.document(*words, code=1)
        check(why in document["text"] and document["reason"] == "usage", document)
    # This fails before anything is measured, which would take an hour.
    words = ("latency", "--size", "8", "--rounds", "1000000000", "--plot", "/nonexistent/x.svg")
    check("/nonexistent/x.svg" in perf.run(*words, code=1)[1], "it is not said what cannot be written")
    check("/nonexistent/x.svg" in perf.document(*words, code=1)["text"], "the document does not say what cannot be written")


def dry_run(perf):
    path = os.path.join(perf.directory, "dry.svg")
    document = perf.document("latency", "--size", "8", "--plot", path, "--dry-run")
    check(document["dry_run"] and "latency of 8" in document["text"] and "\n" not in document["text"], document)
    check(not os.path.exists(path), "a dry run has made a picture")


def two_of(process):
    """Returns the two processes that it has started, by rank."""
    children = f"/proc/{process.pid}/task/{process.pid}/children"
    wait_until("two processes", lambda: len(open(children).read().split()) == 2, 60)
    return [int(pid) for pid in open(children).read().split()]


def ended(perf, process, code, what):
    out, err = process.communicate(timeout=120)
    check(process.returncode == code, f"{what}: {process.returncode}, not {code}: {err}")
    left = [name for name in os.listdir(perf.directory) if name.startswith("btlperf-")]
    check(not left, f"{what}: left behind: {left}")
    return out, err


def interrupted(perf):
    """Ctrl-C, and the death of one process: the other does not stay, and there is one document, about that."""
    words = ("latency", "--size", "8", "--rounds", "1000000000", "--transport", "tcp", "--timeout", "10")
    for form in ((), ("--json",)):
        process = perf.start(*words, *form)
        two_of(process)
        process.send_signal(signal.SIGTERM)
        out, _ = ended(perf, process, 130, "interrupted")
        check(not form or json.loads(out)["exit_code"] == 130, f"interrupted: {out}")
        for rank in (0, 1):
            process = perf.start(*words, *form)
            os.kill(two_of(process)[rank], signal.SIGKILL)
            out, err = ended(perf, process, 10, f"rank {rank} was killed")
            check(f"rank {rank} was ended by signal 9" in err, f"rank {rank} was killed: {err}")
            check(not form or json.loads(out)["reason"] == "members-missing", f"rank {rank} was killed: {out}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    program = os.path.abspath(os.path.join(parser.parse_args().build, "bin", "btlperf"))
    switches = 0
    with tempfile.TemporaryDirectory(prefix="lb-perf-") as directory:
        perf = Perf(program, directory)
        for test in TESTS:
            for transport in ("sm", "tcp"):
                over_one(perf, test, transport)
            switches += through_switches(perf, test)
            print(f"  {test}", flush=True)
        picture(perf)
        by_hand(perf)
        failures(perf)
        dry_run(perf)
        interrupted(perf)
    print(f"btlperf: {len(TESTS)} tests over sm, over tcp and through {switches} switches")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(f"btlperf: {failure}")
