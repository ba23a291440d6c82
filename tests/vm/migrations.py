# SPDX-License-Identifier: BSD-3-Clause
"""btlctl vm migrate, run where QEMU runs, under a job whose traffic is on the card."""
import itertools
import json
import os
import signal
import statistics
import subprocess
import time

from scripts.vmlab.arrival import arriving, set_up_cards
from scripts.vmlab.hardware import BLOCKER, RDMA
from scripts.vmlab.places import RUN
from tests.harness.scenario import scenario
from tests.harness.waiting import Failed, check

from .verbs import VerbsJob, add_verbs

NOWHERE = "unix:nobody.migration"


class VmCommand:
    """A running `btlctl vm ...`, started in the sockets' directory to keep their paths short. Leaving the context kills it."""

    def __init__(self, job, action, *words, seconds=90):
        self.action, self.log = action, os.path.join(job.logs, f"vm-{action}.log")
        self.began = time.time()
        words = [os.path.join(job.lab.build_directory, "bin", "btlctl"), "--json", "--progress", "--timeout",
                 str(seconds * job.lab.pace), "vm", action, "--guest-btlctl", "/opt/livebtl/bin/btlctl", *words]
        self.process = subprocess.Popen(words, cwd=RUN, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.under_way():
            self.kill()

    def under_way(self):
        return self.process.poll() is None

    def wait_phase(self, phase):
        """Waits until it reports the beginning of this phase, and returns that."""
        said = []
        for line in self.process.stderr:
            said.append(line)
            if line.split()[:1] == [phase]:
                return phase
        raise Failed(f"btlctl vm {self.action} ended before {phase}: {''.join(said)}{self.process.communicate()[0]}")

    def interrupt(self):
        """Ctrl-C"""
        self.process.send_signal(signal.SIGINT)

    def kill(self):
        """Returns whether it was still running."""
        self.process.kill()
        self.process.communicate()
        return self.process.returncode == -signal.SIGKILL

    def finish(self):
        """(exit code, document)"""
        output, errors = self.process.communicate()
        code = self.process.returncode
        with open(self.log, "a", encoding="utf-8") as file:
            file.write(output + errors)
        check(output, f"btlctl vm {self.action} said nothing, code {code}: {errors}")
        document = json.loads(output)
        check(document["exit_code"] == code, f"code {code} and {document}")
        return code, document


class VmMigrate(VmCommand):
    def __init__(self, job, guest, to, *more, cards=(RDMA,), seconds=90, dry_run=False):
        name = guest.instance_name()
        super().__init__(job, "migrate", "--qmp", name + ".qmp", "--ga", name + ".agent", "--to", to, *more,
                         *(word for card in cards for word in ("--card", card)), *(["--dry-run"] if dry_run else []), seconds=seconds)


def vm_migrate_once(*arguments, **options):
    with VmMigrate(*arguments, **options) as running:
        return running.finish()


def planned_phases(*arguments, **options):
    """Returns the plan of a dry run, if all goes well: phases, with their cards."""
    return planned(*vm_migrate_once(*arguments, dry_run=True, **options))


def planned(code, document):
    """The same, from a dry run's answer."""
    check(code == 0 and document["dry_run"] and not document["phases"], f"a dry run: code {code}: {document}")
    return [line.partition(":")[0] for line in itertools.takewhile(lambda line: not line.startswith("if "), document["plan"])]


def phases_of(document):
    """The same, of what was done. A plan begins after the phase `look`."""
    return [f"{phase['phase']} {phase.get('card', '')}".strip() for phase in document["phases"][1:]]


def migration_to(arrives):
    """Arguments of btlctl vm migrate: the destination."""
    name = arrives.instance_name()
    return f"unix:{name}.migration", "--destination-qmp", name + ".qmp", "--destination-ga", name + ".agent"


def migrate_there(job, guest, meanwhile=None):
    """Starts the guest's next QEMU and migrates the guest there; `meanwhile` is called repeatedly until that is done.
    Returns (when btlctl was started, its document)."""
    arrives = arriving(guest, job.lab.machine)
    cards = (RDMA, BLOCKER)
    try:
        planned = planned_phases(job, guest, *migration_to(arrives), cards=cards)
        with VmMigrate(job, guest, *migration_to(arrives), cards=cards) as running:
            while meanwhile and running.under_way():
                meanwhile()
            code, document = running.finish()
        check(code == 0 and document["moved"], f"btlctl vm migrate: code {code}: {document}")
        check(phases_of(document) == planned, f"planned was {planned}, done {phases_of(document)}")
    except BaseException:
        arrives.stop()
        raise
    guest.become(arrives)
    guest.look()
    return running.began, document


def _taken_back(job, guest):
    """A migration that fails, and is taken back."""
    code, document = vm_migrate_once(job, guest, NOWHERE)
    check(code == 5 and not document["moved"], f"a migration to nowhere: {document}")
    guest.look()
    check(RDMA in guest.plugged, f"not plugged in again: {guest.plugged}; {document}")
    job.wait_across("verbs")


def _move(job, guest):
    """verbs -> tcp -> another QEMU -> verbs."""
    check(BLOCKER in guest.plugged, f"{guest.name} could be migrated with all that is plugged in: {guest.plugged}")
    _, document = migrate_there(job, guest)
    job.wait_across("verbs")
    job.check_carried(by_verbs=True)
    return document


def times_of(documents):
    """The median and maximum of each phase."""
    times = {}
    for document in documents:
        for name, phase in zip(["look", *phases_of(document)], document["phases"]):
            times.setdefault(name, []).append(phase["milliseconds"])
    return ", ".join(f"{phase} {statistics.median(each):.0f} / {max(each):.0f} ms" for phase, each in times.items())


@scenario("vm-migrate")
def vm_migrate(context):
    """The guests of a job on verbs are migrated by turns, repeatedly, and the job returns to verbs each time; first, a
    migration that fails is taken back. Nothing is lost."""
    rounds = 1 if context.short else 20
    with context.lab(2) as lab, VerbsJob(lab, context) as job:
        job.wait_ready()
        add_verbs(job)
        for guest in lab.guests:
            set_up_cards(guest)
        _taken_back(job, lab.guests[0])
        for guest in lab.guests:
            guest.plug(BLOCKER)  # what QEMU refuses to migrate is unplugged as well, after the card
        documents = [_move(job, lab.guests[number % 2]) for number in range(rounds)]
        totals = job.finish()
    return (f"moved {rounds} times in a row under {totals['received']} messages, lost 0, repeated 0, out of order 0; "
            f"medians / maxima: {times_of(documents)}")
