# SPDX-License-Identifier: BSD-3-Clause
"""What can be soaked: each turns a range of numbers into a command, and what the command prints into figures."""
import re
from dataclasses import dataclass

KINDS = re.compile(r"(\S+)=(\d+)")
LADDER_KINDS = re.compile(r"^ +(\D+?) +(\d+)$", re.MULTILINE)
SWITCHES = re.compile(r"^ok +(\S+) .*?: (\d+) switches ", re.MULTILINE)


@dataclass(frozen=True)
class Told:
    count: int  # seeds or switches that counted
    kinds: dict


class Seeds:
    """Whole jobs in virtual time, every fault of which is drawn from the seed."""
    name, goal, first, block, parallel = "seeds", 10_000_000, 1, 2_000, True

    def command(self, build, logs, first, index):
        return [build / "bin/livebtl-sim", "--first", str(first), "--seeds", str(self.block)]

    def read(self, text):
        faults = next((line for line in text.splitlines() if line.startswith("faults:")), "")
        return Told(self.block, {kind: int(count) for kind, count in KINDS.findall(faults)})


class Ladders:
    """The ladder's machines alone, by relays in part of the seeds."""
    name, goal, first, block, parallel = "ladders", 1_000_000, 1, 2_000, True

    def command(self, build, logs, first, index):
        return [build / "bin/ladder_seeds", str(first), str(self.block)]

    def read(self, text):
        return Told(self.block, {kind: int(count) for kind, count in LADDER_KINDS.findall(text)})


class Switches:
    """Real jobs of Open MPI, whose ranks check each byte that they receive; a switch counts when every pair that was active
    has sent over the new transport. One scenario after the other, so that sm, tcp and ofi are all left and entered."""
    name, goal, first, block, parallel = "switches", 1_000_000, 0, 5_000, False
    scenarios = ("storm-2", "several-ofi-storm-3", "stream-3 and not ofi", "ofi-shm-stream-3", "storm-4 and not ofi",
                 "ofi-tcp-ofi-rxm-storm-4", "onesided-3 and not ofi", "several-ofi-onesided-3")

    def command(self, build, logs, first, index):
        return ["tests/e2e/run", "--build", build, "--switches", str(self.block), "--logs", logs,
                "-k", self.scenarios[index % len(self.scenarios)]]

    def read(self, text):
        found = {name: int(count) for name, count in SWITCHES.findall(text)}
        return Told(sum(found.values()), found)


SOURCES = {source.name: source for source in (Seeds(), Ladders(), Switches())}
