# SPDX-License-Identifier: BSD-3-Clause
"""What a soak has done so far: a file of JSON lines, one a block, to which each run appends. Blocks of other commits count
too: the totals say of how many."""
import json
from collections import Counter
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Block:
    commit: str
    first: int    # number of its first seed or switch
    count: int
    passed: bool
    kinds: dict = field(default_factory=dict)  # how often what has happened: faults, switches of a scenario
    failure: str = ""                          # what was printed


class Record:
    def __init__(self, path):
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text().splitlines() if path.exists() else ()
        self.blocks = [Block(**json.loads(line)) for line in lines]

    def append(self, block):
        self.blocks.append(block)
        with self.path.open("a") as file:
            file.write(json.dumps(asdict(block)) + "\n")

    def next(self, first):
        """The number behind all blocks, at least `first`."""
        return max([first] + [block.first + block.count for block in self.blocks])

    def done(self):
        return sum(block.count for block in self.blocks)

    def failed(self):
        return [block for block in self.blocks if not block.passed]

    def kinds(self):
        return sum((Counter(block.kinds) for block in self.blocks), Counter())

    def commits(self):
        return Counter({commit: sum(block.count for block in self.blocks if block.commit == commit)
                        for commit in dict.fromkeys(block.commit for block in self.blocks)})
