# SPDX-License-Identifier: BSD-3-Clause
"""What a soak has done so far: a file of JSON lines, one a block. Blocks of one commit that follow each other and have passed
become one, so that the file stays short and is kept with the sources. Blocks of other commits count too: the totals say of how
many."""
import fcntl
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
        self.blocks = self._read()

    def _read(self):
        lines = self.path.read_text().splitlines() if self.path.exists() else ()
        return [Block(**json.loads(line)) for line in lines]

    def append(self, block):
        """Others may record at the same time."""
        with open(self.path.with_suffix(".lock"), "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.blocks = joined([*self._read(), block])
            new = self.path.with_suffix(".new")
            with open(new, "w", encoding="utf-8") as file:
                file.writelines(json.dumps(asdict(each), sort_keys=True) + "\n" for each in self.blocks)
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, self.path)

    def next(self, first):
        """The number behind all blocks, at least `first`."""
        return max([first] + [block.end for block in self.blocks])

    def passed(self):
        return [block for block in self.blocks if block.passed]

    def failed(self):
        return [block for block in self.blocks if not block.passed]

    def done(self):
        """Numbers that have passed, each counted once."""
        total, end = 0, 0
        for block in sorted(self.passed(), key=lambda each: each.first):
            total += max(0, block.end - max(end, block.first))
            end = max(end, block.end)
        return total

    def kinds(self):
        return sum((Counter(block.kinds) for block in self.passed()), Counter())

    def commits(self):
        return Counter({commit: sum(block.count for block in self.passed() if block.commit == commit)
                        for commit in dict.fromkeys(block.commit for block in self.blocks)})
