# SPDX-License-Identifier: BSD-3-Clause
"""btlctl vm migrate --domain under a job whose traffic is on the card, with two libvirt daemons: interfered with, and killed."""
import os
import re

from scripts.vmlab import libvirt
from scripts.vmlab.libvirt import BLOCKING, CARD
from scripts.vmlab.monitor import Refused
from tests.harness.control import RETRACTED
from tests.harness.scenario import NEEDS_ROOT, scenario, slow
from tests.harness.waiting import Failed, check, wait_until

from . import phases
from .migrations import VmCommand, phases_of, planned, set_up_cards, times_of
from .verbs import VerbsJob, add_verbs

SLOW_MIB_S, FAST_MIB_S = 24, 8192  # a migration takes several seconds, or as little as possible
LOADED = "livebtl.loaded"  # the one note that stays in a restored domain
NOBODY = "qemu+unix:///system?socket=/nobody/libvirt-sock"


class DomainMigrate(VmCommand):
    def __init__(self, job, guest, to, *more, cards=(CARD, BLOCKING), seconds=90, dry_run=False):
        super().__init__(job, "migrate", "--domain", guest.name, "--connect", guest.host.uri, "--to", to, *more,
                         *(word for card in cards for word in ("--card", card)), *(["--dry-run"] if dry_run else []), seconds=seconds)


def migrate_once(*arguments, **options):
    with DomainMigrate(*arguments, **options) as running:
        return running.finish()


def begin(lab, job):
    job.wait_ready()
    add_verbs(job)
    for guest in lab.guests:
        set_up_cards(guest)
        guest.attach_blocker()


def _where(job, guest):
    return [each.name for each in job.lab.hosts if guest.name in each.virsh("list", "--name").split()]


def is_there(job, guest, host):
    """The guest runs only at that host, with both cards, nothing of btlctl is left in it, and the job is on verbs."""
    guest.host = host
    where = _where(job, guest)
    check(where == [host.name], f"{guest.name} is at {where}, not at {host.name}")
    text = guest.xml()
    check(guest.has(CARD) and guest.has(BLOCKING), f"not both cards are there: {text}")
    notes = set(re.findall(r"urn:livebtl:note:([^'\"]+)", text))
    check(notes <= {LOADED}, f"notes were left: {notes}")
    job.wait_across("verbs")
    job.check_carried(by_verbs=True)


def migrate_there(job, guest, meanwhile=None):
    """verbs -> tcp -> the other host -> verbs; `meanwhile` is called repeatedly until that is done. Returns (when
    btlctl was started, its document)."""
    there = job.lab.other(guest.host)
    plan = planned(*migrate_once(job, guest, there.uri, dry_run=True))
    with DomainMigrate(job, guest, there.uri) as running:
        while meanwhile and running.under_way():
            meanwhile()
        code, document = running.finish()
    check(code == 0 and document["moved"], f"btlctl vm migrate: code {code}: {document}")
    check(phases_of(document) == plan, f"planned was {plan}, done {phases_of(document)}")
    is_there(job, guest, there)
    return running.began, document


def _refused_by_libvirt(guest, there):
    """Without btlctl, libvirt does not migrate such a guest."""
    try:
        guest.host.virsh("migrate", "--live", "--p2p", guest.name, there.uri)
    except Refused as refusal:
        return str(refusal).rpartition("error: ")[2]
    raise Failed("libvirt has migrated a guest with a card that cannot be migrated")


def _taken_back(job, guest):
    """The daemon here cannot reach the other one: the migration is taken back."""
    here = guest.host
    code, document = migrate_once(job, guest, NOBODY, "--destination-connect", job.lab.other(here).uri)
    check(code == RETRACTED and not document["moved"] and not document["left"], f"a migration to nobody: {code} {document}")
    is_there(job, guest, here)
    return document["text"]


@scenario("libvirt-migrate", NEEDS_ROOT)
def libvirt_migrate(context):
    """Two guests of a job on verbs are migrated by turns between two libvirt daemons, repeatedly, each time without the
    cards that libvirt refuses to migrate; first a migration that fails is taken back. Nothing is lost."""
    rounds = 2 if context.short else 50
    with libvirt.new(context.build) as lab, VerbsJob(lab, context) as job:
        begin(lab, job)
        said = _refused_by_libvirt(lab.guests[0], lab.hosts[1])
        told = _taken_back(job, lab.guests[0])
        documents = [migrate_there(job, lab.guests[number % 2])[1] for number in range(rounds)]
        totals = job.finish()
    return (f"libvirt by itself: {said}; to nobody: {told}; moved {rounds} times in a row under {totals['received']} messages, "
            f"lost 0, repeated 0, out of order 0; medians / maxima: {times_of(documents)}")


def _begins_there(guest, there, running):
    """Waits until the daemon there is about to start its QEMU."""
    if not running.under_way():
        raise Failed(f"btlctl vm migrate ended early: {running.process.communicate()}")
    return os.path.exists(there.state_file(guest))


def _under_way(guest, running):
    if not running.under_way():
        raise Failed(f"btlctl vm migrate ended early: {running.process.communicate()}")
    return "Outgoing migration" in guest.host.virsh("domjobinfo", guest.name)


def _interfered(job, guest, interfere, begins=False):
    """Whatever is done to a migration that is under way, or beginning: it is taken back. Returns what the command said."""
    here, there = guest.host, job.lab.other(guest.host)
    here.virsh("migrate-setspeed", guest.name, str(SLOW_MIB_S))
    with DomainMigrate(job, guest, there.uri) as running:
        ready = (lambda: _begins_there(guest, there, running)) if begins else (lambda: _under_way(guest, running))
        wait_until("the migration to be under way", ready, 120 * guest.pace, interval=0.002 if begins else 0.1)
        interfere(here, there)
        code, document = running.finish()
    for host in job.lab.hosts:
        host.wait_daemon()
    check(not document["moved"] and code == RETRACTED, f"interfered with: {code} {document}")
    if document["left"]:
        _remove_half(guest, there, document["left"])
    # A daemon that was killed at the destination answers before it has removed its half of the migration.
    wait_until(f"{guest.name} to be at {here.name} alone", lambda: _where(job, guest) == [here.name], 60)
    is_there(job, guest, here)
    return "; ".join([document["text"], *document["left"]])


def _remove_half(guest, there, left):
    """Does what the command leaves to be done: a daemon killed while it started QEMU keeps a domain that it cannot end."""
    check(len(left) == 1 and f"virsh -c {there.uri} destroy {guest.name}" in left[0], f"left: {left}")
    try:
        there.virsh("destroy", guest.name)
    except Refused:
        check("starting up" in there.virsh("domstate", "--reason", guest.name), "only such a domain cannot be destroyed")
        os.remove(there.state_file(guest))
        there.kill_daemon()  # it will come back
        there.wait_daemon()


@scenario("libvirt-interference", NEEDS_ROOT, slow("libvirt-migrate"))
def interference(context):
    """A migration under way is aborted by virsh, and its daemons crash and come back, the one there also while it
    starts QEMU: taken back each time, and on verbs again; what is left there is reported, and removed; then it succeeds."""
    with libvirt.new(context.build) as lab, VerbsJob(lab, context) as job:
        begin(lab, job)
        guest = lab.guests[0]
        told = [_interfered(job, guest, interfere) for interfere in (
            lambda here, there: here.virsh("domjobabort", guest.name),
            lambda here, there: here.kill_daemon(),
            lambda here, there: there.kill_daemon())]
        told.append(_interfered(job, guest, lambda here, there: there.kill_daemon(), begins=True))
        guest.host.virsh("migrate-setspeed", guest.name, str(FAST_MIB_S))
        migrate_there(job, guest)
        totals = job.finish()
    return f"{'; '.join(told)}; {totals['received']} messages, lost 0, repeated 0, out of order 0"


def _killed_there(job, guest, wanted):
    """Returns the phases in which btlctl was killed; the same command follows each time."""
    there = job.lab.other(guest.host)

    def attempt(phase):
        guest.host.virsh("migrate-setspeed", guest.name, str(SLOW_MIB_S if phase in ("begin", "migrate") else FAST_MIB_S))
        with DomainMigrate(job, guest, there.uri) as running:
            running.wait_phase(phase)
            return running.kill()

    seen = []
    for phase in wanted:
        killed = attempt(phase)
        code, document = migrate_once(job, guest, there.uri)
        check(code == 0 and document["moved"], f"after a kill in {phase}: {code} {document}")
        is_there(job, guest, there)
        there = job.lab.other(guest.host)
        seen += [phase] if killed else []
    return seen


@scenario("libvirt-is-killed", NEEDS_ROOT, slow("libvirt-migrate"))
def killed(context):
    """kill -9 of btlctl in each phase of a migration by libvirt, then the same command again, which goes on from there."""
    with libvirt.new(context.build) as lab, VerbsJob(lab, context) as job:
        begin(lab, job)
        seen = _killed_there(job, lab.guests[0], phases.THERE)
        check(set(seen) >= {"prepare", "unplug", "migrate", "return_there"}, f"killed in {seen} alone")
        totals = job.finish()
    return f"killed in {', '.join(seen)}; {totals['received']} messages, lost 0, repeated 0, out of order 0"
