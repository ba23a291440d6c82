# SPDX-License-Identifier: BSD-3-Clause
"""The alert rules and the dashboard in share/monitoring, against what `btlctl metrics` prints: Prometheus's own promtool
judges rules and text, and both name metrics that there are. Where promtool is missing the rest is checked, and the
end is 77 (skipped)."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
SHARE = os.path.join(ROOT, "share/monitoring")
BTLCTL = sys.argv.pop() if len(sys.argv) > 1 else ""
# Of a metric or a sample; other words of a query are functions, labels and the variables of the dashboard.
NAME = re.compile(r"(?<![$\w])livebtl_[a-z_]+")


def read(name):
    with open(os.path.join(SHARE, name), encoding="utf-8") as file:
        return file.read()


def promtool(*words, text=None):
    return subprocess.run(["promtool", *words], input=text, capture_output=True, text=True, timeout=60, check=False)


def metrics(*words):
    """What a node without a job has: every family, and no sample of a process."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([BTLCTL, "metrics", *(word.replace("@", folder) for word in words)], capture_output=True, text=True,
                              timeout=60, check=False, env={**os.environ, "LIVEBTL_RUNDIR": folder})
        assert done.returncode == 0, done.stderr
        if not words:
            return done.stdout
        with open(words[-1].replace("@", folder), encoding="utf-8") as file:
            return file.read()


def sample_names():
    names = set()
    for family, kind in re.findall(r"^# TYPE (\w+) (\w+)$", metrics(), re.MULTILINE):
        names.add(family + ("_total" if kind == "counter" else ""))
    return names


HAS_PROMTOOL = shutil.which("promtool") is not None
needs_promtool = unittest.skipUnless(HAS_PROMTOOL, "promtool is missing")


class Monitoring(unittest.TestCase):
    def check(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @needs_promtool
    def test_rules_are_well_formed(self):
        self.check(promtool("check", "rules", os.path.join(SHARE, "livebtl-alerts.yml")))

    @needs_promtool
    def test_rules_fire_when_they_should(self):
        with open(os.path.join(ROOT, "tests/unit/monitoring/alerts_test.yml"), encoding="utf-8") as file:
            text = file.read().replace("[livebtl-alerts.yml]", f"['{SHARE}/livebtl-alerts.yml']")
        with tempfile.NamedTemporaryFile("w", suffix=".yml", encoding="utf-8") as test:
            test.write(text)
            test.flush()
            self.check(promtool("test", "rules", test.name))

    @needs_promtool
    def test_the_text_for_node_exporter_is_well_formed(self):
        self.check(promtool("check", "metrics", text=metrics("--textfile", "@/livebtl.prom")))

    def test_rules_name_metrics_that_there_are(self):
        named = set(NAME.findall("\n".join(re.findall(r"expr: (.*)", read("livebtl-alerts.yml")))))
        self.assertTrue(named)
        self.assertLessEqual(named, sample_names())

    def test_the_dashboard_names_metrics_that_there_are(self):
        dashboard = json.loads(read("livebtl-dashboard.json"))
        queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
        queries += [each["expr"] for each in dashboard["annotations"]["list"]]
        queries += [each["query"]["query"] for each in dashboard["templating"]["list"] if isinstance(each["query"], dict)]
        self.assertGreater(len(queries), 10)
        for query in queries:
            self.assertTrue(NAME.findall(query), query)
            self.assertLessEqual(set(NAME.findall(query)), sample_names(), query)


if __name__ == "__main__":
    good = unittest.main(exit=False).result.wasSuccessful()
    if good and not HAS_PROMTOOL:
        print("skipped: promtool is missing; Debian's package prometheus has it. All else passed")
        sys.exit(77)
    sys.exit(0 if good else 1)
