# SPDX-License-Identifier: BSD-3-Clause
"""Two line-wise JSON protocols over Unix sockets: QEMU's monitor (QMP) and the guest agent. One client at a time each."""
import base64
import json
import os
import socket
import time

from tests.harness.waiting import Failed

SHELL = "/bin/bash"


def connect(path):
    """A socket's path has at most 108 bytes, a checkout's may have more: so it goes by way of the directory's descriptor."""
    directory = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY)
    try:
        client = socket.socket(socket.AF_UNIX)
        client.connect(f"/proc/self/fd/{directory}/{os.path.basename(path)}")
        return client
    except OSError as error:
        client.close()
        raise Failed(f"{os.path.basename(path)}: {error.strerror}: is the guest running? (console: {os.path.dirname(path)})") from None
    finally:
        os.close(directory)


class Refused(Failed):
    """QEMU or the guest agent answered with an error; the text is theirs."""


class OutOfTime(Failed):
    """A wait has timed out."""


class _Lines:
    def __init__(self, path, seconds):
        self.name, self.socket, self.buffer = os.path.basename(path), connect(path), b""
        self.deadline = time.monotonic() + seconds

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, name, arguments, before=b""):
        message = {"execute": name, "arguments": arguments} if arguments else {"execute": name}
        self.socket.sendall(before + json.dumps(message).encode() + b"\n")

    def receive(self):
        """The next message."""
        while b"\n" not in self.buffer:
            left = self.deadline - time.monotonic()
            if left <= 0:
                raise OutOfTime(f"{self.name}: no answer in time")
            self.socket.settimeout(left)
            try:
                data = self.socket.recv(1 << 16)
            except TimeoutError:
                continue
            if not data:
                raise Failed(f"{self.name}: closed by the other side")
            self.buffer += data
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line


class Monitor(_Lines):
    """QMP. Use as a context manager, and briefly: nobody else can connect meanwhile. `seconds` are for all of it."""

    def __init__(self, path, seconds):
        super().__init__(path, seconds)
        self.events = []
        while "QMP" not in json.loads(self.receive()):
            pass  # an earlier event: QEMU had not yet noticed that its last client had left
        self.execute("qmp_capabilities")

    def execute(self, name, **arguments):
        self.send(name, {key.replace("_", "-"): value for key, value in arguments.items()})
        while True:
            answer = json.loads(self.receive())
            if "event" in answer:
                self.events.append(answer)
            elif "error" in answer:
                raise Refused(answer["error"]["desc"])
            else:
                return answer["return"]

    def wait_event(self, name, **data):
        """The first event of this name with these data, whether it has come already or not."""
        def matches(event):
            return event["event"] == name and all(event.get("data", {}).get(key) == value for key, value in data.items())
        while not any(matches(event) for event in self.events):
            self.events.append(json.loads(self.receive()))
        return next(event for event in self.events if matches(event))


class Agent:
    """The guest agent. Each request is a connection of its own, so that long commands do not block others."""

    def __init__(self, path, seconds):
        self.path, self.seconds = path, seconds

    def request(self, name, **arguments):
        with _Lines(self.path, self.seconds) as lines:
            mark = time.monotonic_ns() & 0x7fffffff
            lines.send("guest-sync-delimited", {"id": mark}, before=b"\xff")
            while _parsed(lines.receive()).get("return") != mark:
                pass  # left over by an earlier client
            lines.send(name, {key.replace("_", "-"): value for key, value in arguments.items()})
            answer = _parsed(lines.receive())
        if "error" in answer:
            raise Refused(f"{os.path.basename(self.path)}: {answer['error']['desc']}")
        return answer.get("return")

    def start(self, script, capture=False, urgent=False):
        """Starts a shell script in the guest and returns its process id there. `urgent`: with priority over other processes."""
        words = [SHELL, "-c", script] if urgent else ["/bin/nice", "-n", "10", SHELL, "-c", script]  # the agent has -10
        return self.request("guest-exec", path=words[0], arg=words[1:], env=_ENVIRONMENT, capture_output=capture)["pid"]

    def status(self, pid):
        return self.request("guest-exec-status", pid=pid)

    def run(self, script, seconds, urgent=False):
        """(exit code, output, errors) of a shell script in the guest."""
        pid, deadline, pause = self.start(script, True, urgent), time.monotonic() + seconds, 0.01
        while time.monotonic() < deadline:
            answer = self.status(pid)
            if answer["exited"]:
                code = answer.get("exitcode", 128 + answer.get("signal", 0))
                return code, _text(answer.get("out-data")), _text(answer.get("err-data"))
            time.sleep(pause)
            pause = min(2 * pause, 0.2)
        self.request("guest-exec", path="/bin/kill", arg=["-KILL", str(pid)])
        raise Failed(f"in the guest, after {seconds:.0f} s still running: {script[:200]}")


_ENVIRONMENT = ["PATH=/opt/livebtl/bin:/usr/sbin:/usr/bin", "HOME=/root", "USER=root", "LANG=C.UTF-8",
                "LD_LIBRARY_PATH=/opt/livebtl/lib"]


def _parsed(line):
    try:
        answer = json.loads(line.rpartition(b"\xff")[2])
        return answer if isinstance(answer, dict) else {}
    except ValueError:
        return {}


def _text(data):
    return base64.b64decode(data or "").decode(errors="replace")
