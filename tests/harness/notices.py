# SPDX-License-Identifier: BSD-3-Clause
"""Play those that announce events: the metadata servers of three clouds in one, and Slurm. Their faults are set by
`fault`: None, "garbled", "silent" (no answer until the fault is over), "failing" (HTTP 500), "cut" (half of an answer),
"dripping" (a byte of a header each second, without end) or "flooding" (a header without end)."""
import email.utils
import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOKEN = "TOKEN-of-a-player=="


def http_time(seconds_ahead):
    return email.utils.formatdate(time.time() + seconds_ahead, usegmt=True)


def iso_time(seconds_ahead):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds_ahead))


class _Handler(BaseHTTPRequestHandler):
    """Answers as documented, and only requests with the required headers."""

    def log_message(self, *_):
        pass

    def _answer(self, status, text):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        player = self.server.player
        self.wfile.write(body[: len(body) // 2] if player.fault == "cut" else body)

    def _header_without_end(self, player):
        part, pause = (b"x", 1) if player.fault == "dripping" else (b"x" * 65536, 0)
        try:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
            while not player.fault_over.wait(pause):
                self.wfile.write(part)
        except OSError:
            pass  # nobody listens any more

    def _serve(self, answer):
        player = self.server.player
        player.asked.append((self.command, self.path))
        if player.fault == "silent":
            player.fault_over.wait(60)
            return
        if player.fault in ("dripping", "flooding"):
            return self._header_without_end(player)
        if player.fault == "failing":
            return self._answer(500, "")
        if player.fault == "garbled":
            return self._answer(200, '{"Events": [{"EventId": ')
        status, text = answer()
        self._answer(status, text)

    def do_GET(self):
        self._serve(lambda: self.server.player.get(self.path, self.headers))

    def do_PUT(self):
        self._serve(lambda: self.server.player.put(self.path, self.headers))

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
        self._serve(lambda: self.server.player.post(self.path, self.headers, body))


class MetadataPlayer:
    """`azure`, `ec2`: lists of events as they stand in the answer; `gce`: a word; `gce_upcoming`, `ec2_spot`: an object, or None."""

    MACHINE = "vm_0"

    def __init__(self):
        self.azure, self.ec2, self.gce = [], [], "NONE"
        self.gce_upcoming = self.ec2_spot = None
        self.fault, self.fault_over = None, threading.Event()
        self.asked, self.started = [], []
        self.start_status = 200  # whatever it is, the event has begun
        self.port, self._server = 0, None
        self.come()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.go()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def come(self):
        """Listens; the second time on the same port as before."""
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), _Handler)
        self._server.daemon_threads, self._server.player = True, self
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def go(self):
        """Stops listening."""
        self.set_fault(None)
        self._server.shutdown()
        self._server.server_close()

    def set_fault(self, fault):
        self.fault = fault
        if fault in ("silent", "dripping", "flooding"):
            self.fault_over.clear()
        else:
            self.fault_over.set()

    def azure_event(self, event, seconds_ahead, kind="Freeze", resources=(MACHINE,), status="Scheduled"):
        return {"EventId": event, "EventType": kind, "ResourceType": "VirtualMachine", "Resources": list(resources),
                "EventStatus": status, "NotBefore": http_time(seconds_ahead) if status == "Scheduled" else "",
                "Description": "played", "EventSource": "Platform", "DurationInSeconds": 5}

    def get(self, path, headers):
        path = path.partition("?")[0]
        if path.startswith("/metadata/"):
            if headers.get("Metadata") != "true":
                return 400, ""
            if path == "/metadata/instance/compute/name":
                return 200, self.MACHINE
            return 200, json.dumps({"DocumentIncarnation": 1, "Events": self.azure})
        if path.startswith("/computeMetadata/v1/instance/"):
            if headers.get("Metadata-Flavor") != "Google":
                return 403, ""
            if path.endswith("/maintenance-event"):
                return 200, self.gce
            return (404, "") if self.gce_upcoming is None else (200, json.dumps(self.gce_upcoming))
        if headers.get("X-aws-ec2-metadata-token") != TOKEN:
            return 401, ""
        if path == "/latest/meta-data/events/maintenance/scheduled":
            return 200, json.dumps(self.ec2)
        if path == "/latest/meta-data/spot/instance-action" and self.ec2_spot is not None:
            return 200, json.dumps(self.ec2_spot)
        return 404, ""

    def put(self, path, headers):
        wanted = path == "/latest/api/token" and headers.get("X-aws-ec2-metadata-token-ttl-seconds") == "21600"
        return (200, TOKEN) if wanted else (400, "")

    def post(self, path, headers, body):
        """As on Azure, an event that is allowed to begin has status Started from then on."""
        if headers.get("Metadata") != "true" or not path.startswith("/metadata/scheduledevents?"):
            return 400, ""
        for request in json.loads(body)["StartRequests"]:
            self.started.append(request["EventId"])
            for event in self.azure:
                if event["EventId"] == request["EventId"]:
                    event.update(EventStatus="Started", NotBefore="")
        return self.start_status, ""


class SlurmPlayer:
    """A scontrol that prints what is in a file, and fails if that names no node."""

    def __init__(self, directory):
        self.program, self._text = os.path.join(directory, "scontrol"), os.path.join(directory, "scontrol.text")
        self.say("IDLE")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\ncat {self._text}\ngrep -q NodeName {self._text}\n')
        os.chmod(self.program, 0o755)

    def say(self, state):
        self.print(f"NodeName=n1 Arch=x86_64 CPUTot=4 State={state} Reason=played [root@2026-01-01T00:00:00]\n")

    def print(self, text):
        with open(self._text + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(self._text + ".new", self._text)
