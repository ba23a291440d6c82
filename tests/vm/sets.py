# SPDX-License-Identifier: BSD-3-Clause
"""btlctl vm snapshot and vm restore: all guests of a job as one set, from which the job goes on, or an error says why not."""
import json
import os
import re
import shutil
import signal

from scripts.vmlab import processes
from scripts.vmlab.hardware import RDMA
from scripts.vmlab.places import SNAPSHOTS
from tests.harness.control import INCONSISTENT
from tests.harness.scenario import scenario, slow
from tests.harness.waiting import check, wait_until

from . import phases
from .migrations import VmCommand, set_up_cards
from .verbs import VerbsJob, add_verbs

# Phases that a call goes through twice if it cleans up after a killed one: meant is the second time, after this phase.
SNAPSHOT_AFTER = {"discard": "prepare", "go_on": "save", "end_hold": "check"}
LEASE_SECONDS = 7200  # an emulated guest on a busy machine needs minutes for one look
SHORT_LEASE_SECONDS = 60  # the shortest that vm snapshot accepts


class Sets:
    """Directories of sets, removed at the end."""

    def __init__(self, job):
        self.job, self.lab = job, job.lab
        self.place = os.path.join(SNAPSHOTS, "sets")

    def __enter__(self):
        shutil.rmtree(self.place, ignore_errors=True)
        os.makedirs(self.place)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.place)

    def directory(self, name):
        return os.path.join(self.place, name)

    cards = (RDMA,)

    def snapshot(self, name, lease=LEASE_SECONDS):
        machines = [",card=".join((self._machine(guest), *self.cards)) for guest in self.lab.guests]
        return VmCommand(self.job, "snapshot", self.directory(name), "--lease", str(lease), *_each("--vm", machines),
                         seconds=900)

    def restore(self, name):
        return VmCommand(self.job, "restore", self.directory(name), *_each("--vm", map(self._machine, self.lab.guests)))

    @staticmethod
    def _machine(guest):
        name = guest.instance_name()
        return f"{guest.name},qmp={name}.qmp,ga={name}.agent"

    def take(self, name):
        document = _done(self.snapshot(name))
        self.goes_on()
        return document

    def remove(self, name):
        shutil.rmtree(self.directory(name), ignore_errors=True)

    def put_back(self, name):
        document = _done(self.restore(name))
        self.goes_on()
        return document

    def goes_on(self):
        for guest in self.lab.guests:
            guest.look()
            check(RDMA in guest.plugged, f"{guest.name} has not got its card back: {guest.plugged}")
        self.job.wait_across("verbs")
        self.job.check_carried(by_verbs=True)

    def kill_machines(self, spared=None):
        """Kills all QEMUs except the spared one; new ones wait for a state."""
        processes.stop([guest.process for guest in self.lab.guests if guest.process != spared], signal.SIGKILL)
        for guest in self.lab.guests:
            guest.plugged = [each for each in guest.plugged if each != RDMA]
            guest.generation = ""  # a new one tells the guest that it was restored
            guest.start(self.lab.machine, incoming=True)
        self.lab.store()


def _each(option, values):
    return [word for value in values for word in (option, value)]


def finished(command):
    """(exit code, document)"""
    with command as running:
        return running.finish()


def _done(command):
    code, document = finished(command)
    check(code == 0, f"btlctl vm {command.action}: code {code}: {document}")
    return document


def begin(lab, job):
    job.wait_ready()
    add_verbs(job)
    for guest in lab.guests:
        set_up_cards(guest)


@scenario("set-is-restored", slow("job-is-restored"))
def restored(context):
    """All guests are saved as a set, and their QEMUs killed; the job goes on from the set, more than once."""
    restores = 1 if context.short else 3
    with context.lab(2) as lab, VerbsJob(lab, context) as job, Sets(job) as sets:
        begin(lab, job)
        taken = sets.take("monday")
        for _ in range(restores):
            sets.kill_machines()
            put_back = sets.put_back("monday")
        totals = job.finish()
    return (f"killed and restored {restores} times; {totals['received']} messages, lost 0, repeated 0, out of order 0; "
            f"snapshot: {phases_in(taken)}; restore: {phases_in(put_back)}")


def phases_in(document):
    return ", ".join(f"{phase['phase']} {phase.get('of', '')}".strip() + f" {phase['milliseconds']:.0f} ms"
                     for phase in document["phases"])


@scenario("set-is-killed", slow("migration-is-killed"))
def killed(context):
    """kill -9 of btlctl in every phase of a snapshot and of a restore, each time followed by the same command. With
    --short, a restore's only while the job is held, and afterwards."""
    take = phases.SHORT_SNAPSHOT if context.short else phases.SNAPSHOT
    put_back = phases.SHORT_RESTORE if context.short else phases.RESTORE
    with context.lab(2) as lab, VerbsJob(lab, context) as job, Sets(job) as sets:
        begin(lab, job)
        taking = phases.killed_in_each(take, lambda phase: _killed_while_taken(sets, phase))
        sets.take("tuesday")  # a call that was killed after its last step has completed its set
        restoring = phases.killed_in_each(put_back, lambda phase: _killed_while_restored(sets, phase))
        refusing = () if context.short else _killed_while_refused(sets)
        totals = job.finish()
    return (f"killed in {', '.join(taking)} of snapshots and in {', '.join((*restoring, *refusing))} of restores; "
            f"{totals['received']} messages, lost 0, repeated 0, out of order 0")


def _killed_while_taken(sets, phase):
    """A call that had already ended has made its set, which the next one would refuse to overwrite."""
    was_killed = _kill_in(sets.snapshot("monday"), phase, SNAPSHOT_AFTER.get(phase))
    if not was_killed:
        sets.remove("monday")
    return was_killed


def _killed_while_restored(sets, phase):
    sets.kill_machines()
    was_killed = _kill_in(sets.restore("tuesday"), phase)
    sets.put_back("tuesday")
    return was_killed


def _killed_while_refused(sets):
    """Restores a set that does not fit together: the kill may leave guests running, and the next call refuses it the
    same way. Returns the phases."""
    mix(sets, "monday", "tuesday")

    def attempt(phase):
        sets.kill_machines()
        was_killed = _kill_in(sets.restore("mixed"), phase)
        code, document = finished(sets.restore("mixed"))
        check(code == INCONSISTENT, f"a set that does not fit together, once more: code {code}: {document}")
        return was_killed

    killed_in = phases.killed_in_each(phases.RESTORE_REFUSED, attempt)
    sets.kill_machines()
    sets.put_back("tuesday")
    return killed_in


def _kill_in(command, phase, after=None):
    """Returns whether it was still running."""
    with command as running:
        if after:
            running.wait_phase(after)
        if phase == "discard":
            running.interrupt()
        running.wait_phase(phase)
        return running.kill()


@scenario("lease-of-a-set-runs-out")
def lease_runs_out(context):
    """btlctl is stopped in mid-snapshot for longer than the lease: the job goes on by itself, and no set is made."""
    with context.lab(2) as lab, VerbsJob(lab, context) as job, Sets(job) as sets:
        begin(lab, job)
        with sets.snapshot("monday", SHORT_LEASE_SECONDS) as running:
            running.wait_phase("go_on")  # the first machine is saved
            running.process.send_signal(signal.SIGSTOP)
            lab.guests[0].query("cont", which="second")
            wait_until("the lease to run out", lambda: job.btlctl(job.head, "hold", "check").code == INCONSISTENT, 180 * lab.pace)
            job.wait_progress()
            running.process.send_signal(signal.SIGCONT)
            code, document = running.finish()
        # Its text depends on what it noticed first, such as the time-out of the phase in which it was stopped.
        check(code == INCONSISTENT, f"a snapshot of a job that was not held throughout: {code} {document}")
        check(all(words in document["text"] for words in ("lease ran out", "no snapshot is left")), f"it says: {document['text']}")
        check(not os.path.exists(os.path.join(sets.directory("monday"), "set.json")), "there is a set of it all the same")
        sets.goes_on()
        totals = job.finish()
    return f"code {code}: {document['text']}; {totals['received']} messages, lost 0, repeated 0, out of order 0"


@scenario("sets-are-mixed")
def mixed(context):
    """One guest is from an older set: the error names it, no guest is left running, the whole set still restores."""
    with context.lab(2) as lab, VerbsJob(lab, context) as job, Sets(job) as sets:
        begin(lab, job)
        sets.take("monday")
        sets.take("tuesday")
        mix(sets, "monday", "tuesday")
        sets.kill_machines()
        code, document = finished(sets.restore("mixed"))
        check(code == INCONSISTENT, f"a set that does not fit together: code {code}: {document}")
        check(re.search(r"rank \d on vm[12] .*is held by another, 0x", document["text"]), f"it says: {document['text']}")
        states = [guest.query("query-status")["status"] for guest in lab.guests]
        check("running" not in states, f"the guests are {states}")
        sets.kill_machines()
        sets.put_back("tuesday")
        totals = job.finish()
    return (f"code {code}: {document['text']}; then restored whole; {totals['received']} messages, lost 0, repeated 0, "
            "out of order 0")


def mix(sets, older, newer):
    """Makes a directory that looks like a set, with the first guest from the older one."""
    shutil.copytree(sets.directory(newer), sets.directory("mixed"))
    state = sets.lab.guests[0].name + ".ram"
    shutil.copy2(os.path.join(sets.directory(older), state), os.path.join(sets.directory("mixed"), state))
    file = os.path.join(sets.directory("mixed"), "set.json")
    with open(file, encoding="utf-8") as stream:
        document = json.load(stream)
    with open(os.path.join(sets.directory(older), "set.json"), encoding="utf-8") as stream:
        document["machines"][0] = json.load(stream)["machines"][0]
    with open(file, "w", encoding="utf-8") as stream:
        json.dump(document, stream)
