# SPDX-License-Identifier: BSD-3-Clause
"""Instructions per message, by library and by file, as counted by callgrind: a loaded machine does not change them."""
import collections
import glob
import os
import re
import shutil
import subprocess

from tests.harness.commands import ROOT
from tests.harness.waiting import Failed, check

from .contenders import CONTENDERS, PerfJob

BLOCK_ROUNDS = 64  # of bench_mpi counted
# Open MPI checks its events every 10 ms by the processor's own counter, which cannot be stopped: on a busy machine
# under callgrind, at every eighth poll. Here it does so once a minute.
SELDOM = ["--mca", "mpi_event_tick_rate", "60000000"]
NAME = re.compile(r"\((\d+)\)(?: (.*))?")


class Profile:
    """Self cost in one callgrind file, by (library, source file); the cost of a call counts for the callee."""

    def __init__(self, path):
        self.cost = collections.Counter()
        self._names = {"ob": {}, "f": {}}
        self._object = self._file = ""
        skip = False  # the line after calls= is the inclusive cost of the callee
        with open(path) as file:
            for line in file:
                if skip:
                    skip = False
                elif line.startswith("calls="):
                    skip = True
                elif "=" in line:
                    self._name(*line.rstrip().split("=", 1))
                elif line[:1] in "+-*0123456789" and len(line.split()) == 2:
                    self.cost[self._object, self._file] += int(line.split()[1])

    def _name(self, key, text):
        kind = "ob" if key in ("ob", "cob") else "f" if key in ("fl", "fi", "fe", "cfi", "cfl") else None
        found = NAME.fullmatch(text) if kind else None
        if not found:
            return
        name = self._names[kind].setdefault(found.group(1), found.group(2) or "")
        if key == "ob":
            self._object = os.path.basename(name)
        elif key in ("fl", "fi", "fe"):
            self._file = os.path.relpath(name, ROOT) if name.startswith(ROOT) else os.path.basename(name)


def add_up(paths, messages):
    """{"total", "libraries", "files" (only ours)}, each per message."""
    cost = collections.Counter()
    for path in paths:
        cost.update(Profile(path).cost)
    libraries, files = collections.Counter(), collections.Counter()
    for (library, file), count in cost.items():
        libraries[library] += count / messages
        if library.startswith("liblivebtl") or not library.startswith("lib"):
            files[file] += count / messages
    return {"total": sum(libraries.values()), "libraries": dict(libraries.most_common()),
            "files": dict(files.most_common())}


def callgrind(out):
    return ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}", "--collect-atstart=no"]


def of_cheapest_block(directory, ranks):
    """The same for the block in which least was done: in the others timers fired, Open MPI's and the agent's, and the
    more of them the longer a loaded machine takes for a block."""
    blocks = collections.defaultdict(list)
    for path in glob.glob(os.path.join(directory, "callgrind.*.*")):
        blocks[int(path.rpartition(".")[2])].append(path)
    blocks.pop(1, None)  # what came before the first block
    check(blocks and all(len(paths) == ranks for paths in blocks.values()), f"callgrind left no whole blocks in {directory}")
    return min((add_up(paths, 2 * BLOCK_ROUNDS) for paths in blocks.values()), key=lambda block: block["total"])


def of_contender(build, logs, name, size, rounds):
    """MPI_Send and MPI_Recv of one message, both ends together."""
    logs = os.path.join(logs, f"count-{name}-{size}")
    shutil.rmtree(logs, ignore_errors=True)
    options, environment = CONTENDERS[name]
    wrapper = [*callgrind(os.path.join(logs, "callgrind.%p")), "--toggle-collect=*counted_*", "--dump-before=*block_begins*"]
    job = PerfJob(build, logs, [*options, *SELDOM], environment, 2, [], wrapper)
    clock = os.path.join(build.directory, "bench", "libbench_stopped_clock.so")
    check(os.path.exists(clock), f"{clock} is not built")
    job.wrapper = ["env", f"LD_PRELOAD={clock}", *wrapper]
    job.words = ["counted", str(size), str(rounds), os.path.join(job.shared, "word")]
    with job:
        job.mpirun.wait(600)
        check(job.mpirun.returncode == 0, f"{name}: mpirun gave {job.mpirun.returncode}: {job.log_tail()}")
    return {"what": "instructions", "who": name, "bytes": size, **of_cheapest_block(logs, 2)}


def of_bare_transport(build, logs, size, frames):
    """A frame over sm with nothing above it: post() and progress()."""
    os.makedirs(logs, exist_ok=True)
    out = os.path.join(logs, f"callgrind-bare-{size}")
    ring = os.path.join(build.directory, "bin", "sm_ring_bench")
    command = [*callgrind(out), "--toggle-collect=*post_and_progress*", ring, "stream", str(frames), str(size)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    check(done.returncode == 0, f"sm_ring_bench: {done.stderr.strip()}")
    return {"what": "instructions", "who": "bare sm transport", "bytes": size, **add_up([out], frames)}


def of_verbs(build, logs, messages):
    """A message of 8 B through two engines over verbs on devices in memory, whose own share (tests/) is left out."""
    os.makedirs(logs, exist_ok=True)
    out = os.path.join(logs, "callgrind-verbs")
    command = [*callgrind(out), "--toggle-collect=*counted_messages*", os.path.join(build.directory, "bin", "verbs_engine_test"),
               "--test-case=counted messages over verbs"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False,
                          env=os.environ | {"LIVEBTL_TEST_MESSAGES": str(messages)})
    check(done.returncode == 0, f"verbs_engine_test: {(done.stdout + done.stderr).strip()[-500:]}")
    counted = add_up([out], messages)
    files = {file: count for file, count in counted["files"].items() if "tests/" not in file and "/" in file}
    parts = collections.Counter()
    for file, count in files.items():
        parts[file.rpartition("/")[0]] += count
    return {"what": "instructions", "who": "engine and verbs, without device", "bytes": 8, "total": sum(files.values()),
            "libraries": dict(parts.most_common()), "files": files}


def run(build, logs, rounds=2000, size=8):
    check(shutil.which("valgrind"), "valgrind is not installed: scripts/setup bench")
    lines = [of_bare_transport(build, logs, size, 20000), of_verbs(build, logs, rounds)]
    for line in lines:
        show(line)
    for name in ("livebtl-sm", "livebtl-ompi-sm", "vader", "ucx-sm"):
        try:
            lines.append(of_contender(build, logs, name, size, rounds))
            show(lines[-1])
        except Failed as failure:
            print(f"  {name}: not counted: {failure}", flush=True)
    return lines


def show(line):
    print(f"  {line['who']}, {line['bytes']} B: {line['total']:.0f} instructions a message, both ends", flush=True)
    for kind in ("libraries", "files"):
        cells = [f"{name} {count:.0f}" for name, count in line[kind].items() if count >= 1]
        print(f"      {kind}: {', '.join(cells)}", flush=True)
