# SPDX-License-Identifier: BSD-3-Clause
"""Stock Open MPI over livebtl's tcp between the guests and sm within them: migrated, saved, restored, commanded."""
import signal

from scripts.vmlab import processes
from tests.harness.control import DONE
from tests.harness.scenario import scenario, slow
from tests.harness.waiting import check, wait_until

from .job import GuestsJob


@scenario("commanded-from-any-guest", slow("vm-migrate"))
def commanded_from_any_guest(context):
    """btlctl shows and switches the members of both guests from each of them: relays forward its messages."""
    with context.lab(2) as lab, GuestsJob(lab, context.logs) as job:
        job.wait_ready()
        everybody = [f"rank {rank} on {lab.guests[rank // 2].name}" for rank in range(4)]
        for guest in lab.guests:
            # Nodes learn of each other's relays in-band, soon after the first messages.
            wait_until(f"btlctl in {guest.name} to see all members", lambda g=guest: _members(job, g) == everybody, 60 * lab.pace)
        moved = 0
        for guest, route in zip(lab.guests, (("sm", "tcp"), ("tcp", "sm"))):
            answer = job.btlctl(guest, "switch", *route).expect(DONE)
            moved += answer.json["pairs_moved"]
            check(answer.json["members"] == 4 and answer.json["pairs_moved"] > 0, f"switched from {guest.name}: {answer}")
            job.wait_progress()
        totals = job.finish()
    return f"4 members on 2 guests seen from each, {moved} pairs switched under {totals['received']} messages"


def _members(job, guest):
    job.check_running()
    return sorted(member["name"] for member in job.btlctl(guest, "status").expect(DONE).json["members"])


@scenario("job-is-migrated", slow("vm-migrate"))
def job_is_migrated(context):
    """Guests are migrated one after the other under a running job; not a byte is lost."""
    moves = 1 if context.short else 4
    with context.lab(2) as lab, GuestsJob(lab, context.logs) as job:
        job.wait_ready()
        job.wait_progress()
        downtimes = []
        for move in range(moves):
            guest = lab.guests[(move + 1) % 2]
            before = guest.process
            downtimes.append(guest.migrate(lab.machine)["downtime"])
            check(guest.process != before and not processes.alive(before), "the guest runs where it was")
            job.wait_progress()
        job.btlctl(lab.guests[0], "switch", "sm", "tcp").expect(DONE)
        totals = job.finish()
    return f"{moves} migrations, downtimes {downtimes} ms; {totals['received']} messages, lost 0, repeated 0, out of order 0"


@scenario("job-is-restored")
def job_is_restored(context):
    """All guests are saved at one moment, and their QEMUs killed; restored from the files, the job goes on as if
    nothing had happened."""
    restores = 1 if context.short else 2
    with context.lab(2) as lab, GuestsJob(lab, context.logs) as job:
        job.wait_ready()
        job.wait_progress()
        before = _connections(lab)
        check(before, "no rank has a connection to the other guest")
        lab.snapshot("job")
        for _ in range(restores):
            processes.stop([guest.process for guest in lab.guests], signal.SIGKILL)
            lab.restore("job")
            job.wait_progress()
            survived = len(_connections(lab) & before)
        lab.forget("job")
        totals = job.finish()
    return (f"killed and restored {restores} times from one snapshot, {survived} of {len(before)} TCP connections survived; "
            f"{totals['received']} messages, lost 0, repeated 0, out of order 0")


def _connections(lab):
    """(local end, remote end) of the job's TCP connections from the first guest to the second, as its kernel lists them."""
    lines = lab.guests[0].output("ss -Htnp state established dst 10.0.0.2 | grep e2e_ || true").splitlines()
    return {tuple(line.split()[2:4]) for line in lines}
