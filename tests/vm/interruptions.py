# SPDX-License-Identifier: BSD-3-Clause
"""btlctl vm migrate when others interfere: the migration is cancelled, the card is held, btlctl is killed in every phase."""
import os
import socket

from scripts.vmlab.hardware import FIXED, RDMA
from scripts.vmlab.places import RUN
from tests.harness.control import FOREIGN, RETRACTED
from tests.harness.scenario import scenario, slow
from tests.harness.waiting import Failed, check, wait_until

from . import phases
from .migrations import NOWHERE, VmMigrate, arriving, migration_to, set_up_cards, vm_migrate_once
from .verbs import VerbsJob, add_verbs

SLOW_BYTES_S = 24 << 20  # a migration takes several seconds
FAST_BYTES_S = 8 << 30
MOVED_BYTES = 1 << 20    # so that a migration is really under way


def _limit(guest, bytes_s):
    guest.query("migrate-set-parameters", which="second", **{"max-bandwidth": bytes_s})


def _begin(lab, job):
    job.wait_ready()
    add_verbs(job)
    set_up_cards(lab.guests[0])
    return lab.guests[0]


def _still_there(guest):
    guest.look()
    check(RDMA in guest.plugged, f"the card is gone: {guest.plugged}")


@scenario("migration-is-cancelled")
def cancelled(context):
    """The migration is cancelled at a second monitor: the card is plugged in again, and the job returns to it."""
    with context.lab(2) as lab, VerbsJob(lab, context) as job:
        guest = _begin(lab, job)
        arrives = arriving(guest, lab.machine)
        try:
            _limit(guest, SLOW_BYTES_S)
            with VmMigrate(job, guest, *migration_to(arrives)) as running:
                wait_until("the migration to be under way", lambda: _migrates(guest, running), 120 * guest.pace)
                guest.query("migrate_cancel", which="second")
                code, document = running.finish()
        finally:
            arrives.stop()
        # QEMU closes the connection before it records the cancel, and may report its own failed write instead.
        told = "cancel" in document["text"] or "Broken pipe" in document["text"]
        check(code == 5 and not document["moved"] and told, f"a cancelled migration: {code} {document}")
        _still_there(guest)
        job.wait_across("verbs")
        job.check_carried(by_verbs=True)
        totals = job.finish()
    return f"{document['text']}; {totals['received']} messages, lost 0, repeated 0, out of order 0"


def _migrates(guest, running):
    if not running.under_way():
        raise Failed(f"btlctl vm migrate ended early: {running.process.communicate()}")
    state = guest.query("query-migrate", which="second")
    # QEMU may report a migration that is cancelled before its first byte as failed.
    return state.get("status") == "active" and state.get("ram", {}).get("transferred", 0) > MOVED_BYTES


def _phases(document):
    return [phase["phase"] for phase in document["phases"]]


@scenario("card-held-in-the-job")
def held_in_the_job(context):
    """A library within the job's own processes has the device open: code 7, and nothing is touched."""
    with context.lab(2) as lab, VerbsJob(lab, context, LIVEBTL_HIDE_DEVICES="off") as job:
        guest = _begin(lab, job)
        code, document = vm_migrate_once(job, guest, NOWHERE)
        check(code == FOREIGN and _phases(document) == ["look", "prepare", "look_back", "return"], f"code {code}: {document}")
        _still_there(guest)
        job.wait_across("verbs")
        job.check_carried(by_verbs=True)
        totals = job.finish()
    return f"code {code}: {document['text'][:160]}; {totals['received']} messages"


@scenario("card-held-by-another-process", slow("card-held-in-the-job"))
def held_by_another_process(context):
    """A process outside the job has the device open: the guest does not release the card; the job goes on over tcp, as the
    kernel has taken the device away, which the command reports. Once that process has ended, the same command succeeds."""
    with context.lab(2) as lab, VerbsJob(lab, context) as job:
        guest = _begin(lab, job)
        pid = guest.start_script("exec ibv_asyncwatch >/run/watch.log 2>&1")
        wait_until("a program to open the device", lambda: "ibv_asyncwatch" in guest.holders(), 30 * guest.pace)
        arrives = arriving(guest, lab.machine)
        try:
            refused = _refused_while_held(job, guest, arrives)
            check("ibv_asyncwatch" in guest.holders(), "the program has let go by itself")
            guest.output(f"kill {pid}")
            code, document = vm_migrate_once(job, guest, *migration_to(arrives))
            check(code == 0 and document["moved"], f"after the program has ended: {code} {document}")
        except BaseException:
            arrives.stop()
            raise
        guest.become(arrives)
        guest.look()
        job.wait_across("verbs")
        job.check_carried(by_verbs=True)
        totals = job.finish()
    return f"{refused}; then moved; {totals['received']} messages, lost 0, repeated 0, out of order 0"


def _refused_while_held(job, guest, arrives):
    """Checks what is reported about the card, and about the job that has lost it."""
    # The command waits for the card for most of its time-out, and leaves enough of it for the way back.
    code, document = vm_migrate_once(job, guest, *migration_to(arrives), seconds=45)
    check(code == RETRACTED and not document["moved"], f"with a card that is held: {code} {document}")
    said = ("have an RDMA device open: ", "ibv_asyncwatch (pid ", "here, but its job stays on another transport")
    check(all(words in document["text"] for words in said), f"it says: {document['text']}")
    left = "; ".join(document["left"])
    check("rank 0 on vm1: verbs: " in left and "this machine has no RDMA device" in left, f"left to do: {left}")
    job.wait_across("tcp")
    job.wait_progress()
    return document["text"]


@scenario("card-cannot-be-unplugged", slow("migration-is-cancelled"))
def cannot_be_unplugged(context):
    """A second card is on a bus without hot plug: QEMU's own refusal is reported, the first one is plugged in again,
    and the job returns to it."""
    with context.lab(2) as lab, VerbsJob(lab, context) as job:
        guest = _begin(lab, job)
        code, document = vm_migrate_once(job, guest, NOWHERE, cards=(RDMA, FIXED))
        check(code == RETRACTED and not document["moved"] and not document["left"], f"with a card that stays: {code} {document}")
        check("device_del: Bus 'pcie.0' does not support hotplugging" in document["text"], f"it says: {document['text']}")
        check(_phases(document) == ["look", "prepare", "unplug", "unplug", "look_back", "plug", "return"], f"phases: {document}")
        _still_there(guest)
        notes = [entry["name"] for entry in guest.query("qom-list", path="/objects") if entry["name"].startswith("livebtl")]
        check(not notes, f"left behind in QEMU: {notes}")
        job.wait_across("verbs")
        job.check_carried(by_verbs=True)
        totals = job.finish()
    return f"code {code}: {document['text']}; {totals['received']} messages, lost 0, repeated 0, out of order 0"


class Hole:
    """A destination that never reads, so that a migration to it never ends. Afterwards nothing listens there."""
    uri = "unix:hole.migration"

    def __enter__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        directory = os.open(RUN, os.O_PATH | os.O_DIRECTORY)  # paths of sockets are limited to 108 bytes
        try:
            self.socket.bind(f"/proc/self/fd/{directory}/hole.migration")
        finally:
            os.close(directory)
        self.socket.listen(64)
        return self

    def __exit__(self, *_):
        self.socket.close()
        os.remove(os.path.join(RUN, "hole.migration"))


@scenario("migration-is-killed")
def killed(context):
    """kill -9 of btlctl vm migrate in every phase, both of a migration that is rolled back and of one that succeeds; each time
    followed by the same command."""
    moves = 1 if context.short else 2
    back, there = (phases.SHORT_BACK, phases.SHORT_THERE) if context.short else (phases.BACK, phases.THERE)
    with context.lab(2) as lab, VerbsJob(lab, context) as job:
        _begin(lab, job)
        set_up_cards(lab.guests[1])
        seen = [_killed_on_the_way_back(job, guest, back) + _killed_on_the_way_there(job, guest, there)
                for guest in lab.guests[:moves]]
        totals = job.finish()
    return (f"killed in {'; in '.join(', '.join(each) for each in seen)}; {totals['received']} messages, lost 0, repeated 0, "
            "out of order 0")


def _killed_on_the_way_back(job, guest, wanted):
    """Returns the phases in which btlctl was killed."""
    with Hole() as hole:
        def attempt(phase):
            with VmMigrate(job, guest, hole.uri) as running:
                running.wait_phase("migrate")
                if phase == "go_on":
                    guest.query("stop", which="second")
                running.interrupt()
                running.wait_phase(phase)
                return running.kill()

        seen = phases.killed_in_each(wanted, attempt)
    code, document = vm_migrate_once(job, guest, hole.uri)
    check(code == RETRACTED and not document["moved"] and not document["left"], f"the last call: {code} {document}")
    _still_there(guest)
    job.wait_across("verbs")
    job.check_carried(by_verbs=True)
    return seen


def _killed_on_the_way_there(job, guest, wanted):
    """Returns the phases in which btlctl was killed."""
    arrives = arriving(guest, job.lab.machine)

    def attempt(phase):
        with VmMigrate(job, guest, *migration_to(arrives)) as running:
            running.wait_phase(phase)
            was_killed = running.kill()
        if phase == "migrate":
            _limit(guest, FAST_BYTES_S)
        return was_killed

    try:
        _limit(guest, SLOW_BYTES_S)
        seen = phases.killed_in_each(wanted, attempt)
        code, document = vm_migrate_once(job, guest, *migration_to(arrives))
        check(code == 0 and document["moved"], f"the last call: {code} {document}")
    except BaseException:
        arrives.stop()
        raise
    guest.become(arrives)
    guest.look()
    _still_there(guest)
    job.wait_across("verbs")
    job.check_carried(by_verbs=True)
    return seen
