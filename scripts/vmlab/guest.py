# SPDX-License-Identifier: BSD-3-Clause
"""One guest: its current QEMU, what is plugged into it, and what can be done to it."""
import os
import shlex
import time
import uuid
from dataclasses import asdict, dataclass, field

from tests.harness.waiting import PATIENCE, Failed, check, wait_until

from . import hardware, processes
from .hardware import BLOCKER, DISK, RDMA
from .monitor import Agent, Monitor, OutOfTime, Refused
from .places import RUN
from .products import MOUNTED

SAVE_BYTES_A_SECOND = 8 << 30  # unlimited, in effect
MIGRATE_BYTES_A_SECOND = 128 << 20  # of a guest that runs: QEMU's default, or it may crash (docs/VMLAB.md)


@dataclass
class Guest:
    number: int
    instance: int = 0             # counts its QEMUs: each migration and each restore makes another
    process: processes.Process = None
    plugged: list = field(default_factory=list)
    generation: str = ""          # of vmgenid: a new one tells the guest that it was restored
    disk: str = ""                # what DISK stands for
    card: int = 0                 # the number from which its RDMA card's addresses derive; by default the guest's
    pace: float = 1               # how many times slower than a quiet machine this one is

    def __post_init__(self):
        self.card = self.card or self.number

    @property
    def name(self):
        return f"vm{self.number}"

    def instance_name(self):
        return f"{self.name}-{self.instance}"

    def saved(self):
        return asdict(self) | {"process": list(self.process) if self.process else None}

    @staticmethod
    def loaded(values):
        process = processes.Process(*values["process"]) if values["process"] else None
        return Guest(**(values | {"process": process}))

    # Its QEMU

    def alive(self):
        return self.process is not None and processes.alive(self.process)

    def start(self, machine, incoming=False):
        """Starts its next QEMU; with `incoming` it waits for a state, and then for `cont` (docs/VM.md)."""
        self.instance += 1
        self.generation = self.generation or str(uuid.uuid4())
        words = hardware.command(self, machine.image, machine.accelerator) + (["-incoming", "defer", "-S"] if incoming else [])
        self.process = processes.start(words, f"{self.instance_name()}.qemu", keep=machine.keep(), with_parent=machine.with_parent)
        wait_until(f"QEMU of {self.name} to listen", self._listens, 10 * self.pace)

    def _listens(self):
        self._check_alive()
        return os.path.exists(self.path("qmp")) and self._answers()

    def _check_alive(self):
        """A QEMU that ended says why in its log, or the guest's kernel on its console: it ends with the guest."""
        check(self.alive(), f"QEMU of {self.instance_name()} ended: {processes.log_end(self.path('qemu'))}; console: {self.console_tail()}")

    def _answers(self):
        try:
            self.query("query-status")
            return True
        except Failed:
            return False

    def stop(self):
        if self.process:
            processes.stop([self.process])
        self.process, self.plugged = None, []

    def path(self, suffix):
        return os.path.join(RUN, f"{self.instance_name()}.{suffix}")

    def monitor(self, seconds=60, which="qmp"):
        return Monitor(self.path(which), seconds * self.pace)

    def query(self, name, which="qmp", **arguments):
        with self.monitor(which=which) as monitor:
            return monitor.execute(name, **arguments)

    def pause(self):
        self.query("stop")

    def go_on(self):
        self.query("cont")

    # Inside

    def agent(self):
        self._check_alive()
        return Agent(self.path("agent"), 60 * self.pace)

    def wait_ready(self, seconds):
        def ready():
            self._check_alive()
            with open(self.console(), encoding="utf-8", errors="replace") as file:
                said = file.read()
            check("lab guest" not in said or "failed" not in said, f"{self.name} could not set itself up: {self.console_tail()}")
            return f"lab guest {self.number} is ready" in said
        wait_until(f"{self.name} to boot (console: {self.console()})", ready, seconds, interval=0.1)
        self.agent().request("guest-ping")

    def console(self):
        return os.path.join(RUN, self.name + ".console")

    def console_tail(self):
        return processes.log_end(self.console())

    def run(self, script, seconds=30):
        """(exit code, output, errors) of a shell script."""
        return self.agent().run(script, PATIENCE * seconds * self.pace)

    def look_in(self, script, seconds=30):
        """The same for the lab's own short questions, with priority over a job's processes."""
        return self.agent().run(script, PATIENCE * seconds * self.pace, urgent=True)

    def output(self, script, seconds=30):
        """Output of a short shell script that must succeed."""
        code, output, errors = self.look_in(script, seconds)
        check(code == 0, f"{self.name}: {script[:200]}: code {code}: {(output + errors).strip()[-600:]}")
        return output

    def start_script(self, script):
        return self.agent().start(script)

    # What is plugged in

    def plug(self, name):
        memory, plug = hardware.device(name, self)
        with self.monitor() as monitor:
            if name == DISK:
                monitor.execute("blockdev-add", **hardware.disk_file("products-file", self.disk))
            if memory:
                monitor.execute("object-add", **memory)
            monitor.execute("device_add", **plug)
        self.plugged.append(name)
        if name == RDMA:
            self._wait_inside(f"grep -lx {hardware.address('rdma', self.card)} /sys/class/net/*/address")
            self.output("lab-nics")
        elif name == DISK:
            self._wait_inside("test -b /dev/vdb")
            self.output(f"mount -o ro /dev/vdb {MOUNTED}")
        else:
            self._wait_inside("grep -lx 0x1110 /sys/bus/pci/devices/*/device")

    def _wait_inside(self, condition):
        """Device nodes appear some time after device_add; the guest waits for them, by its own clock."""
        self.output(f"for i in $(seq 2000); do {condition} >/dev/null 2>&1 && exit 0; sleep 0.03; done; exit 1", seconds=60)

    def look(self):
        """Asks QEMU what is plugged in: an unplugging may have been interrupted."""
        there = {entry["name"] for entry in self.query("qom-list", path="/machine/peripheral")}
        self.plugged = [name for name in hardware.PORTS if name in there]

    def unplug(self, name, seconds=60):
        """Unplugs a device and waits until the guest has released it."""
        with self.monitor(seconds) as monitor:
            try:
                monitor.execute("device_del", id=name)
            except Refused as refusal:
                if "in the process of unplug" not in str(refusal):
                    raise
            try:
                monitor.wait_event("DEVICE_DELETED", device=name)
            except OutOfTime:
                raise Failed(f"{self.name} still holds {name}: {self.holders() or 'no process has it open'}") from None
            memory, _ = hardware.device(name, self)
            if memory:
                monitor.execute("object-del", id=memory["id"])
        self.plugged.remove(name)

    def holders(self):
        """The guest's processes that have an RDMA device open."""
        # One process for all descriptors: on an emulated processor each process costs tens of milliseconds.
        lines = self.look_in("ls -l /proc/[0-9]*/fd 2>/dev/null | grep -e ^/proc -e ' /dev/infiniband/'")[1].splitlines()
        holding = [before.split("/")[2] for before, line in zip(lines, lines[1:]) if " /dev/infiniband/" in line and before[0] == "/"]
        names = self.look_in(f"cd /proc && grep -s . {' '.join(pid + '/comm' for pid in holding)} /dev/null")[1] if holding else ""
        return names.replace("/comm:", " ").replace("\n", " ").strip()

    def let_go_for_migration(self, seconds=60):
        """Unplugs first what processes may hold, then what keeps QEMU from migrating."""
        self.look()
        for name in (RDMA, BLOCKER):
            if name in self.plugged:
                self.unplug(name, seconds)

    # Its state, elsewhere

    def save(self, path):
        """Writes the paused guest's state to a file."""
        self._migrate(f"exec:cat >{shlex.quote(path)}", SAVE_BYTES_A_SECOND)

    def restore(self, machine, path, values):
        """A new QEMU loads a state from a file, and stays paused. `values`: what saved() returned then."""
        self.plugged, self.disk = list(values["plugged"]), values["disk"]
        self.generation = str(uuid.uuid4())
        self.start(machine, incoming=True)
        self._take(f"exec:cat {shlex.quote(path)}")

    def migrate(self, machine):
        """Live, into a second QEMU; the first ends when the second runs. Returns QEMU's figures."""
        self.look()
        arrives = Guest(**self.__dict__)
        arrives.start(machine, incoming=True)
        try:
            arrives.query("migrate-incoming", uri=f"unix:{arrives.instance_name()}.migration")
            figures = self._migrate(f"unix:{arrives.instance_name()}.migration", MIGRATE_BYTES_A_SECOND)
            arrives.go_on()
            wait_until(f"{self.name} to run in its new place", lambda: arrives.query("query-status")["status"] == "running",
                       30 * self.pace)
        except BaseException:
            arrives.stop()
            raise
        self.become(arrives)
        return figures

    def become(self, arrived):
        """It runs in that QEMU from now on; the former one is ended."""
        processes.stop([self.process])
        self.__dict__.update(arrived.__dict__)

    def _migrate(self, uri, bytes_a_second):
        with self.monitor(120) as monitor:
            monitor.execute("migrate-set-parameters", **{"max-bandwidth": bytes_a_second})
            monitor.execute("migrate", uri=uri)
            while True:
                answer = monitor.execute("query-migrate")
                if answer["status"] == "completed":
                    return answer
                if answer["status"] in ("failed", "cancelled"):
                    raise Refused(f"{self.name}: {answer.get('error-desc', 'migration ' + answer['status'])}")
                time.sleep(0.01)

    def _take(self, uri):
        with self.monitor(120) as monitor:
            monitor.execute("migrate-incoming", uri=uri)
            while monitor.execute("query-status")["status"] == "inmigrate":
                time.sleep(0.01)
