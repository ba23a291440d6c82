# SPDX-License-Identifier: BSD-3-Clause
"""What the kernel says about the TCP connections between the ranks of a job (ss -ti), and how to break them (ss -K)."""
import re
import subprocess
from dataclasses import dataclass


@dataclass(frozen=True)
class Connection:
    """One end of a connection between two ranks."""
    pid: int
    local: str
    remote: str
    bytes_sent: int
    bytes_received: int


def _number(name, line):
    found = re.search(rf"\b{name}:(\d+)", line)
    return int(found.group(1)) if found else 0


def _plain(address):
    """A socket that listens to both families names IPv4 its own way: [::ffff:10.0.0.1]:80."""
    return address.replace("[::ffff:", "").replace("]", "") if address.startswith("[::ffff:") else address


def rank_connections(pids, enter=()):
    """Both ends of every established connection whose two ends belong to processes in `pids`."""
    output = subprocess.run([*enter, "ss", "-tinpHO", "state", "established"], capture_output=True, text=True,
                            check=True, timeout=20).stdout
    ends = {}
    for line in output.splitlines():
        words, owner = line.split(), re.search(r"pid=(\d+)", line)
        if owner and int(owner.group(1)) in pids:
            local, remote = _plain(words[2]), _plain(words[3])
            ends[local, remote] = Connection(int(owner.group(1)), local, remote,
                                             _number("bytes_sent", line), _number("bytes_received", line))
    return [end for end in ends.values() if (end.remote, end.local) in ends]


def sever(connection, enter=()):
    """Breaks a connection as if the network had; True if the kernel found it. Tried from both ends, since the one that
    accepted may bear its address in the other form."""
    return any([_sever_end(connection.local, connection.remote, enter),
                _sever_end(connection.remote, connection.local, enter)])


def _sever_end(here, there, enter):
    local, local_port = here.rsplit(":", 1)
    remote, remote_port = there.rsplit(":", 1)
    done = subprocess.run([*enter, "ss", "-KHtn", "src", local, "sport", "=", local_port, "dst", remote,
                           "dport", "=", remote_port], capture_output=True, text=True, timeout=20, check=False)
    return done.returncode == 0 and done.stdout.strip() != ""


class TcpBytes:
    """Bytes that TCP carried between the ranks, over all connections that were ever seen."""

    def __init__(self):
        self._most = {}

    def sample(self, pids, enter=()):
        for end in rank_connections(pids, enter):
            key = (end.local, end.remote)
            self._most[key] = max(self._most.get(key, 0), end.bytes_sent)
        return self.total()

    def total(self):
        return sum(self._most.values())
