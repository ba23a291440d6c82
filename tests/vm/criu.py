# SPDX-License-Identifier: BSD-3-Clause
"""btlctl checkpoint run and restore: a job of one guest with its launcher, dumped by Debian's CRIU, and restored."""
import shlex

from tests.harness.control import DONE, INCONSISTENT, REFUSED, Answer
from tests.harness.launcher import launcher
from tests.harness.scenario import scenario
from tests.harness.waiting import check, wait_until

from .job import DIRECTORY, GuestsJob

SETS = "/tmp/sets"
TIMEOUT_SECONDS, LEASE_SECONDS = 900, 7200  # an emulated guest on a busy machine takes its time


class DumpedJob(GuestsJob):
    """A job in a session of its own, so that mpirun is nobody's child: its exit code is lost with the first dump, but
    not its ranks' proofs."""

    def __init__(self, lab, logs, transports="self,sm,tcp,verbs"):
        super().__init__(lab, logs, transports=transports)

    def __enter__(self):
        self.head.output(f"rm -rf {DIRECTORY} {SETS} && mkdir -m 700 {DIRECTORY} {SETS}")
        self.start()
        return self

    def start(self):
        self.head.output(f"setsid {shlex.join(self.command())} >{DIRECTORY}/mpirun.log 2>&1 </dev/null &")
        wait_until("mpirun to begin", self.processes, 60 * self.lab.pace)

    def ended(self):
        if self.code is None and not self.processes():
            self.code = 0
        return self.code is not None

    def processes(self):
        return self.head.output(f"pidof {self.names()}; true").split()

    def names(self):
        """The names of its processes; mpirun may become another program."""
        return " ".join({"mpirun", *launcher().PROCESSES, f"e2e_{self.program}"})

    def checkpoint(self, action, name, *options):
        words = ["checkpoint", action, f"{SETS}/{name}", *options]
        command = shlex.join(["btlctl", "--json", "--timeout", str(TIMEOUT_SECONDS), *words])
        return Answer(words, *self.head.look_in(command, TIMEOUT_SECONDS))

    def dump(self, name, *options):
        return self.checkpoint("run", name, "--criu", "--lease", str(LEASE_SECONDS), *options).expect(DONE)

    def devices_open(self):
        """Returns, for each rank, whether it has an RDMA device open: CRIU dumps no process with such a device."""
        script = f"for p in $(pidof e2e_{self.program}); do ls -l /proc/$p/fd | grep -c /dev/infiniband/uverbs; done; true"
        return [int(count) > 0 for guest in self.lab.guests for count in guest.output(script).split()]

    def check_device_open(self, wanted):
        each = self.devices_open()
        check(each == [wanted] * self.ranks, f"ranks with the device open: {each}, expected {wanted} of each")

    def versions(self):
        return self.head.output("criu --version | head -n 1; uname -r").split()


def dump_with_device(job):
    """The ranks go on with the device that they left for the dump."""
    job.check_device_open(True)
    job.dump("other", "--leave-running")
    job.check_device_open(True)
    job.wait_progress()


def refusals(job):
    """A damaged file, and one from another set: refused by name, and nothing is restored."""
    name, = job.head.output(f"cd {SETS}/first && ls *.criu").split()
    job.head.output(f"cd {SETS} && cp -a first damaged && printf x | dd of=damaged/{name} bs=1 seek=20000 conv=notrunc 2>&1")
    job.head.output(f"cd {SETS} && cp -a first mixed && cp other/{name} mixed/")
    for kind in ("damaged", "mixed"):
        answer = job.checkpoint("restore", kind)
        check(answer.code == INCONSISTENT and name in answer.json["text"], f"a {kind} set: {answer}")
        check(not job.processes(), f"processes of a {kind} set run")
    job.head.output(f"rm -rf {SETS}/damaged {SETS}/mixed {SETS}/other")


@scenario("criu-restart")
def restart(context):
    """Two ranks of stock Open MPI and mpirun, all in one guest, with an RDMA device open: dumped while they go on; then
    dumped and ended, restored, and so on; each time they have the device open again afterwards, and every message is
    checked. Damaged sets, and a second copy, are refused."""
    rounds = 1 if context.short else 5
    with context.lab(1) as lab, DumpedJob(lab, context.logs) as job:
        job.wait_ready()
        dump_with_device(job)
        phases = []
        for number in range(rounds):
            dumped = job.dump("first")
            check(not job.processes(), f"after the dump there are still {job.processes()}")
            if number == 0:
                refusals(job)
            restored = job.checkpoint("restore", "first").expect(DONE)
            job.check_device_open(True)
            job.wait_progress()
            again = job.checkpoint("restore", "first")
            check(again.code == REFUSED, f"a second copy of a job that runs: {again}")
            job.wait_progress()
            job.head.output(f"rm -rf {SETS}/first")
            phases = [f"{phase['phase']} {phase['milliseconds']:.0f} ms"
                      for answer in (dumped, restored) for phase in answer.json["phases"]]
        totals = job.finish()
        said = " ".join(job.versions())
    return (f"{said}: dumped and restored {rounds} times, {totals['received']} messages, lost 0, repeated 0, out of order 0; "
            f"the last time {', '.join(phases)}")
