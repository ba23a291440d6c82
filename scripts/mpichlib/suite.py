# SPDX-License-Identifier: BSD-3-Clause
"""One of MPICH's test suites, run by MPICH's own runner; what came of it."""
import collections
import json
import os
import re
import signal
import subprocess
import time

from failed import Failed

# "ok  - ./sendrecv1 2 # time=0.5", "not ok ...", "ok ... # SKIP reason"
LINE = re.compile(r"(ok|not ok) *\d* - (?:\./)?(.*?)(?: +# *(SKIP|TODO|time).*)?$")
SLOWER = 5  # than a machine with a processor for each rank, on which the runner's limits are made

Outcome = collections.namedtuple("Outcome", "name state")  # state: "ok", "not ok", "left out" (by MPICH itself)


def memory_gib():
    with open("/proc/meminfo", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("MemAvailable")) >> 20


class Suite:
    """name: a directory of MPICH's tests ("pt2pt"). parts: of lines in its list; none: all of them."""

    def __init__(self, mpich, name, parts, logs):
        self.mpich = mpich
        self.name = name
        self.directory = os.path.join(mpich.suites, name)
        self.results = os.path.join(logs, f"{name}.tap")
        self.log = os.path.join(logs, f"{name}.log")
        self.counts = os.path.join(logs, f"{name}.switches")
        self.list = os.path.join(logs, f"{name}.list")
        os.makedirs(logs, exist_ok=True)
        with open(os.path.join(self.directory, "testlist"), encoding="utf-8") as file:
            lines = [line for line in file if line.strip() and not line.startswith("#")]
        self.lines = [line for line in lines if not parts or any(part in line for part in parts)]

    def run(self, environment):
        """environment: the provider's. Shows what runs. Returns the outcomes, of all that the runner came to."""
        for path in (self.results, self.counts):
            with open(path, "w", encoding="utf-8"):
                pass
        with open(self.list, "w", encoding="utf-8") as file:
            file.writelines(self.lines)
        # Relative: the runner looks for options within its arguments, and takes a part of a path for one.
        def place(path):
            return os.path.relpath(path, self.directory)
        switched = os.path.join(os.path.dirname(os.path.abspath(__file__)), "switched")
        command = ["perl", "../runtests", "-srcdir=.", f"-tests={place(self.list)}", f"-tapfile={place(self.results)}",
                   f"-mpiexec={place(switched)}"]
        settings = {"MPITEST_TIMEOUT_MULTIPLIER": str(SLOWER), "MPITEST_CLEANUP": "0",
                    "MPITEST_MEMORY_TOTAL": str(memory_gib()), "SWITCHED_EXEC": self.mpich.mpiexec,
                    "SWITCHED_PRELOAD": self.mpich.await_switch,
                    "SWITCHED_COUNTS": self.counts, "LD_LIBRARY_PATH": os.path.join(self.mpich.prefix, "lib")}
        with open(self.log, "w", encoding="utf-8") as log:
            runner = subprocess.Popen(command, cwd=self.directory, stdout=log, stderr=subprocess.STDOUT,
                                      stdin=subprocess.DEVNULL, env=os.environ | environment | settings,
                                      start_new_session=True)
            try:
                self._watch(runner)
            finally:
                end_all(runner)
        if runner.returncode != 0:  # not of tests that failed: the runner's own
            raise Failed(f"{self.name}: MPICH's runner ended with code {runner.returncode}; see {self.log}")
        return self.outcomes()

    def _watch(self, runner):
        shown = 0
        while runner.poll() is None:
            time.sleep(1)
            ran = self.ran()
            for each in ran[shown:]:
                shown += 1
                switches = f": {each['done']} switches" if "done" in each else ""
                print(f"{self.name} {shown} of {len(self.lines)}: {each['program']}{switches}", flush=True)

    def ran(self):
        """What `switched` has told so far, one for each program."""
        with open(self.counts, encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.endswith("\n")]

    def outcomes(self):
        with open(self.results, encoding="utf-8", errors="replace") as file:
            found = [LINE.match(line.rstrip("\n")) for line in file]
        return [Outcome(match[2], "left out" if match[3] in ("SKIP", "TODO") else match[1]) for match in found if match]


def end_all(runner):
    """The runner, and what it has started: `switched` ends its job and cleans up."""
    if runner.poll() is None:
        os.killpg(runner.pid, signal.SIGTERM)
        runner.wait()
