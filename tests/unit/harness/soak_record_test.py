# SPDX-License-Identifier: BSD-3-Clause
"""tests/soak/record.py: blocks that end in any order, of several commits, passed or not."""
import json
import tempfile
import unittest
from pathlib import Path

from tests.soak.record import Block, Record


class Recorded(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "record" / "seeds.jsonl"

    def add(self, first, count=10, commit="a", passed=True, **kinds):
        Record(self.path).append(Block(commit, first, count, passed, kinds))

    def lines(self):
        return [(line["commit"], line["first"], line["count"]) for line in map(json.loads, self.path.read_text().splitlines())]

    def test_blocks_that_follow_each_other_become_one(self):
        self.add(11, drop=1)
        self.add(21, drop=2, leave=5)
        self.assertEqual(self.lines(), [("a", 11, 20)])
        self.add(1)
        self.assertEqual(self.lines(), [("a", 1, 30)])
        self.assertEqual(Record(self.path).kinds(), {"drop": 3, "leave": 5})

    def test_a_gap_stays_one(self):
        self.add(1)
        self.add(21)
        self.assertEqual(self.lines(), [("a", 1, 10), ("a", 21, 10)])
        self.assertEqual(Record(self.path).done(), 20)

    def test_each_commit_has_its_own(self):
        self.add(1)
        self.add(11, commit="b")
        self.add(21, commit="b")
        self.assertEqual(self.lines(), [("a", 1, 10), ("b", 11, 20)])
        self.assertEqual(Record(self.path).commits(), {"a": 10, "b": 20})

    def test_one_that_failed_stays_alone(self):
        self.add(1)
        self.add(11, passed=False)
        self.add(21)
        record = Record(self.path)
        self.assertEqual([block.first for block in record.failed()], [11])
        self.assertEqual(self.lines(), [("a", 1, 10), ("a", 11, 10), ("a", 21, 10)])
        self.assertEqual(record.done(), 20)

    def test_what_was_run_twice_counts_once(self):
        self.add(1, count=20)
        self.add(11, count=20, commit="b")
        self.add(12, count=3, commit="c")
        self.assertEqual(Record(self.path).done(), 30)

    def test_two_runs_keep_each_other_s_blocks(self):
        one, other = Record(self.path), Record(self.path)
        one.append(Block("a", 1, 10, True))
        other.append(Block("a", 101, 10, True))
        one.append(Block("a", 11, 10, True))
        self.assertEqual(self.lines(), [("a", 1, 20), ("a", 101, 10)])

    def test_a_later_call_goes_on_behind_all(self):
        self.assertEqual(Record(self.path).next(1), 1)
        self.add(1)
        self.add(21)
        self.assertEqual(Record(self.path).next(1), 31)


if __name__ == "__main__":
    unittest.main()
