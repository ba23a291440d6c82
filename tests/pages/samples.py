# SPDX-License-Identifier: BSD-3-Clause
"""The samples in README.md, docs/ and the manual are what btlctl prints: each is run against a real MPI job and compared.

A sample is a line that begins with "$ btlctl", "$ btlperf" or "$ livebtl-run" in a block of code, and the lines that follow it. One
without such lines is an example of what to type, and is not run. In what is expected a number stands for any number, a size
for any size, an id for any id, node1 for this machine; "..." for anything, and a line of it for any lines. What is
expected must be found line by line, in that order, in what is printed.

usage: scripts/python -m tests.pages.samples --build DIR
Exit code 77: there is no Open MPI here.
"""
import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

from tests.harness.job import Build, MpiJob
from tests.harness.waiting import Failed, check

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOKENS = [(r"\.\.\.", ".*"),
          (r"0x[0-9a-f]+", "0x[0-9a-f]+"),
          (r"ompi-[0-9a-f]+", r"\S+"),
          (r"\b[0-9a-f]{16}\b", "[0-9a-f]{16}"),
          (r"\bnode1\b", r"\S+"),
          (r"\broot\b", r"\S+"),
          (r"[0-9]+(\.[0-9]+)? (B|KiB|MiB|GiB)(/s)?", r"[0-9]+(\.[0-9]+)? (B|KiB|MiB|GiB)(/s)?"),
          (r"[0-9]+(\.[0-9]+)?", r"[0-9]+(\.[0-9]+)?"),
          (r"\s+", r"\s+")]
WHICH = re.compile("|".join(f"(?P<t{i}>{token})" for i, (token, _) in enumerate(TOKENS)))
# What each file's samples leave behind is taken back, so that they may stand in any order.
RESTORE = [("add", "sm"), ("add", "tcp")]


class Sample:
    def __init__(self, path, number, command):
        self.where, self.command, self.expected = f"{os.path.relpath(path, ROOT)}:{number}", command, []


def blocks_in(lines):
    """(number of the first line, lines) of each block of code."""
    inside, begin, block = False, 0, []
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            if inside:
                yield begin, block
            inside, begin, block = not inside, number + 1, []
        elif inside:
            block.append(line)


def samples_in(path):
    samples = []
    with open(path) as file:
        for begin, block in blocks_in(file.read().splitlines()):
            current = None
            for number, line in enumerate(block, begin):
                if line.startswith("$ "):
                    current = Sample(path, number, line[2:]) if re.match(r"\$ (btlctl|btlperf|livebtl-run)\b", line) else None
                    samples += [current] if current else []
                elif current:
                    current.expected.append(line)
    return [sample for sample in samples if any(sample.expected)]


def pattern_of(line):
    """A regular expression for what may be printed in the place of this line."""
    pattern, at = "", 0
    for match in WHICH.finditer(line):
        kind = next(i for i in range(len(TOKENS)) if match.group(f"t{i}") is not None)
        pattern += re.escape(line[at:match.start()]) + TOKENS[kind][1]
        at = match.end()
    return re.compile(pattern + re.escape(line[at:]) + r"\s*")


def difference(expected, printed):
    """The first expected line that is not there, or a printed one that is in no place of them; None: all is well."""
    at, loose = 0, False
    for line in expected:
        if line.strip() == "...":
            loose = True
            continue
        pattern = pattern_of(line)
        until = len(printed) if loose else min(at + 1, len(printed))
        found = next((i for i in range(at, until) if pattern.fullmatch(printed[i])), None)
        if found is None:
            return f"expected: {line!r}; printed: {printed[at] if at < len(printed) else 'nothing more'!r}"
        at, loose = found + 1, False
    return None if loose or at == len(printed) else f"printed beyond what is expected: {printed[at]!r}"


def run(job, build, directory, command):
    words = shlex.split(command.replace("./program", build.program("stream")))
    words[0] = os.path.join(build.directory, "bin", words[0])
    environment = dict(job.environment, NO_COLOR="1", COLUMNS="200")
    done = subprocess.run(words, cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300)
    printed = done.stdout.replace(build.program("stream"), "./program")
    return [line.rstrip() for line in printed.rstrip("\n").split("\n")]


def check_file(job, build, path):
    """Complaints about the samples of a file, and how many there are."""
    complaints, samples = [], samples_in(path)
    with tempfile.TemporaryDirectory() as directory:
        for sample in samples:
            printed = run(job, build, directory, sample.command)
            wrong = difference(sample.expected, printed)
            if wrong:
                complaints.append(f"{sample.where}: {sample.command}\n    {wrong}")
        for words in RESTORE if samples else ():
            run(job, build, directory, "btlctl " + " ".join(words))
    return complaints, len(samples)


def check_completion(job, build):
    """Transports, job and node of a job that stands still: completion asks none of its processes."""
    pids = list(job.rank_pids().values())
    check(len(pids) == job.ranks, f"the ranks are not known: {pids}")
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        # Open MPI 4's jobs are named ompi-..., those of PMIx's launchers pmix-...
        for words, wanted in (("switch ''", ["sm", "tcp"]), ("switch sm t", ["tcp"]), ("--job ''", [("ompi-", "pmix-")]),
                              ("remove --scope node:", ["node:"])):
            printed = run(job, build, job.logs, f"btlctl __complete {words}")
            for word in wanted:
                check(any(line.startswith(word) for line in printed), f"__complete {words} offers no {word}: {printed}")
            check(not any("btlctl:" in line for line in printed), f"__complete {words} complains: {printed}")
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def check_itself():
    """The comparison finds what differs."""
    sample = ["rank 0 on node1  sm:3", "...", "done (4 processes, 6 pairs moved, 73.1 ms)"]
    same = ["rank 2 on vm  sm:14", "x", "y", "done (64 processes, 7 pairs moved, 2 ms)"]
    check(difference(sample, same) is None, f"equal texts differ: {difference(sample, same)}")
    for wrong in (same[:-1], same + ["more"], ["rank 2 on vm  tcp:14"] + same[1:], ["rank on vm  sm:14"] + same[1:]):
        check(difference(sample, wrong) is not None, f"not found out: {wrong}")


def files():
    yield os.path.join(ROOT, "README.md")
    for folder in ("docs", "docs/man"):
        for name in sorted(os.listdir(os.path.join(ROOT, folder))):
            if name.endswith((".md", ".scd")):
                yield os.path.join(ROOT, folder, name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--only", nargs="*", default=[], help="parts of files' names")
    options = parser.parse_args()
    if not shutil.which("mpirun"):
        print("samples: there is no mpirun here")
        return 77
    check_itself()
    build = Build(options.build)
    complaints, count = [], 0
    logs = os.path.join(ROOT, "build", "test-logs", "samples")
    with MpiJob(build, logs, "stream", 4) as job:
        job.wait_ready()
        run(job, build, logs, "btlctl switch sm tcp")  # a page of history
        run(job, build, logs, "btlctl switch tcp sm")
        run(job, build, logs, "btlctl add tcp")  # no rule is left
        for path in files():
            if options.only and not any(part in path for part in options.only):
                continue
            wrong, checked = check_file(job, build, path)
            complaints += wrong
            count += checked
        check_completion(job, build)
        job.check_running()
    for complaint in complaints:
        print(complaint)
    print(f"samples: {count - len(complaints)} of {count} are what is printed")
    return 0 if count and not complaints else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(f"samples: {failure}")
