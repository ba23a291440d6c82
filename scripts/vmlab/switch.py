#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The lab's network: a learning Ethernet switch in user space, which needs neither privileges nor the host's network.

usage: switch.py SOCKET...
Each socket is a segment. A guest's QEMU connects to it (-netdev stream) and has a port until it closes the connection;
on it every frame follows its length, 4 bytes. A port that does not read loses frames, as on any switch, and holds up
no one else.
"""
import os
import selectors
import signal
import socket
import struct
import sys

READ_BYTES = 1 << 18
PENDING_BYTES_MAX = 8 << 20  # more than the windows of a few TCP connections: only a stopped guest loses frames
FRAME_BYTES_MAX = 1 << 17


class Port:
    def __init__(self, connection, segment):
        connection.setblocking(False)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self.connection, self.segment = connection, segment
        self.received = bytearray()
        self.pending = bytearray()

    def fileno(self):
        return self.connection.fileno()

    def frames(self):
        """Complete frames, with their length, from what was received; None if the sender violates the protocol."""
        found, at, data = [], 0, self.received
        while len(data) - at >= 4:
            length, = struct.unpack_from(">I", data, at)
            if not 14 <= length <= FRAME_BYTES_MAX:
                return None
            if len(data) - at < 4 + length:
                break
            found.append(bytes(data[at:at + 4 + length]))
            at += 4 + length
        del data[:at]
        return found

    def queue(self, frame):
        if len(self.pending) + len(frame) <= PENDING_BYTES_MAX:
            self.pending += frame

    def flush(self):
        """False: the other side is gone."""
        try:
            while self.pending:
                del self.pending[:self.connection.send(self.pending)]
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True


class Segment:
    def __init__(self, path):
        self.listener = socket.socket(socket.AF_UNIX)
        if os.path.exists(path):
            os.remove(path)
        self.listener.bind(path)
        self.listener.listen(16)
        self.ports, self.learnt = [], {}  # learnt: {address: port}

    def fileno(self):
        return self.listener.fileno()

    def forward(self, source, frame):
        target, sender = frame[4:10], frame[10:16]
        self.learnt[sender] = source
        port = None if target[0] & 1 else self.learnt.get(target)
        for each in ([port] if port else self.ports):
            if each is not source:
                each.queue(frame)

    def remove(self, port):
        self.ports.remove(port)
        self.learnt = {address: each for address, each in self.learnt.items() if each is not port}


class Switch:
    def __init__(self, paths):
        self.selector = selectors.DefaultSelector()
        for path in paths:
            self.selector.register(Segment(path), selectors.EVENT_READ)

    def serve(self):
        while True:
            for key, events in self.selector.select():
                if isinstance(key.fileobj, Segment):
                    self._accept(key.fileobj)
                elif key.fileobj.connection.fileno() >= 0:
                    self._move(key.fileobj, events)

    def _accept(self, segment):
        port = Port(segment.listener.accept()[0], segment)
        segment.ports.append(port)
        self.selector.register(port, selectors.EVENT_READ)

    def _move(self, port, events):
        alive = self._read(port) if events & selectors.EVENT_READ else True
        for each in list(port.segment.ports):
            if not each.flush():
                self._close(each)
            elif each is not port or alive:
                wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if each.pending else 0)
                self.selector.modify(each, wanted)
        if not alive and port in port.segment.ports:
            self._close(port)

    def _read(self, port):
        try:
            data = port.connection.recv(READ_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            return False
        port.received += data
        frames = port.frames()
        for frame in frames or ():
            port.segment.forward(port, frame)
        return bool(data) and frames is not None

    def _close(self, port):
        self.selector.unregister(port)
        port.segment.remove(port)
        port.connection.close()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the lab ends it
    Switch(sys.argv[1:]).serve()
