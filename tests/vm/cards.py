# SPDX-License-Identifier: BSD-3-Clause
"""Several RDMA devices per process: both are used, and one alone is pulled or removed."""
from scripts.vmlab.hardware import BLOCKER, RDMA, socket_of
from tests.harness.control import DONE
from tests.harness.scenario import scenario, slow
from tests.harness.waiting import check, wait_until

from .verbs import VerbsJob

# The second card takes the blocker's port. Its wire is the first one's, but its network another: 10.0.2.N.
NETDEV = {"type": "stream", "id": "rdma2-net", "server": False, "addr": {"type": "unix", "path": socket_of("rdma")}}
# Each card answers only for its own address, so that packets come to the device that they are for.
SET_UP = """
for i in $(seq 2000); do grep -qlx {mac} /sys/class/net/*/address && break; sleep 0.03; done
echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore
echo 2 >/proc/sys/net/ipv4/conf/all/arp_announce
lab-nics
rdma link add rxe1 type rxe netdev "$(grep -lx {mac} /sys/class/net/*/address | cut -d/ -f5)" && lab-nics
"""

FIRST, SECOND = "verbs:rxe0", "verbs:rxe1"
NOTICES_BYTES = 100_000  # tcp carries hellos, reports of losses and tickets; no message of the job


class TwoCardsJob(VerbsJob):
    """Two devices per guest, which are found automatically."""

    def __init__(self, lab, context):
        super().__init__(lab, context, LIVEBTL_VERBS_DEVICE="auto")

    def carried(self, transport, what):
        return sum(each[what] for member in self.btlctl(self.head, "list").expect(DONE).json["members"]
                   for each in member["transports"] if each["name"] == transport)

    def wait_carried_by(self, *transports):
        """Waits until each of them has read payloads from memory to memory after this call."""
        before = {name: self.carried(name, "frames_read_remotely") for name in transports}
        wait_until(f"payloads by {' and '.join(transports)}",
                   lambda: all(self.carried(name, "frames_read_remotely") > count for name, count in before.items()),
                   60 * self.lab.pace, interval=0.5)


@scenario("one-of-two-cards", slow("card-vanishes"))
def one_of_two_cards(context):
    """Two Soft-RoCE devices per guest: both carry large messages; one is pulled under load, and the other takes over
    without tcp; one is removed while the other is used."""
    rounds = 1 if context.short else 5
    with context.lab(2) as lab:
        for guest in lab.guests:
            _plug_second(guest)
        with TwoCardsJob(lab, context) as job:
            job.wait_ready()
            job.order("add", "verbs")
            job.wait_across(FIRST)
            job.wait_carried_by(FIRST, SECOND)
            by_tcp = job.carried("tcp", "bytes_sent")
            for number in range(rounds):
                _pull_one(job, lab.guests[number % 2])
            more = job.carried("tcp", "bytes_sent") - by_tcp
            check(more < NOTICES_BYTES * rounds, f"tcp carried {more} bytes while there was a card")
            check(job.order("remove", FIRST)["released"], f"{FIRST} is not released")
            job.wait_across(SECOND)
            job.wait_carried_by(SECOND)
            for guest in lab.guests:
                guest.unplug(RDMA)  # nobody has it open, although the other is in use
            check(job.transports()[SECOND][0] == job.across, f"not all pairs are on {SECOND} any more: {job.transports()}")
            totals = job.finish()
    return (f"{rounds} cards pulled under {totals['received']} messages, lost 0, repeated 0, out of order 0, and {more} bytes by tcp "
            f"meanwhile; medians: {job.phases()}")


def _pull_one(job, guest):
    job.wait_progress()
    job.timed("device_del", lambda: guest.unplug(RDMA))
    job.wait_across(SECOND)
    job.wait_carried_by(SECOND)
    guest.plug(RDMA)
    job.timed("return", lambda: job.wait_across(FIRST))
    job.wait_carried_by(FIRST, SECOND)


def _plug_second(guest):
    mac = f"52:54:00:00:02:{guest.number:02x}"
    with guest.monitor() as monitor:
        monitor.execute("netdev_add", **NETDEV)
        monitor.execute("device_add", driver="virtio-net-pci", netdev=NETDEV["id"], mac=mac, romfile="", id="rdma2",
                        bus="port-" + BLOCKER)
    guest.output(SET_UP.format(mac=mac), seconds=60)
