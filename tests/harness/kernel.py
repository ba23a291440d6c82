# SPDX-License-Identifier: BSD-3-Clause
"""What the kernel says about the TCP connections between the ranks of a job (ss -ti), and how to break them.

They are broken by ss -K where the kernel can (CONFIG_INET_DIAG_DESTROY), else by taking a copy of the rank's own
descriptor and disconnecting it; to the rank both look as if the network had ended the connection. Both need root.
"""
import ctypes
import functools
import os
import re
import socket
import subprocess
from dataclasses import dataclass

PIDFD_GETFD = 438  # the same number on all architectures; Python has no name for it


@dataclass(frozen=True)
class Connection:
    """One end of a connection between two ranks."""
    pid: int
    descriptor: int
    local: str
    remote: str
    bytes_sent: int
    bytes_received: int


def _number(name, line):
    found = re.search(rf"\b{name}:(\d+)", line)
    return int(found.group(1)) if found else 0


def _plain(address):
    """Dual-stack sockets show IPv4 addresses as [::ffff:10.0.0.1]:80."""
    return address.replace("[::ffff:", "").replace("]", "") if address.startswith("[::ffff:") else address


def rank_connections(pids, enter=()):
    """Both ends of every established connection whose two ends belong to processes in `pids`."""
    output = subprocess.run([*enter, "ss", "-tinpHO", "state", "established"], capture_output=True, text=True,
                            check=True, timeout=20).stdout
    ends = {}
    for line in output.splitlines():
        words, owner = line.split(), re.search(r"pid=(\d+),fd=(\d+)", line)
        if owner and int(owner.group(1)) in pids:
            local, remote = _plain(words[2]), _plain(words[3])
            ends[local, remote] = Connection(int(owner.group(1)), int(owner.group(2)), local, remote,
                                             _number("bytes_sent", line), _number("bytes_received", line))
    return [end for end in ends.values() if (end.remote, end.local) in ends]


def listening_ports(pids):
    """[(address, port)] on which processes in `pids` listen."""
    output = subprocess.run(["ss", "-tlnpHO"], capture_output=True, text=True, check=True, timeout=20).stdout
    found = []
    for line in output.splitlines():
        owner = re.search(r"pid=(\d+)", line)
        if owner and int(owner.group(1)) in pids:
            address, _, port = line.split()[3].rpartition(":")
            found.append((address.strip("[]").split("%")[0], int(port)))
    return found


def sever(connection):
    """Breaks a connection as if the network had; True if it existed."""
    if not can_destroy():
        return _disconnect(connection)
    # From both ends, since the accepting one may have its address in the IPv4-mapped form.
    return any([_sever_end(connection.local, connection.remote), _sever_end(connection.remote, connection.local)])


def sever_all(pids, ports):
    """Breaks every connection that was accepted on one of these ports of processes in `pids`; returns how many.
    By one command, since between two switches a connection may live for only a few milliseconds."""
    if not can_destroy():
        ends = [end for end in rank_connections(pids) if int(end.local.rpartition(":")[2]) in ports]
        return sum(_disconnect(end) for end in ends)
    accepted = " or ".join(f"sport = :{port}" for port in sorted(ports))
    return len(_kill_sockets("state", "established", f"( {accepted} )"))


def _sever_end(here, there):
    local, local_port = here.rsplit(":", 1)
    remote, remote_port = there.rsplit(":", 1)
    return bool(_kill_sockets("src", local, "sport", "=", local_port, "dst", remote, "dport", "=", remote_port))


def _kill_sockets(*which):
    """Lines of ss: one for each socket that the kernel has ended."""
    done = subprocess.run(["ss", "-KHtn", *which], capture_output=True, text=True, timeout=20, check=False)
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else []


@functools.cache
def can_destroy():
    """Whether ss -K works here: tried on a connection of our own."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as mine:
        return _sever_end("127.0.0.1:%d" % mine.getsockname()[1], "127.0.0.1:%d" % mine.getpeername()[1])


def _disconnect(connection):
    """connect(AF_UNSPEC) on a copy of the process's own descriptor: the kernel ends the connection with a reset."""
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        process = os.pidfd_open(connection.pid)
    except ProcessLookupError:
        return False
    copy = libc.syscall(PIDFD_GETFD, process, connection.descriptor, 0)
    os.close(process)
    if copy < 0:
        return False
    try:
        ours = socket.socket(fileno=os.dup(copy))
    except OSError:  # the descriptor has been reused meanwhile
        return False
    finally:
        os.close(copy)
    with ours:
        there = connection.remote.rpartition(":")[2]
        try:
            if ours.getpeername()[1] != int(there):
                return False
        except OSError:  # no longer connected, or no TCP socket any more
            return False
        return libc.connect(ours.fileno(), bytes(16), 16) == 0


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
