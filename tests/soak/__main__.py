# SPDX-License-Identifier: BSD-3-Clause
"""scripts/soak"""
import argparse
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

from .record import Block, Record
from .sources import SOURCES

BLOCK_SECONDS = 4 * 3600  # what takes so long never ends, and has failed


def commit_of():
    """The last one that changed more than what is recorded here, marked if the checkout has changes; what was built may be
    older."""
    but_record = ("--", ":/", ":(top,exclude)tests/soak/record")

    def git(*words):
        done = subprocess.run(["git", *words, *but_record], text=True, capture_output=True, check=False)
        return done.stdout.strip()
    commit = git("log", "-1", "--abbrev=12", "--format=%h") or "unknown"
    return commit + ("-dirty" if git("status", "--porcelain", "--untracked-files=no") else "")


class Soak:
    """One source's blocks, on all processors or one after the other; the main thread alone has the record."""

    def __init__(self, source, options):
        self.source, self.options = source, options
        self.record = Record(options.record / f"{source.name}.jsonl")
        self.goal = options.to or source.goal
        self.commit, self.begun = commit_of(), time.monotonic()
        self.next = options.first or self.record.next(source.first)
        self.index = self.next // 1000  # of the scenarios, which are run in turns
        self.before, self.under_way = self.record.done(), 0
        self.ended, self.failed = False, 0

    def run_block(self, first, index):
        """In a session of its own: Ctrl-C is this program's, and what runs is finished."""
        command = self.source.command(self.options.build, self.options.logs, first, index)
        limited = ["timeout", "--kill-after=60", str(BLOCK_SECONDS), *map(str, command)]
        done = subprocess.run(limited, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              start_new_session=True, check=False)
        told = self.source.read(done.stdout)
        passed = done.returncode == 0 and told.count > 0
        return Block(self.commit, first, told.count, passed, told.kinds, "" if passed else done.stdout[-4000:])

    def take(self, block):
        if self.ended and not block.passed:
            return  # it was cut off
        self.record.append(block)
        if not block.passed:
            self.failed += 1
            print(f"FAILED: {self.source.name} from {block.first} on\n{block.failure}", flush=True)
        rate = (self.record.done() - self.before) / (time.monotonic() - self.begun)
        print(f"{self.record.done():,} of {self.goal:,} {self.source.name}, {self.failed} blocks failed, "
              f"{rate:.0f} a second", flush=True)

    def wants_more(self):
        minutes = (time.monotonic() - self.begun) / 60
        return not self.ended and minutes < self.options.minutes and self.record.done() + self.under_way < self.goal

    def start(self, pool):
        if not self.source.parallel:
            self.next = max(self.options.first or 0, self.record.next(self.source.first))  # a block counts what it has done
        self.under_way += self.source.block
        block = pool.submit(self.run_block, self.next, self.index)
        self.next, self.index = self.next + self.source.block, self.index + 1
        return block

    def run(self):
        running = set()
        processors = len(os.sched_getaffinity(0)) if self.source.parallel else 1
        with ThreadPoolExecutor(processors) as pool:
            while running or self.wants_more():
                while len(running) < processors and self.wants_more():
                    running.add(self.start(pool))
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for each in done:
                    self.under_way -= self.source.block
                    self.take(each.result())
        return 1 if self.failed else 0


def report(directory):
    for source in SOURCES.values():
        record = Record(directory / f"{source.name}.jsonl")
        failed = record.failed()
        print(f"{source.name}: {record.done():,} of {source.goal:,}, {len(failed)} blocks failed")
        for commit, count in record.commits().items():
            print(f"  {count:,} at {commit}")
        for kind, count in sorted(record.kinds().items()):
            print(f"    {kind} {count:,}")
    return 0


def parse():
    parser = argparse.ArgumentParser(prog="scripts/soak", description="Runs what takes hours, in blocks that are recorded "
                                     "as they end: a later call goes on where the last one ended.")
    parser.add_argument("what", choices=[*SOURCES, "report"])
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--record", type=Path, default=Path("tests/soak/record"), help="directory of the records (%(default)s)")
    parser.add_argument("--to", type=int, metavar="N", help="ends when so many are recorded (seeds 10,000,000; ladders and "
                        "switches 1,000,000)")
    parser.add_argument("--first", type=int, metavar="N", help="begins with that number, as where another machine has the "
                        "numbers before (default: behind all that are recorded)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begins no block after so many minutes")
    options = parser.parse_args()
    options.logs = Path("build/soak/logs")
    return options


def main():
    options = parse()
    if options.what == "report":
        return report(options.record)
    soak = Soak(SOURCES[options.what], options)

    def end(*_):
        soak.ended = True
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)  # the blocks that run are finished and recorded
    return soak.run()


if __name__ == "__main__":
    sys.exit(main())
