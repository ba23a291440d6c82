#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/testlib/ctest_report.py -- the end of each failed test's output, from ctest's JUnit file.

The last line is "GOOD BAD NAME (ERROR), ...": how many passed and failed, and of each that failed the first line of its
output that names an error, where there is one: the end of a long log may be all that anybody keeps.

A test that skips itself says why in a line "skipped: REASON"; it counts as neither.

usage: ctest_report.py FILE [LINES]   LINES: how many of each failed test (default 60)
"""
import os
import re
import sys
import xml.etree.ElementTree as xml

ERROR = re.compile(r": (?:FATAL )?ERROR: |^FAILED: |Sanitizer: |: runtime error: ")  # doctest's, ours, the sanitizers'


def named(case, output):
    """The test's name, with the first error that it told of."""
    for line in output:
        if ERROR.search(line):
            return f"{case.get('name')} ({line.strip().replace(os.getcwd() + os.sep, '')[:160]})"
    return case.get("name")


def main(path, lines="60"):
    good = 0
    bad = []
    for case in xml.parse(path).getroot().iter("testcase"):
        if case.get("status") == "run" and case.find("failure") is None:
            good += 1
            continue
        output = (case.findtext("system-out") or "").splitlines()
        reasons = [line for line in output if line.startswith("skipped: ")]
        skipped = case.find("skipped")
        if skipped is not None and skipped.get("message", "").startswith("SKIP_") and reasons:
            print(f"{case.get('name')}: {reasons[0]}")
            continue
        bad.append(named(case, output))
        print(f"---- {case.get('name')} failed after {float(case.get('time') or 0):.0f} s; its last lines:")
        print("\n".join(output[-int(lines):]))
    print(good, len(bad), ", ".join(bad))


if __name__ == "__main__":
    main(*sys.argv[1:])
