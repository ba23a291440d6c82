# SPDX-License-Identifier: BSD-3-Clause
"""The lab: its guests, the switch between them, and the file in which one command leaves them to the next."""
import contextlib
import hashlib
import json
import os
import shutil
import sys
import time
from dataclasses import dataclass

from tests.harness.commands import RELEASE, build_release
from tests.harness.waiting import Failed, check, wait_until

from . import hardware, image, processes, products
from .guest import Guest
from .hardware import DISK, RDMA, SEGMENTS
from .places import GOLDEN, HERE, RUN, SNAPSHOTS, locked

STATE_FILE = os.path.join(RUN, "lab.json")
BOOT_SECONDS, RESTORE_SECONDS = 6, 1.5  # of two guests, on a quiet machine
FIRST_BOOT_SECONDS_MAX = 600


def say(text):
    print(f"vmlab: {text}", flush=True)


@dataclass
class Machine:
    """What every guest is started with."""
    image: image.Image
    accelerator: str
    lock: int                  # descriptor of the lock file: processes that inherit it are part of the lab
    with_parent: bool = False  # guests end with this process

    def keep(self):
        """Descriptors for the lab's processes to inherit. (The switch alone lives as long as the lab.)"""
        return () if self.lock is None else (self.lock,)


class Lab:
    def __init__(self, machine, guests):
        self.machine, self.guests = machine, guests
        self.build_directory = RELEASE  # where the guests' products are from
        self.switch = None

    @property
    def pace(self):
        return max(guest.pace for guest in self.guests)

    def guest(self, name):
        for guest in self.guests:
            if guest.name == name:
                return guest
        raise Failed(f"there is no guest {name}: {', '.join(guest.name for guest in self.guests)}")

    # Up and down

    def start(self, disk):
        """Brings up guests with card and products, without a blocker: from their golden state, or by booting."""
        shutil.rmtree(RUN, ignore_errors=True)
        os.makedirs(RUN)
        self._start_switch()
        golden = os.path.join(GOLDEN, self._golden_key())
        fresh = [guest for guest in self.guests if not os.path.exists(_state_of(golden, guest))]
        if fresh:
            self._boot(fresh, golden)
        self._restore_golden(golden)
        for guest in self.guests:
            guest.disk = disk
            guest.plug(DISK)
        self.store()

    def _start_switch(self):
        words = [sys.executable, os.path.join(HERE, "switch.py"), *(hardware.socket_of(each) for each in SEGMENTS)]
        self.switch = processes.start(words, "switch.log", keep=self.machine.keep(), with_parent=self.machine.with_parent)
        wait_until("the switch to listen", lambda: all(os.path.exists(os.path.join(RUN, hardware.socket_of(each)))
                                                       for each in SEGMENTS), 20)

    def _golden_key(self):
        facts = [self.machine.image.key, self.machine.accelerator, hardware.command(Guest(1, generation="-"), self.machine.image,
                                                                                    self.machine.accelerator)]
        return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]

    def _boot(self, guests, golden):
        for old in os.listdir(GOLDEN) if os.path.isdir(GOLDEN) else ():
            if os.path.join(GOLDEN, old) != golden:
                shutil.rmtree(os.path.join(GOLDEN, old))
        os.makedirs(golden, exist_ok=True)
        say(f"booting {', '.join(guest.name for guest in guests)} (once for this image)")
        started = time.monotonic()
        for guest in guests:
            guest.plugged = [RDMA]
            guest.start(self.machine)
        for guest in guests:
            guest.wait_ready(FIRST_BOOT_SECONDS_MAX / 4)
        seconds = time.monotonic() - started
        say(f"ready after {seconds:.1f} s")
        for guest in guests:
            guest.pace = max(1, seconds / BOOT_SECONDS)
            guest.pause()
            guest.save(_state_of(golden, guest) + ".new")
            guest.stop()
            os.rename(_state_of(golden, guest) + ".new", _state_of(golden, guest))

    def _restore_golden(self, golden):
        started = time.monotonic()
        for guest in self.guests:
            guest.restore(self.machine, _state_of(golden, guest), {"plugged": [RDMA], "disk": ""})
        for guest in self.guests:
            guest.go_on()
        for guest in self.guests:
            guest.output(f"date -s @{time.time():.0f}")
        for guest in self.guests:
            guest.pace = max(guest.pace, (time.monotonic() - started) / RESTORE_SECONDS)

    def down(self):
        running = [guest.process for guest in self.guests if guest.process]
        processes.stop(running + ([self.switch] if self.switch else []))
        if os.path.exists(STATE_FILE):
            os.remove(STATE_FILE)

    # What is left to the next command

    def store(self):
        state = {"image": self.machine.image.key, "accelerator": self.machine.accelerator, "switch": list(self.switch),
                 "guests": [guest.saved() for guest in self.guests]}
        with open(STATE_FILE + ".new", "w", encoding="utf-8") as file:
            json.dump(state, file, indent=1)
        os.rename(STATE_FILE + ".new", STATE_FILE)

    # Snapshots of all guests

    def snapshot(self, name):
        """Pauses all, writes their states, and leaves them paused. Returns the seconds between the first and the last pause."""
        directory = os.path.join(SNAPSHOTS, name)
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        started = time.monotonic()
        for guest in self.guests:
            guest.pause()
        apart = time.monotonic() - started
        try:
            for guest in self.guests:
                guest.look()
                guest.save(_state_of(directory, guest))
        except BaseException:
            shutil.rmtree(directory)
            self.go_on()
            raise
        with open(os.path.join(directory, "snapshot.json"), "w", encoding="utf-8") as file:
            json.dump([guest.saved() for guest in self.guests], file)
        return apart

    def forget(self, name):
        shutil.rmtree(os.path.join(SNAPSHOTS, name))

    def go_on(self):
        for guest in self.guests:
            guest.go_on()

    def restore(self, name):
        """Ends all guests and lets them go on from the snapshot, in new QEMUs."""
        directory = os.path.join(SNAPSHOTS, name)
        check(os.path.exists(os.path.join(directory, "snapshot.json")), f"there is no snapshot {name}")
        with open(os.path.join(directory, "snapshot.json"), encoding="utf-8") as file:
            saved = {values["number"]: values for values in json.load(file)}
        check(sorted(saved) == sorted(guest.number for guest in self.guests), f"snapshot {name} is of other guests")
        for guest in self.guests:
            guest.stop()
        for guest in self.guests:
            guest.restore(self.machine, _state_of(directory, guest), saved[guest.number])
        self.go_on()
        self.store()


def _state_of(directory, guest):
    return os.path.join(directory, guest.name + ".state")


def add_build_option(add):
    add("--build", metavar="DIR", type=os.path.abspath, help="take the products from here, as they are (default: build/release, "
        "brought up to date)")


def prepare(build_directory=None):
    """Installs and builds what is missing; a named build directory is taken as it is. Returns (Image, path of the products'
    disk, accelerator)."""
    with locked("build", "the lab is being built by another command: wait for it"):
        hardware.install_tools(say)
        if build_directory is None:
            build_directory = RELEASE
            build_release(products.TARGETS, say)
        made = image.build(say)
        return made, products.build(build_directory, say), hardware.accelerator(made, say)


@contextlib.contextmanager
def new(count, build_directory=None, with_parent=False, keep=False):
    """A lab that is up. It goes down at the end, and at any failure or signal on the way; with `keep` only at the latter."""
    check(1 <= count <= image.GUESTS, f"a lab has 1 to {image.GUESTS} guests")
    made, disk, accelerator = prepare(build_directory)
    with locked("lab", "a lab is up in this checkout: scripts/vmlab/lab down ends it") as lock:
        image.forget_others(made)
        products.forget_others(disk)
        lab = Lab(Machine(made, accelerator, lock, with_parent), [Guest(number) for number in range(1, count + 1)])
        lab.build_directory = build_directory or RELEASE
        try:
            lab.start(disk)
            yield lab
        except BaseException:
            lab.down()
            raise
        if not keep:
            lab.down()


def running():
    """The lab that an earlier command has left up."""
    try:
        with open(STATE_FILE, encoding="utf-8") as file:
            state = json.load(file)
    except FileNotFoundError:
        raise Failed("no lab is up: scripts/vmlab/lab up") from None
    machine = Machine(image.Image(state["image"]), state["accelerator"], None)
    lab = Lab(machine, [Guest.loaded(values) for values in state["guests"]])
    lab.switch = processes.Process(*state["switch"])
    return lab
