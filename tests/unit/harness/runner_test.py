# SPDX-License-Identifier: BSD-3-Clause
"""The runner of scenarios: what it prints for each way in which one can end, its last line and its exit code."""
import contextlib
import io
import re
import unittest

from tests.harness import runner

SAMPLE = "unit/harness/sample"


def run(*arguments):
    """(exit code, lines of output without times)"""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        code = runner.run(SAMPLE, runner.parser("sample", "").parse_args(arguments))
    return code, re.sub(r" \(\d+\.\d s\)", "", output.getvalue()).splitlines()


class Runner(unittest.TestCase):
    def test_every_end(self):
        code, lines = run()
        self.assertEqual(code, 1)
        for line in ("ok   passes: given a context", "FAIL fails: it is wrong", "again starts-late: not all are there",
                     "ok   starts-late: launch 3", "FAIL never-starts: none is there", "skip needs-root: needs root",
                     "open open: not written yet", "FAIL open-but-passes: [XPASS(strict)] is written by now", "ok   made-here: here",
                     "ok   made-there: there"):
            self.assertIn(line, lines)
        self.assertIn("FAIL breaks: Traceback (most recent call last):", lines)
        self.assertEqual([line.partition(":")[0] for line in lines if line.startswith("again ")],
                         2 * ["again starts-late"] + 3 * ["again never-starts"])
        self.assertEqual(lines[-1], f"{SAMPLE}: 4 passed, 4 failed")

    def test_those_that_failed_last(self):
        run()
        self.assertEqual(run("--lf")[1][-1], f"{SAMPLE}: 0 passed, 4 failed")

    def test_chosen_by_parts_of_names(self):
        self.assertEqual(run("--only", "passes", "made"), (1, run("-k", "passes or made")[1]))
        self.assertEqual(run("--only", "here"), (0, ["ok   made-here: here", "ok   made-there: there", f"{SAMPLE}: 2 passed, 0 failed"]))

    def test_nothing_that_ran_is_a_failure(self):
        for nothing in ("no-such-name", "needs-root"):
            code, lines = run("--only", nothing)
            self.assertEqual((code, lines[-1]), (1, f"{SAMPLE}: 0 passed, 0 failed"))

    def test_a_wrong_expression_has_no_count(self):
        code, lines = run("-k", "a and")
        self.assertEqual((code, lines), (4, []))

    def test_the_list(self):
        code, lines = run("--list", "--only", "open")
        self.assertEqual((code, lines), (0, ["open", "open-but-passes"]))


if __name__ == "__main__":
    unittest.main()
