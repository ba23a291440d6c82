# SPDX-License-Identifier: BSD-3-Clause
"""Commands for one guest of several: the pairs of the others stay where they are."""
from scripts.vmlab.hardware import RDMA
from tests.harness.control import DONE
from tests.harness.scenario import scenario
from tests.harness.waiting import check, wait_until

from .verbs import VerbsJob, add_verbs

# What pairs send by, with one rank per guest, after the first guest has left verbs.
LEFT = {(0, 1): {"tcp"}, (0, 2): {"tcp"}, (1, 2): {"verbs"}}


@scenario("pairs-of-one-guest-leave")
def pairs_of_one_guest_leave(context):
    """checkpoint prepare for one guest of three: its pairs go on over tcp and its card can be pulled, while the other two stay on
    verbs; then it returns."""
    with context.lab(3) as lab, VerbsJob(lab, context, ranks_per_guest=1) as job:
        guest = lab.guests[0]
        scope = ("--scope", f"node:{guest.name}")
        job.wait_ready()
        add_verbs(job)
        check(job.order("checkpoint", "prepare", *scope)["pairs_moved"] == 2, "not the pairs of one guest have moved")
        packets = _carry_as_left(job)
        check(not guest.holders(), f"{guest.name}: after the release the device is held by {guest.holders()}")
        guest.unplug(RDMA)
        job.wait_progress()
        _check_as_left(job)
        guest.plug(RDMA)
        job.order("checkpoint", "return", *scope)
        job.wait_across("verbs")
        job.check_carried(by_verbs=True)
        totals = job.finish()
    return (f"2 of 3 pairs left verbs, and meanwhile the devices sent {packets} packets; {totals['received']} messages, lost 0, "
            "repeated 0, out of order 0")


def _carry_as_left(job):
    """Packets that each guest's device has sent while all ranks went on: none, for the first guest."""
    before = job.packets()
    job.wait_progress()
    sent = [after - one for after, one in zip(job.packets(), before)]
    check(not sent[0] and all(sent[1:]), f"the devices sent {sent} packets")
    _check_as_left(job)
    return sent


def _check_as_left(job):
    found = _transports(job)
    check(found == LEFT, f"pairs send by {found}")


def _transports(job):
    """{(lower rank, higher rank): the transports by which the two ends send}"""
    def seen():
        """Asks all members: a relay in a busy guest may not answer in time."""
        document = job.btlctl(job.head, "status", "--peers").expect(DONE).json
        return None if document["missing"] else document["members"]
    members = wait_until("all members to be found", seen, 60 * job.lab.pace, interval=0.5)
    ranks = {member["member"]["process"]: member["rank"] for member in members}
    found = {}
    for member in members:
        for peer in member["engine"]["peers"]:
            other = ranks.get(peer["process"], member["rank"])
            if other != member["rank"]:
                found.setdefault(tuple(sorted((member["rank"], other))), set()).add(peer["transport"])
    return found
