# SPDX-License-Identifier: BSD-3-Clause
"""One of MPICH's test suites: MPICH's own runner runs its programs all in one go; they are judged one by one."""
import json
import os
import re
import signal
import subprocess
import time

import pytest

from tests.harness.commands import RELEASE
from tests.harness.waiting import Failed, check

from .source import MPICH

SUITES = ("pt2pt", "coll", "rma")
SWITCHED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "switched")
# "ok  - ./sendrecv1 2 # time=0.5", "not ok ...", "ok ... # SKIP reason"
LINE = re.compile(r"(ok|not ok) *\d* - (?:\./)?(.*?)(?: +# *(SKIP|TODO|time).*)?$")
SLOWER = 5  # than the machine that the runner's time limits are made for: one with a processor for each rank


def lines_of(suite):
    """The programs in a suite's list, each with its number of processes and its options; none before MPICH is built."""
    path = os.path.join(MPICH.suites, suite, "testlist")
    if not MPICH.is_built():
        return []
    with open(path, encoding="utf-8") as file:
        return [" ".join(line.split()) for line in file if line.strip() and not line.startswith("#")]


def memory_gib():
    with open("/proc/meminfo", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("MemAvailable")) >> 20


class Suite:
    """name: a directory of MPICH's tests. lines: selected from its list, in order. bare: a provider to run over instead of
    livebtl, or None."""

    def __init__(self, name, lines, bare):
        self.name, self.lines, self.bare = name, lines, bare
        self.directory = os.path.join(MPICH.suites, name)
        logs = os.path.join(MPICH.directory, "logs")
        os.makedirs(logs, exist_ok=True)
        self.results, self.log, self.counts, self.list = (os.path.join(logs, name + end) for end in (".tap", ".log", ".switches", ".list"))
        self.judged = None   # {line: [(state, name, report of `switched` or None)]}: a line may occur twice
        self.failure = None  # text of the runner's own failure

    def judge(self, line):
        """Judges one program; the first call runs them all. Returns how often it was switched."""
        state, name, told = self._outcomes()[line].pop(0)
        if state == "left out":
            pytest.skip("left out by MPICH itself")
        check(state != "not run", f"not run: MPICH's runner gives up after several time-outs; see {self.log}")
        check(state == "ok", f"{name}: not ok; see {self.log}")
        if self.bare:
            return "not switched"
        check(told, f"{name}: was run without `switched`; see {self.log}")
        check(not told["failed"], f"not switched: {'; '.join(told['failed'])}")
        check(told["done"], f"never switched: {told['no_job'] or 'it ended before the first switch was done'}")
        return f"{told['done']} switches"

    def judge_switches(self):
        """Judges all programs together: at least one must have been switched while it ran, not only before it began."""
        if self.bare or not self.lines:
            pytest.skip("nothing was switched")
        self._outcomes()
        ran = self._ran()
        under_way = sum(each["done"] > 1 for each in ran)
        check(under_way > 0, "no program was switched while it ran")
        return (f"{sum(each['done'] for each in ran)} switches, in {sum(each['done'] > 0 for each in ran)} of {len(ran)} programs "
                f"before they began, in {under_way} also while they ran")

    def _outcomes(self):
        if self.failure:
            raise Failed(self.failure)
        if self.judged is None:
            try:
                self._run()
            except Failed as failure:
                self.failure = str(failure)
                raise
            self.judged = self._read_outcomes()
        return self.judged

    def _environment(self):
        """NOLOCAL: otherwise MPICH itself carries what goes between processes of one node."""
        made = os.environ | {
            "MPIR_CVAR_NOLOCAL": "1", "FI_PROVIDER": self.bare or "livebtl", "MPITEST_TIMEOUT_MULTIPLIER": str(SLOWER),
            "MPITEST_CLEANUP": "0", "MPITEST_MEMORY_TOTAL": str(memory_gib()), "SWITCHED_EXEC": MPICH.mpiexec,
            "SWITCHED_PRELOAD": MPICH.await_switch, "SWITCHED_COUNTS": self.counts,
            "LD_LIBRARY_PATH": os.path.join(MPICH.prefix, "lib")}
        if not self.bare:
            made |= {"FI_PROVIDER_PATH": os.path.join(RELEASE, "lib"), "SWITCHED_BTLCTL": os.path.join(RELEASE, "bin", "btlctl")}
        return made

    def _run(self):
        for path in (self.results, self.counts):
            with open(path, "w", encoding="utf-8"):
                pass
        with open(self.list, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in self.lines)
        # Relative paths: the runner searches its arguments for options, and may take a part of a path for one.
        listed, results, switched = (os.path.relpath(path, self.directory) for path in (self.list, self.results, SWITCHED))
        command = ["perl", "../runtests", "-srcdir=.", f"-tests={listed}", f"-tapfile={results}", f"-mpiexec={switched}"]
        with open(self.log, "w", encoding="utf-8") as log:
            runner = subprocess.Popen(command, cwd=self.directory, stdout=log, stderr=subprocess.STDOUT,
                                      stdin=subprocess.DEVNULL, env=self._environment(), start_new_session=True)
            try:
                self._watch(runner)
            finally:
                end_all(runner)
        check(runner.returncode == 0,  # for the runner's own failures, not for programs that failed
              f"MPICH's runner ended with code {runner.returncode}; see {self.log}")

    def _watch(self, runner):
        """Shows what runs meanwhile, as the runner writes its results only at its end."""
        shown = 0
        while runner.poll() is None:
            time.sleep(1)
            for each in self._ran()[shown:]:
                shown += 1
                switches = f": {each['done']} switches" if "done" in each else ""
                print(f"{self.name} {shown} of {len(self.lines)}: {each['program']}{switches}", flush=True)

    def _ran(self):
        """The reports of `switched` so far, one for each program."""
        with open(self.counts, encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.endswith("\n")]

    def _read_outcomes(self):
        """The runner writes one outcome for each line, in order; `switched` reports those that were started."""
        with open(self.results, encoding="utf-8", errors="replace") as file:
            found = [match for match in (LINE.match(line.rstrip("\n")) for line in file) if match]
        ran, judged = self._ran(), {}
        for number, line in enumerate(self.lines):
            if number >= len(found):
                judged.setdefault(line, []).append(("not run", line, None))
                continue
            said, name, mark = found[number].groups()
            state = "left out" if mark in ("SKIP", "TODO") else said
            started = ran and "./" + name.split()[0] in ran[0]["program"].split()
            judged.setdefault(line, []).append((state, name, ran.pop(0) if started and state != "left out" else None))
        return judged


def end_all(runner):
    """Ends the runner and what it has started; `switched` ends its job and cleans up."""
    if runner.poll() is None:
        os.killpg(runner.pid, signal.SIGTERM)
        runner.wait()
