# SPDX-License-Identifier: BSD-3-Clause
"""A directory with a played btlctl, and a livebtl-watchd that calls it."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from tests.harness.waiting import wait_until

WATCHD = sys.argv.pop() if len(sys.argv) > 1 else ""
PATIENCE = 60  # seconds; nothing here is known to take that long

BTLCTL = """#!/bin/sh
# What it is told to answer stands in answer.VERB: a code, and the rest of the document.
cd {folder} || exit 9
case "$*" in
*" jobs") cat jobs; exit 0 ;;
*" prepare "*) verb=prepare ;;
*) verb=return ;;
esac
echo "$(date +%s.%N) $verb $*" >>calls
read -r code rest <answer.$verb
echo "{{\\"exit_code\\": $code, \\"text\\": \\"played\\" $rest}}"
exit "$code"
"""


class Scene:
    """Use as a context manager: leaving it ends livebtl-watchd, and removes the directory."""

    def __init__(self, *settings):
        self.folder = tempfile.mkdtemp(prefix="livebtl-watchd-")
        self.settings = [f"NODE=n1\nBTLCTL={self.path('btlctl')}\nJOURNAL={self.path('journal')}\nPOLL_S=1\nLEAD_S=5\n", *settings]
        self.process = None
        self.write("btlctl", BTLCTL.format(folder=self.folder))
        os.chmod(self.path("btlctl"), 0o755)
        self.write("jobs", json.dumps({"jobs": [{"job": "j1", "user": "root"}]}))
        self.answer("prepare", 0, ', "released": true')
        self.answer("return", 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name) + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(self.path(name) + ".new", self.path(name))

    def read(self, name):
        try:
            with open(self.path(name), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def answer(self, verb, code, rest=""):
        self.write(f"answer.{verb}", f"{code} {rest}\n")

    def start(self, *words):
        self.write("watchd.conf", "".join(self.settings))
        with open(self.path("log"), "a", encoding="utf-8") as log, open(self.path("out"), "a", encoding="utf-8") as out:
            self.process = subprocess.Popen([WATCHD, "--config", self.path("watchd.conf"), *words], stdout=out, stderr=log)

    def stop(self, by=signal.SIGTERM):
        self.process.send_signal(by)
        code = self.process.wait(PATIENCE)
        return code

    def calls(self, verb=""):
        """(time, words) of each call of btlctl with that verb."""
        lines = [line.split(" ", 2) for line in self.read("calls").splitlines()]
        return [(float(line[0]), line[2]) for line in lines if verb in ("", line[1])]

    def states(self, event):
        return [line["state"] for line in map(json.loads, self.read("journal").splitlines()) if line["event"] == event]

    def wait_for(self, what, condition):
        try:
            wait_until(what, condition, PATIENCE)
        except Exception as failed:
            raise AssertionError(f"{failed}\n{self.read('log')}\n{self.read('journal')}\n{self.read('calls')}") from failed

    def wait_state(self, event, state):
        self.wait_for(f"{event} to be {state}", lambda: self.states(event)[-1:] == [state])

    def wait_log(self, text, times=1):
        self.wait_for(f"the log to say {text!r}", lambda: self.read("log").count(text) >= times)
