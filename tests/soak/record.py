# SPDX-License-Identifier: BSD-3-Clause
"""What a soak has done so far: a file of JSON lines, one a block. Blocks of one commit that follow each other and have passed
become one, so that the file stays short and is kept with the sources. Blocks of other commits count too: the totals say of how
many."""
import json
import os
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

    @property
    def end(self):
        return self.first + self.count

    def goes_on_with(self, other):
        return self.passed and other.passed and self.commit == other.commit and self.end == other.first

    def with_next(self, other):
        return Block(self.commit, self.first, self.count + other.count, True, dict(Counter(self.kinds) + Counter(other.kinds)))


def joined(blocks):
    """In the order of their numbers, each with those that go on with it."""
    found = []
    for block in sorted(blocks, key=lambda each: each.first):
        if found and found[-1].goes_on_with(block):
            found[-1] = found[-1].with_next(block)
        else:
            found.append(block)
    return found


class Record:
    def __init__(self, path):
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text().splitlines() if path.exists() else ()
        self.blocks = [Block(**json.loads(line)) for line in lines]

    def append(self, block):
        self.blocks = joined([*self.blocks, block])
        new = self.path.with_suffix(".new")
        new.write_text("".join(json.dumps(asdict(each), sort_keys=True) + "\n" for each in self.blocks))
        os.replace(new, self.path)

    def next(self, first):
        """The number behind all blocks, at least `first`."""
        return max([first] + [block.end for block in self.blocks])

    def done(self):
        return sum(block.count for block in self.blocks)

    def failed(self):
        return [block for block in self.blocks if not block.passed]

    def kinds(self):
        return sum((Counter(block.kinds) for block in self.blocks), Counter())

    def commits(self):
        return Counter({commit: sum(block.count for block in self.blocks if block.commit == commit)
                        for commit in dict.fromkeys(block.commit for block in self.blocks)})
