# SPDX-License-Identifier: BSD-3-Clause
"""scripts/testlib/ctest_report.py on the file that ctest itself writes, for each way in which a test can end."""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
REPORT = os.path.join(ROOT, "scripts/testlib/ctest_report.py")
TESTS = """\
add_test(good true)
add_test(bad sh -c "echo from bad; echo a.cc:7: ERROR: no; exit 1")
add_test(by_text sh -c "echo 'skipped: no device'")
set_tests_properties(by_text PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
add_test(by_code sh -c "echo 'skipped: no tool'; exit 77")
set_tests_properties(by_code PROPERTIES SKIP_RETURN_CODE 77)
add_test(without_reason sh -c "exit 77")
set_tests_properties(without_reason PROPERTIES SKIP_RETURN_CODE 77)
add_test(not_there ./no/such/program)
"""


class Report(unittest.TestCase):
    def test_each_end(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "CTestTestfile.cmake"), "w", encoding="utf-8") as file:
                file.write(TESTS)
            junit = os.path.join(folder, "junit.xml")
            subprocess.run(["ctest", "--test-dir", folder, "--output-junit", junit], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
            said = subprocess.run([sys.executable, REPORT, junit], stdout=subprocess.PIPE, text=True, check=True).stdout
        lines = said.splitlines()
        self.assertEqual(lines[-1], "1 3 bad (a.cc:7: ERROR: no), without_reason, not_there")
        self.assertIn("by_text: skipped: no device", lines)
        self.assertIn("by_code: skipped: no tool", lines)
        self.assertIn("from bad", lines)


if __name__ == "__main__":
    unittest.main()
