# SPDX-License-Identifier: BSD-3-Clause
"""The installed systemd units, as judged by systemd-analyze: each loads without a complaint, and the exporter's is
confined. If systemd-analyze is missing, or cannot check a unit without a running systemd, the exit code is 77
(skipped)."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = sys.argv.pop() if len(sys.argv) > 1 else ""
EXPORTER = "livebtl-exporter.service"
# From 0 (confined) to 10, as systemd-analyze counts. What the exporter needs (root, /tmp, the network) makes 2.0 of it.
EXPOSURE_MAX = 2.5


def analyze(*words):
    done = subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


class Units(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        share = os.path.join(os.path.dirname(__file__), "../../../share/systemd")
        for path in glob.glob(os.path.join(BUILD, "livebtl-*.service")) + glob.glob(os.path.join(share, "*.timer")):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            # The programs are not installed here: use those of the build, so that their names are checked as well.
            text = re.sub(r"^ExecStart=\S*/", f"ExecStart={BUILD}/bin/", text, flags=re.MULTILINE)
            self.write(os.path.basename(path), text)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        with open(os.path.join(self.folder.name, name), "w", encoding="utf-8") as file:
            file.write(text)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def complaints(self, name):
        """Complaints about one of our units; the machine's own do not concern us."""
        _, text = analyze("verify", "--man=no", "--recursive-errors=no", self.path(name))
        return [line for line in text.splitlines() if "livebtl" in line]

    def test_each_is_loaded_without_a_complaint(self):
        names = [name.replace("@.", "@job.") for name in sorted(os.listdir(self.folder.name))]
        self.assertIn(EXPORTER, names)
        for name in names:
            self.assertEqual(self.complaints(name), [], name)

    def test_a_complaint_would_be_seen(self):
        with open(self.path(EXPORTER), encoding="utf-8") as file:
            text = file.read()
        self.write(EXPORTER, text.replace("ProtectClock=yes", "ProtectClok=yes").replace("/btlctl", "/no-btlctl"))
        said = "\n".join(self.complaints(EXPORTER))
        self.assertIn("ProtectClok", said)
        self.assertIn("no-btlctl", said)

    def test_the_exporter_is_confined(self):
        code, text = analyze("security", "--offline=yes", "--no-pager", f"--threshold={int(EXPOSURE_MAX * 10)}",
                             self.path(EXPORTER))
        self.assertEqual(code, 0, text)


if __name__ == "__main__":
    if shutil.which("systemd-analyze") is None or analyze("verify", "--help")[0] != 0:
        print("skipped: systemd-analyze is missing; Debian's package systemd has it")
        sys.exit(77)
    unittest.main()
