# SPDX-License-Identifier: BSD-3-Clause
"""Transport verbs on Soft-RoCE devices: which processes hold them, and jobs that leave them and return."""
import math
import statistics
import time

from scripts.vmlab.hardware import BLOCKER, RDMA
from tests.harness.control import DONE, FOREIGN
from tests.harness.job import OVER_LIVEBTL
from tests.harness.scenario import scenario, slow
from tests.harness.waiting import check, wait_until

from .job import ARGUMENTS, GuestsJob


class VerbsJob(GuestsJob):
    """A job with default settings, as a user starts it: verbs is closed until it is added."""

    def __init__(self, lab, context, program="stream", ranks_per_guest=2, arguments=ARGUMENTS, **environment):
        super().__init__(lab, context.logs, program, ranks_per_guest, arguments, transports="")
        self.environment |= environment
        self.times = {}  # phase -> seconds, each time

    @property
    def across(self):
        """Number of pairs whose two ranks are on different guests."""
        return self.per_guest ** 2 * math.comb(len(self.lab.guests), 2)

    def order(self, *words):
        """A command that must succeed; its ladder's time is recorded under its verb, without btlctl's own start and end."""
        answer = self.timed(words[0] + " with btlctl", lambda: self.btlctl(self.head, *words).expect(DONE)).json
        self.times.setdefault(words[0], []).append(sum(rung["milliseconds"] for rung in answer["rungs"]) / 1000)
        return answer

    def timed(self, phase, act):
        started = time.monotonic()
        result = act()
        self.times.setdefault(phase, []).append(time.monotonic() - started)
        return result

    def phases(self):
        return ", ".join(f"{phase} {1000 * statistics.median(times):.0f} ms" for phase, times in self.times.items())

    def transports(self):
        """{transport: (pairs that send by it, paths lost so far)} of the whole job."""
        self.check_running()
        found = {}
        for member in self.btlctl(self.head, "list").expect(DONE).json["members"]:
            for each in member["transports"]:
                ends, lost = found.get(each["name"], (0, 0))
                found[each["name"]] = (ends + each["peers"], lost + each["paths_lost"])
        return {name: (ends / 2, lost) for name, (ends, lost) in found.items()}

    def wait_across(self, transport):
        """Waits until all pairs across guests send by this transport."""
        wait_until(f"{self.across} pairs on {transport}", lambda: self.transports()[transport][0] == self.across, 60 * self.lab.pace,
                   interval=0.2)

    def fetched(self):
        """Payloads that devices have read from memory to memory (RDMA) so far."""
        return sum(transport["frames_read_remotely"] for member in self.btlctl(self.head, "list").expect(DONE).json["members"]
                   for transport in member["transports"] if transport["name"] == "verbs")

    def check_carried(self, by_verbs):
        """Checks, by the devices' own counters, whether messages are carried by verbs."""
        before, messages = self.packets(), self.progress()
        self.wait_progress()
        sent = [after - one for after, one in zip(self.packets(), before)]
        check(all(sent) if by_verbs else not any(sent), f"the devices sent {sent} packets; messages before: {messages}")
        if by_verbs and self.computes:  # such a program also sends large messages
            wait_until("a payload that a device has read", lambda: self.fetched() > 0, 60 * self.lab.pace, interval=0.5)


@scenario("devices-are-left-alone")
def devices_are_left_alone(context):
    """Stock Open MPI over livebtl opens no RDMA device by itself, so a card can be pulled under the job."""
    with context.lab(2) as lab, VerbsJob(lab, context) as job:
        job.wait_ready()
        job.wait_progress()
        for guest in lab.guests:
            check(not guest.holders(), f"{guest.name}: the device is held by {guest.holders()}")
        for guest in lab.guests:
            guest.unplug(RDMA)
        job.wait_progress()
        totals = job.finish()
    return f"no process of {job.ranks} had a device open; both cards were pulled under {totals['received']} messages"


@scenario("held-by-another-library", slow("card-held-in-the-job"))
def held_by_another_library(context):
    """Why devices are hidden: otherwise libfabric's own verbs provider holds them, which `remove verbs` reports."""
    with context.lab(2) as lab, VerbsJob(lab, context, LIVEBTL_HIDE_DEVICES="off") as job:
        job.wait_ready()
        for guest in lab.guests:
            check("e2e_stream" in guest.holders(), f"{guest.name}: nobody holds the device: is there nothing to hide it from?")
        early = job.btlctl(job.head, "remove", "verbs").expect(FOREIGN)  # livebtl itself has never opened it
        check(early.json["already"] and len(early.json["other_holders"]) >= job.ranks, f"before verbs was added: {early}")
        add_verbs(job)
        answer = job.btlctl(job.head, "remove", "verbs").expect(FOREIGN)
        held = answer.json["other_holders"]
        check(len(held) >= job.ranks and all("/dev/infiniband/uverbs0" in line and "likely by librdmacm" in line for line in held),
              f"held by: {held}")
        job.wait_across("tcp")
        totals = job.finish()
    return f"code {FOREIGN}: {held[0]}; {totals['received']} messages"


@scenario("verbs-is-left-for-a-migration", slow("vm-migrate"))
def verbs_is_left_for_a_migration(context):
    """verbs -> tcp, a guest is live-migrated without its card, and back to verbs, repeatedly; nothing is lost."""
    rounds, switches = (1, 1) if context.short else (20, 4)
    with context.lab(2) as lab, VerbsJob(lab, context) as job:
        job.wait_ready()
        for guest in lab.guests:
            guest.plug(BLOCKER)
        add_verbs(job)
        for _ in range(switches):
            check(job.order("switch", "verbs", "tcp")["pairs_moved"] == job.across, "not all pairs left verbs")
            job.check_carried(by_verbs=False)
            check(job.order("switch", "tcp", "verbs")["pairs_moved"] == job.across, "not all pairs returned to verbs")
            job.check_carried(by_verbs=True)
        for number in range(rounds):
            _migrate_without_card(job, lab.guests[(number + 1) % 2])
        ends = job.transports()["verbs"][1]  # an emulated guest may stall for seconds
        totals = job.finish()
    return (f"{rounds} migrations and {2 * switches} switches under {totals['received']} messages, lost 0, repeated 0, "
            f"out of order 0; {ends:.0f} ends of verbs paths were lost on the way; medians: {job.phases()}")


def add_verbs(job):
    job.order("add", "verbs")
    job.wait_across("verbs")
    job.check_carried(by_verbs=True)


def _migrate_without_card(job, guest):
    check(job.order("remove", "verbs")["released"], "verbs is not released")
    check(not guest.holders(), f"{guest.name}: after the release the device is held by {guest.holders()}")
    job.timed("device_del", lambda: guest.unplug(RDMA))
    guest.unplug(BLOCKER)
    job.timed("live migration", lambda: guest.migrate(job.lab.machine))
    job.wait_progress()
    job.timed("card there again", lambda: guest.plug(RDMA))
    guest.plug(BLOCKER)
    add_verbs(job)


@scenario("card-vanishes")
def card_vanishes(context):
    """device_del under load and without notice: pairs fail over to tcp, the library itself closes the device, and opens
    it again when it is back."""
    rounds = 1 if context.short else 5
    with context.lab(2) as lab, VerbsJob(lab, context) as job:
        job.wait_ready()
        add_verbs(job)
        for number in range(rounds):
            guest = lab.guests[number % 2]
            job.wait_progress()
            job.timed("device_del", lambda g=guest: g.unplug(RDMA))
            job.wait_across("tcp")
            job.wait_progress()
            check(not guest.holders(), f"{guest.name}: the lost device is held by {guest.holders()}")
            guest.plug(RDMA)
            job.timed("return", lambda: job.wait_across("verbs"))
            job.check_carried(by_verbs=True)
        lost = job.transports()["verbs"][1]
        check(lost >= rounds, f"only {lost} paths were lost: was there no load?")
        totals = job.finish()
    return (f"{rounds} cards pulled without notice, {lost} path ends lost, under {totals['received']} messages, lost 0, repeated 0, "
            f"out of order 0; medians: {job.phases()}")


class OneSidedJob(VerbsJob):
    """Windows of memory instead of messages; what is put, got and added is checked in place. One rank per guest: two
    that wait for a lock would take turns on its one processor."""
    mpi = (*OVER_LIVEBTL, "--mca", "btl", "self,ofi", "--mca", "osc", "rdma")
    computes = False

    def __init__(self, lab, context):
        super().__init__(lab, context, "onesided", 1, ())


@scenario("one-sided-across-guests", slow("card-vanishes"))
def one_sided(context):
    """Puts, gets and atomics between the guests, over verbs: switched to tcp and back, and with a card that vanishes."""
    rounds = 1 if context.short else 5
    with context.lab(2) as lab, OneSidedJob(lab, context) as job:
        job.wait_ready()
        add_verbs(job)
        for number in range(rounds):
            job.order("switch", "verbs", "tcp")
            job.check_carried(by_verbs=False)
            job.order("switch", "tcp", "verbs")
            job.check_carried(by_verbs=True)
            guest = lab.guests[number % 2]
            guest.unplug(RDMA)
            job.wait_across("tcp")
            job.wait_progress()
            guest.plug(RDMA)
            job.wait_across("verbs")
            job.check_carried(by_verbs=True)
        totals = job.finish()
    return f"{2 * rounds} switches and {rounds} losses under {totals['sent']} one-sided operations, each checked; {job.phases()}"


GID = "/sys/class/infiniband/rxe0/ports/1/gids/1"
OTHER_CARD = 16  # added to a card's number, from which its addresses derive


@scenario("card-changes-its-address")
def card_changes_its_address(context):
    """The card comes back with other addresses (hardware, IP, GUID, GID), as a VF of another host would: once after it
    vanished, and once after the job was told to leave it."""
    with context.lab(2) as lab, VerbsJob(lab, context) as job:
        job.wait_ready()
        add_verbs(job)
        before = [guest.output(f"cat {GID}").strip() for guest in lab.guests]
        vanishes, leaves = lab.guests
        job.timed("device_del", lambda: vanishes.unplug(RDMA))
        job.wait_across("tcp")
        _plug_another(job, vanishes)
        job.timed("return", lambda: job.wait_across("verbs"))
        job.check_carried(by_verbs=True)
        job.order("remove", "verbs")
        leaves.unplug(RDMA)
        _plug_another(job, leaves)
        add_verbs(job)
        after = [guest.output(f"cat {GID}").strip() for guest in lab.guests]
        check(not set(before) & set(after), f"GIDs before {before}, after {after}")
        totals = job.finish()
    return (f"{before} became {after} under {totals['received']} messages, lost 0, repeated 0, out of order 0; "
            f"medians: {job.phases()}")


def _plug_another(job, guest):
    guest.card = guest.number + OTHER_CARD
    guest.plug(RDMA)
    job.wait_progress()
