#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/testlib/ctest_report.py -- the end of each failed test's output, from ctest's JUnit file.

The last line is "GOOD BAD NAME...": how many passed and failed, and the names of those that failed.

A test that skips itself says why in a line "skipped: REASON"; it counts as neither.

usage: ctest_report.py FILE [LINES]   LINES: how many of each failed test (default 60)
"""
import sys
import xml.etree.ElementTree as xml


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
        bad.append(case.get("name"))
        print(f"---- {case.get('name')} failed after {float(case.get('time') or 0):.0f} s; its last lines:")
        print("\n".join(output[-int(lines):]))
    print(good, len(bad), *bad)


if __name__ == "__main__":
    main(*sys.argv[1:])
