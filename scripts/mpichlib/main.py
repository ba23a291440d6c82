#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/mpich: builds what is missing, runs MPICH's suites over livebtl, and tells what failed."""
import argparse
import os
import signal
import subprocess
import sys

from failed import Failed
from source import Mpich
from suite import Suite

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PRODUCTS = os.path.join(ROOT, "build", "release")
SUITES = ("pt2pt", "coll", "rma")


def parse():
    parser = argparse.ArgumentParser(
        prog="scripts/mpich", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="MPICH's own tests over livebtl, switched from sm to tcp and back, on and on; each begins after its first switch.",
        epilog="Debian's MPICH is built without libfabric: this builds Debian's source of it with ch4:ofi, once, in\n"
               "build/mpich (some 20 minutes). Each suite takes up to an hour. The last line is\n"
               "'mpich: N passed, M failed', and the exit code 0 if M is 0.")
    parser.add_argument("what", nargs="*", metavar="build|" + "|".join(SUITES), help="suites (all), or build alone")
    parser.add_argument("--only", action="append", default=[], metavar="PART",
                        help="tests whose line in MPICH's list has this part; may be repeated")
    parser.add_argument("--bare", metavar="PROVIDER",
                        help="over another provider of libfabric's, without livebtl: is a failure MPICH's own?")
    options = parser.parse_args()
    unknown = [each for each in options.what if each not in ("build", *SUITES)]
    if unknown:
        parser.error(f"no such suite: {', '.join(unknown)} (there are {', '.join(SUITES)})")
    return options


def build_livebtl():
    print("== packages", flush=True)
    if subprocess.run([os.path.join(ROOT, "scripts", "setup"), "mpich"], check=False).returncode != 0:
        raise Failed("packages are missing")
    path = os.path.join(ROOT, "build", "mpich-livebtl.log")
    print(f"== livebtl (build/release; log in {path})", flush=True)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as log:
        for command in (["cmake", "--preset", "release"],
                        ["cmake", "--build", "--preset", "release", "--target", "livebtl-fi", "btlctl"]):
            if subprocess.run(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, check=False).returncode != 0:
                raise Failed(f"livebtl could not be built; see {path}")


def environment(bare):
    """NOLOCAL: else what goes between processes of one node is MPICH's own affair."""
    if bare:
        return {"FI_PROVIDER": bare, "MPIR_CVAR_NOLOCAL": "1"}
    return {"FI_PROVIDER": "livebtl", "FI_PROVIDER_PATH": os.path.join(PRODUCTS, "lib"), "MPIR_CVAR_NOLOCAL": "1",
            "SWITCHED_BTLCTL": os.path.join(PRODUCTS, "bin", "btlctl")}


def judge(suite, outcomes, switched):
    """Tells what failed, by name. A test that MPICH's runner did not come to, and a switch that failed while the job went on,
    are failures too. Returns how many passed and failed."""
    for outcome in outcomes:
        if outcome.state != "ok":
            print(f"{outcome.state}: {suite.name}/{outcome.name}")
    passed, bad = (sum(outcome.state == state for outcome in outcomes) for state in ("ok", "not ok"))
    left_out = len(outcomes) - passed - bad
    missing = len(suite.lines) - len(outcomes)
    if missing > 0:
        print(f"not ok: {suite.name}: {missing} tests were not run: MPICH's runner gives up after several time-outs; see {suite.log}")
    bad += max(0, missing)
    text = ""
    if switched:
        ran = suite.ran()
        done = sum(each["done"] for each in ran)
        for each in ran:
            for said in each["failed"]:
                print(f"not switched: {each['program']}: {said}")
        bad += sum(bool(each["failed"]) for each in ran)
        never = [each for each in ran if each["done"] == 0]
        for each in never:
            print(f"not ok: {each['program']}: never switched: {each['no_job'] or 'it ended before the first switch was done'}")
        bad += len(never)
        under_way = sum(each["done"] > 1 for each in ran)
        text = f"; {done} switches, in {len(ran) - len(never)} of {len(ran)} programs before they began, in {under_way} also while they ran"
        if under_way == 0:
            print(f"not ok: {suite.name}: no program was switched while it ran")
            bad += 1
    print(f"mpich {suite.name}: {passed} passed, {bad} failed, {left_out} left out by MPICH{text}", flush=True)
    return passed, bad


def main():
    options = parse()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    directory = os.path.join(ROOT, "build", "mpich")
    passed = failed = 0
    try:
        build_livebtl()
        mpich = Mpich(directory)
        mpich.build()
        if "build" in options.what:
            return 0
        suites = [Suite(mpich, name, options.only, os.path.join(directory, "logs")) for name in options.what or SUITES]
        suites = [suite for suite in suites if suite.lines]
        if not suites:
            raise Failed(f"no test's line has {' or '.join(options.only)}")
        for suite in suites:
            good, bad = judge(suite, suite.run(environment(options.bare)), not options.bare)
            passed += good
            failed += bad
    except Failed as failure:
        print(failure)
        failed += 1
    print(f"mpich: {passed} passed, {failed} failed")
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
