# SPDX-License-Identifier: BSD-3-Clause
"""Counts of instructions that may only fall: how each count that a run can have is judged, and callgrind's files."""
import os
import tempfile
import unittest

from bench.side_by_side import instructions, ratchet
from tests.harness.waiting import Failed

HELD = {"ours": 1000, "all": 2000}
BLOCK = """ob=(1) /usr/lib/libmpi.so.40
fl=(1) send.c
fn=(1) MPI_Send
10 {stock}
cob=(2) /usr/lib/liblivebtl.so.0
cfi=(2) ports.cc
calls=1 20
11 999999
ob=(2)
fl=(2)
20 {ours}
"""


def verdicts(ours, everything=2000, held=HELD):
    return ratchet.verdict("x", held, {"ours": ours, "all": everything})


class Verdict(unittest.TestCase):
    def test_noise_is_no_change(self):
        for ours in (970, 1000, 1010):
            self.assertEqual(verdicts(ours), [])

    def test_more_fails_and_says_how_much(self):
        (failed, text), = verdicts(1011)
        self.assertTrue(failed)
        self.assertIn("from 1000 to 1011", text)

    def test_all_that_runs_is_held_too(self):
        (failed, text), = verdicts(1000, 2021)
        self.assertTrue(failed)
        self.assertIn("all has gone up", text)

    def test_less_asks_for_the_new_number_and_does_not_fail(self):
        (failed, text), = verdicts(969)
        self.assertFalse(failed)
        self.assertIn("--update", text)

    def test_one_without_a_number_fails(self):
        self.assertTrue(verdicts(1, held=None)[0][0])


class Update(unittest.TestCase):
    def test_numbers_are_lowered_and_never_raised(self):
        self.assertEqual(ratchet.lowered(HELD, {"ours": 900, "all": 2100}), {"ours": 900, "all": 2000})

    def test_a_new_one_is_added(self):
        self.assertEqual(ratchet.lowered(None, HELD), HELD)


class Blocks(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def write(self, rank, block, stock, ours):
        with open(os.path.join(self.directory.name, f"callgrind.{rank}.{block}"), "w") as file:
            file.write(BLOCK.format(stock=stock, ours=ours))

    def test_the_cheapest_counts_and_what_was_before_the_first_does_not(self):
        messages = 2 * instructions.BLOCK_ROUNDS
        for rank in (100, 101):
            self.write(rank, 1, 1, 0)
            self.write(rank, 2, 10 * messages, 7 * messages)
            self.write(rank, 3, 5 * messages, 6 * messages)
        counted = instructions.of_cheapest_block(self.directory.name, 2)
        self.assertEqual(counted["total"], 22)
        self.assertEqual(counted["libraries"], {"libmpi.so.40": 10, "liblivebtl.so.0": 12})
        self.assertEqual(counted["files"], {"ports.cc": 12})

    def test_a_rank_whose_block_is_missing_is_told(self):
        self.write(100, 2, 1, 1)
        with self.assertRaises(Failed):
            instructions.of_cheapest_block(self.directory.name, 2)


if __name__ == "__main__":
    unittest.main()
