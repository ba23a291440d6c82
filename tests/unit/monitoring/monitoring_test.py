# SPDX-License-Identifier: BSD-3-Clause
"""The alert rules and the dashboard in share/monitoring, checked against what `btlctl metrics` prints: Prometheus's own
promtool judges rules and text, and both name only existing metrics. Without promtool the rest is checked, and the exit
code is 77 (skipped)."""
import gzip
import http.client
import json
import os
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
SHARE = os.path.join(ROOT, "share/monitoring")
BTLCTL = sys.argv.pop() if len(sys.argv) > 1 else ""
# A metric's or sample's name; other words of a query are functions, labels and variables of the dashboard.
NAME = re.compile(r"(?<![$\w])livebtl_[a-z_]+")


def read(name):
    with open(os.path.join(SHARE, name), encoding="utf-8") as file:
        return file.read()


def promtool(*words, text=None):
    return subprocess.run(["promtool", *words], input=text, capture_output=True, text=True, timeout=60, check=False)


def metrics(*words):
    """The output on a node without a job: every family, and no sample of a process."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([BTLCTL, "metrics", *(word.replace("@", folder) for word in words)], capture_output=True, text=True,
                              timeout=60, check=False, env={**os.environ, "LIVEBTL_RUNDIR": folder})
        assert done.returncode == 0, done.stderr
        if not words:
            return done.stdout
        with open(words[-1].replace("@", folder), encoding="utf-8") as file:
            return file.read()


class Exporter:
    """`btlctl metrics --listen` on a node without a job. Context manager: gives access to its paths."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = self.start()
        assert "served at" in self.process.stderr.readline()
        return self

    def start(self):
        return subprocess.Popen([BTLCTL, "metrics", "--listen", f"127.0.0.1:{self.port}"], stderr=subprocess.PIPE, text=True,
                                env={**os.environ, "LIVEBTL_RUNDIR": self.folder.name})

    def get(self, path, accept="*/*", method="GET"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, headers={"Accept": accept})
        answer = connection.getresponse()
        return answer.status, answer.getheader("Content-Type"), answer.read().decode()

    def send(self, data):
        """Sends bytes that are no request, and returns the answer. b"": the connection was cut off."""
        with self.connect() as connection:
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                return connection.recv(100)
            except OSError:  # shutdown() of a connection that the peer has reset raises no ConnectionError
                return b""

    def ask(self, request):
        """Returns the whole answer."""
        with self.connect() as connection:
            connection.sendall(request)
            return b"".join(iter(lambda: connection.recv(65536), b""))

    def dribble(self, connection, seconds):
        """Sends a byte every tenth of a second, for that long. Returns how long it was listened to."""
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            try:
                connection.sendall(b"G")
                if select.select([connection], [], [], 0.1)[0] and not connection.recv(100):
                    break
            except ConnectionError:
                break
        return time.monotonic() - began

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def resident_kib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmHWM:\s*(\d+) kB", file.read()).group(1))

    def __exit__(self, *failure):
        self.process.kill()
        self.process.communicate()
        self.folder.cleanup()


def sample_names():
    names = set()
    for family, kind in re.findall(r"^# TYPE (\w+) (\w+)$", metrics(), re.MULTILINE):
        names.add(family + ("_total" if kind == "counter" else ""))
    return names


HAS_PROMTOOL = shutil.which("promtool") is not None
HAS_EXPORTER = os.path.exists(os.path.join(os.path.dirname(BTLCTL), "../lib/livebtl/livebtl-exporter"))
needs_exporter = unittest.skipUnless(HAS_EXPORTER, "livebtl-exporter was not built")
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

    @needs_exporter
    def test_what_is_served_is_what_is_printed(self):
        with Exporter() as exporter:
            status, kind, text = exporter.get("/metrics", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
            self.assertEqual((status, kind.split(";")[0]), (200, "application/openmetrics-text"))
            self.assertEqual(text, metrics())
            status, kind, text = exporter.get("/metrics")
            self.assertEqual((status, kind.split(";")[0], text), (200, "text/plain", metrics("--textfile", "@/livebtl.prom")))
            self.assertEqual([exporter.get(path)[0] for path in ("/", "/other", "/../etc/passwd")], [200, 404, 404])
            self.assertEqual(exporter.get("/metrics", method="POST")[0], 404)

    @needs_exporter
    def test_what_is_no_request_does_not_end_it(self):
        with Exporter() as exporter:
            for data in (b"", b"\0" * 4096, b"GET /metrics HTTP/9.9\r\n\r\n", b"GET /" + b"x" * 200_000, b"GET /metrics HTTP/1.1\r\n"):
                self.assertNotIn(b"200 OK", exporter.send(data))
            with socket.create_connection(("127.0.0.1", exporter.port)):  # says nothing
                self.assertEqual(exporter.get("/metrics")[0], 200)

    @needs_exporter
    def test_a_line_without_an_end_costs_no_memory(self):
        with Exporter() as exporter:
            before = exporter.resident_kib()
            for head in (b"", b"GET /", b"GET / HTTP/1.1\r\nX: "):
                self.assertNotIn(b"200 OK", exporter.send(head + b"x" * (64 << 20)))
            self.assertLess(exporter.resident_kib() - before, 32 << 10)
            self.assertEqual(exporter.get("/metrics")[0], 200)

    @needs_exporter
    def test_a_few_bytes_do_not_become_many(self):
        with Exporter() as exporter:
            before = exporter.resident_kib()
            self.assertIn(b" 404 ", exporter.ask(b"POST /metrics HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: 5000\r\n\r\n"
                                                 + gzip.compress(b"\0" * 4_800_000)[:5000].ljust(5000, b"\0")))
            answer = exporter.ask(b"GET /metrics HTTP/1.1\r\nRange: bytes=" + b",".join([b"0-"] * 2500) + b"\r\n\r\n")
            self.assertLess(len(answer), len(metrics()) + 4096)
            self.assertLess(exporter.resident_kib() - before, 32 << 10)
            self.assertEqual(exporter.get("/metrics")[0], 200)

    @needs_exporter
    def test_who_sends_a_byte_now_and_then_is_cut_off(self):
        with Exporter() as exporter, exporter.connect() as connection:
            self.assertLess(exporter.dribble(connection, 30), 10)

    @needs_exporter
    def test_it_ends_though_strangers_dribble(self):
        with Exporter() as exporter:
            strangers = [exporter.connect() for _ in range(40)]  # more than there are threads
            threads = [threading.Thread(target=exporter.dribble, args=(each, 30)) for each in strangers]
            for thread in threads:
                thread.start()
            time.sleep(0.5)
            exporter.process.terminate()
            self.assertEqual(exporter.process.wait(10), 0)
            for thread in threads:
                thread.join()
            for each in strangers:
                each.close()

    @needs_exporter
    def test_a_run_directory_that_cannot_be_used_is_said_once(self):
        with Exporter() as exporter:
            for mode, status in ((0o755, 503), (0o755, 503), (0o700, 200), (0o750, 503)):
                os.chmod(exporter.folder.name, mode)
                self.assertEqual(exporter.get("/metrics")[0], status)
            exporter.process.terminate()
            said = exporter.process.communicate(timeout=60)[1].splitlines()
            self.assertEqual(len(said), 2, said)
            for line in said:
                self.assertIn(exporter.folder.name + " is open to other users", line)

    @needs_exporter
    def test_an_address_that_is_taken_is_refused(self):
        with Exporter() as exporter:
            second = exporter.start()
            self.assertIn("in use", second.communicate(timeout=60)[1])
            self.assertEqual(second.returncode, 3)
            exporter.process.terminate()
            self.assertEqual(exporter.process.wait(60), 0)

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
