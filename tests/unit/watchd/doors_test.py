# SPDX-License-Identifier: BSD-3-Clause
"""livebtl-watchd's two doors: the socket at which programs announce events, and the script through which it calls
btlctl as root."""
import contextlib
import json
import os
import signal
import socket
import subprocess
import unittest

from tests.harness.commands import ROOT
from tests.harness.notices import MetadataPlayer

from .scene import PATIENCE, WATCHD, Scene


class Guard(unittest.TestCase):
    """share/watchd/watchd-btlctl.in, through which btlctl is called as root."""

    def guarded(self, scene):
        with open(os.path.join(ROOT, "share/watchd/watchd-btlctl.in"), encoding="utf-8") as file:
            text = file.read()
        place = "@CMAKE_INSTALL_FULL_BINDIR@/btlctl"
        self.assertIn(f"\nbtlctl='{place}'\n", text)
        scene.write("guard", text.replace(place, scene.path("btlctl")))
        os.chmod(scene.path("guard"), 0o755)
        return scene.path("guard")

    def test_lets_through_what_livebtl_watchd_says(self):
        with MetadataPlayer() as player, Scene(f"SOURCES=azure\nAZURE_URL={player.url}\nTRANSPORTS=verbs ofi:tcp;ofi_rxm\n") as scene:
            scene.settings[0] = scene.settings[0].replace(f"BTLCTL={scene.path('btlctl')}", f"BTLCTL={self.guarded(scene)}")
            player.azure = [player.azure_event("freeze", 600)]
            scene.start()
            scene.wait_state("freeze", "acknowledged")
            player.azure = []
            scene.wait_state("freeze", "returned")
            self.assertIn("--scope node:n1 verbs ofi:tcp;ofi_rxm", scene.calls("prepare")[0][1])
            self.assertEqual(len(scene.calls("return")), 1)

    def test_lets_nothing_else_through(self):
        good = "--user u --json --timeout 3.000 --job j checkpoint prepare --scope node:n".split()
        with Scene() as scene:
            guard = self.guarded(scene)

            def code(words):
                return subprocess.run([guard, *words], capture_output=True, check=False).returncode
            self.assertEqual(code(good), 0)
            self.assertEqual(code(["--json", "jobs"]), 0)
            bad = [good + ["--hold"], good + ["a b"], good + ["a$b"], good + ["-x"], good + ["x"] * 5, good[:10] + ["job"], good[:10] + ["node:"], good[:9], [],
                   ["--json jobs"], ["--json", "jobs", "--root"], ["hooks", "install", "criu", "--root", "/"]]
            for at in range(len(good)):
                bad += [good[:at] + [word] + good[at + 1:] for word in ("--root", "", "a;b", "a\nb", "hooks")
                        if (at, word) not in ((1, "hooks"), (6, "hooks"))]
            for words in bad:
                self.assertEqual(code(words), 9, f"{words} was let through")
            self.assertEqual(len(scene.calls()), 1)


class Orders(unittest.TestCase):
    """Which jobs it has btlctl order."""

    def test_one_users_jobs_keep_those_of_others_from_nothing(self):
        with Scene("SOURCES=file\n") as scene:
            jobs = [{"job": f"a{i}", "user": "mallory", "members": ["x" * 8000]} for i in range(300)]
            jobs += [{"job": "j1", "user": "root"}, {"job": "z", "user": "of two words"}]
            scene.write("jobs", json.dumps({"jobs": jobs}))  # longer than what is kept of other programs' output
            scene.settings.append(f"FILE={scene.path('notices')}\n")
            scene.write("notices", json.dumps({"events": [{"event": "power", "kind": "reboot"}]}))
            scene.start()
            scene.wait_for("two jobs to be prepared", lambda: len(scene.calls("prepare")) > 1)
            self.assertIn("--user root --json", scene.calls("prepare")[1][1])
            scene.wait_log("44 jobs of user mallory are left as they are")
            self.assertIn("without a name: 1", scene.read("log"))
            self.assertNotIn("of two words", scene.read("calls"))


class Line(unittest.TestCase):
    """The command line: what cannot be done is reported, with its name and exit code."""

    def end_of(self, *words, **streams):
        done = subprocess.run([WATCHD, *words], stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False, **streams)
        return done.returncode, done.stderr

    def test_option_that_there_is_not_is_named(self):
        code, said = self.end_of("--nosuch")
        self.assertEqual(code, 1)
        self.assertRegex(said, "^livebtl-watchd: .*--nosuch")

    def test_file_of_settings_that_is_named_has_to_be_there(self):
        with Scene() as scene:
            words = ("--check", "--set", "SOURCES=file", "--config")
            code, said = self.end_of(*words, scene.path("none"))
            self.assertEqual(code, 1)
            self.assertIn("named by --config, is not there", said)
            scene.write("empty", "# nothing\n")
            self.assertEqual(self.end_of(*words, scene.path("empty"))[0], 0)

    def test_dry_run_that_nobody_hears_has_failed(self):
        with Scene("SOURCES=file\n") as scene:
            scene.write("notices", json.dumps({"events": [{"event": "power", "kind": "reboot"}]}))
            scene.write("watchd.conf", "".join([*scene.settings, f"FILE={scene.path('notices')}\n"]))
            with open("/dev/full", "w", encoding="utf-8") as full:
                code, said = self.end_of("--config", scene.path("watchd.conf"), "--dry-run", "--once", stdout=full)
            self.assertEqual(code, 5)  # not the settings' fault: the service tries again
            self.assertIn("could not be written", said)


class Answers(unittest.TestCase):
    """A metadata server's answers that never end."""

    def is_given_up(self, fault, *said):
        with MetadataPlayer() as player, Scene(f"SOURCES=gce\nGCE_URL={player.url}\n") as scene:
            player.set_fault(fault)
            scene.start("--once")
            self.assertEqual(scene.process.wait(PATIENCE), 5)
            scene.wait_for(f"the log to say {' or '.join(said)}", lambda: any(text in scene.read("log") for text in said))

    def test_header_that_drips_is_given_up_in_time(self):
        self.is_given_up("dripping", "the answer was not whole in time")

    def test_header_without_end_is_given_up_by_its_length(self):
        # The second text is the library's: Debian 13's limits a line by itself, and may come first.
        self.is_given_up("flooding", "the answer is too long", "Failed to read connection")

    def test_server_that_drips_does_not_keep_it_from_ending(self):
        with MetadataPlayer() as player, Scene(f"SOURCES=azure\nAZURE_URL={player.url}\nAZURE_MACHINE=vm_0\n") as scene:
            player.set_fault("dripping")
            scene.start()
            scene.wait_for("a look", lambda: player.asked)  # its first look may take 150 s
            self.assertEqual(scene.stop(), 0)


class Socket(unittest.TestCase):
    def client(self, scene, stack, line):
        """Opens a connection and sends that line. Returns it, and a function that returns the next answer."""
        client = stack.enter_context(socket.socket(socket.AF_UNIX))
        client.settimeout(PATIENCE)
        client.connect(scene.path("socket"))
        client.sendall(line)
        lines = client.makefile("r")
        return client, lambda: json.loads(lines.readline())

    def test_is_told_each_state(self):
        with Scene("SOURCES=socket\n") as scene, contextlib.ExitStack() as stack:
            scene.settings.append(f"SOCKET={scene.path('socket')}\n")
            scene.start()
            scene.wait_log("watches")
            client, answer = self.client(scene, stack, b'nonsense\n{"event":"move","kind":"migr')
            self.assertIn("error", answer())
            client.sendall(b'ate","in_s":10}\n')
            self.assertEqual([answer()["state"] for _ in range(3)], ["seen", "preparing", "released"])
            _, another = self.client(scene, stack, b'{"event":"move","kind":"migrate"}\n')
            self.assertEqual(another()["state"], "released")
            scene.stop(signal.SIGKILL)  # the event outlives it, although no source names it any more
            scene.start()
            scene.wait_log("watches", 2)
            _, answer = self.client(scene, stack, b'{"event":"move","over":true}\n')
            states = []
            while "returned" not in states:
                states.append(answer()["state"])
            self.assertEqual((len(scene.calls("prepare")), len(scene.calls("return"))), (1, 1))

    def test_is_not_taken_away_by_one_that_only_looks(self):
        with Scene("SOURCES=socket\n") as scene:
            scene.settings.append(f"SOCKET={scene.path('socket')}\n")
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(scene.path("socket"))
                before = os.stat(scene.path("socket")).st_ino
                for words in (["--dry-run"], ["--once"], ["--dry-run", "--once"]):
                    scene.start(*words)
                    self.assertEqual(scene.process.wait(PATIENCE), 1)
                    self.assertIn(f"{words[-1]} is not possible with the source socket", scene.read("log"))
                self.assertEqual(os.stat(scene.path("socket")).st_ino, before)

    def test_hears_nobody_without_end(self):
        with Scene("SOURCES=socket\n") as scene:
            scene.settings.append(f"SOCKET={scene.path('socket')}\n")
            scene.start()
            scene.wait_log("watches")
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(PATIENCE)
                client.connect(scene.path("socket"))
                try:
                    client.sendall(b"x" * 100_000)
                    self.assertEqual(client.recv(100), b"")
                except (BrokenPipeError, ConnectionResetError):
                    pass
            self.assertEqual(scene.stop(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
