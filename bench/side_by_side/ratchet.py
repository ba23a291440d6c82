# SPDX-License-Identifier: BSD-3-Clause
"""Tests that a message costs no more instructions than it did: this build's counts against bench/instructions.json.

usage: scripts/python -m bench.side_by_side.ratchet [--build DIR] [--update] [CONTENDER...]
  CONTENDER   only these of the file; one that is not in it yet is added by --update
  --update    also write the file where counts have gone down; to raise a number is an edit by hand, which a review sees
A count that is above its number by more than 1 % fails; one that is below it by more than 3 % asks for --update. Exit code:
0, 1 (failed), 2 (usage), 77 (the numbers are another compiler's or another Open MPI's: nothing was compared).

Counted are MPI_Send and MPI_Recv of 8 bytes, both ends together: "ours" in livebtl's own libraries, "all" in everything
that runs in the two calls. 1 % is several times what the counts vary from run to run, even on a loaded machine.
"""
import argparse
import glob
import json
import os
import re
import sys

from tests.harness.commands import ROOT, run
from tests.harness.job import OVER_OMPI, Build
from tests.harness.processes import exit_on_sigterm
from tests.harness.waiting import Failed, check

from . import instructions
from .contenders import CONTENDERS

FILE = os.path.join(ROOT, "bench", "instructions.json")
SIZE, ROUNDS = 8, 2000
ABOVE, BELOW = 1.01, 0.97
SKIPPED = 77


def verdict(name, held, counted):
    """[(failed, what to do)] for one contender: {"ours", "all"} from the file, and as counted now."""
    if held is None:
        return [(True, f"{name} has no number yet: --update adds it")]
    found = []
    for kind, number in held.items():
        now = counted[kind]
        if now > number * ABOVE:
            found.append((True, f"{name}: {kind} has gone up from {number} to {now} instructions a message: "
                                "scripts/bench --only instructions shows in which files"))
        elif now < number * BELOW:
            found.append((False, f"{name}: {kind} has gone down from {number} to {now}: keep it with --update"))
    return found


def lowered(held, counted):
    """One contender's new numbers: never above the old ones."""
    return {kind: min(value, (held or {}).get(kind, value)) for kind, value in counted.items()}


def circumstances(build):
    """What the counts depend on besides this repository."""
    facts = {}
    for path in glob.glob(os.path.join(build.directory, "CMakeCache.txt")) + \
            glob.glob(os.path.join(build.directory, "CMakeFiles", "*", "CMakeCXXCompiler.cmake")):
        with open(path) as file:
            facts.update(re.findall(r'^(?:set\()?(CMAKE_\w+)(?::\w+=| ")(.*?)(?:"\))?$', file.read(), re.MULTILINE))
    check("CMAKE_BUILD_TYPE" in facts, f"{build.directory} is no build of this project: cmake --preset release")
    mpi = run(["ompi_info", "--version"], "asking for Open MPI's version").splitlines()[0]
    compiler = f"{facts['CMAKE_CXX_COMPILER_ID']} {facts['CMAKE_CXX_COMPILER_VERSION']}"
    return {"compiler": compiler, "build": facts["CMAKE_BUILD_TYPE"], "mpi": mpi, "machine": os.uname().machine}


def count(build, logs, name):
    line = instructions.of_contender(build, logs, name, SIZE, ROUNDS)
    ours = sum(number for library, number in line["libraries"].items() if "livebtl" in library)
    return {"ours": round(ours), "all": round(line["total"])}


def parse():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%").split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--logs", default="")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in CONTENDERS]
    if unknown:
        parser.error(f"no such contender: {', '.join(unknown)}")
    return options


def can_run(build, name):
    """Open MPI's component is a contender only if it was built."""
    component = os.path.join(build.directory, "lib", "openmpi", "mca_pml_livebtl.so")
    if CONTENDERS[name][0] is not OVER_OMPI or os.path.exists(component):
        return True
    print(f"{name} is left out: this build has no component of Open MPI (LIVEBTL_OMPI)", flush=True)
    return False


def compare(options, numbers):
    """Counts and judges; returns whether nothing failed. Lowers `numbers` if that is wanted."""
    build, good = Build(options.build), True
    logs = options.logs or os.path.join(build.directory, "instructions-logs")
    for name in options.names or list(numbers):
        if not can_run(build, name):
            continue
        counted = count(build, logs, name)
        print(f"{name}: {counted['ours']} instructions a message in livebtl, {counted['all']} in all", flush=True)
        if options.update:
            numbers[name] = lowered(numbers.get(name), counted)
        for failed, text in verdict(name, numbers.get(name), counted):
            print(("FAILED: " if failed else "") + text, flush=True)
            good = good and not failed
    return good


def main():
    options = parse()
    exit_on_sigterm()
    with open(FILE) as file:
        document = json.load(file)
    try:
        now = circumstances(Build(options.build))
        if now != document["counted_with"]:
            print(f"skipped: the numbers were counted with {document['counted_with']}, and this is {now}")
            return SKIPPED
        check(document["instructions"] or options.names, f"{FILE} has no numbers")
        good = compare(options, document["instructions"])
    except Failed as failure:
        print(f"FAILED: {failure}")
        return 1
    if options.update:
        with open(FILE, "w") as file:
            file.write(json.dumps(document, indent=2) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
