# SPDX-License-Identifier: BSD-3-Clause
"""The lab itself: links carry RDMA, the blocker blocks migration, a card goes once no process holds it."""
import re

from scripts.vmlab.hardware import BLOCKER, RDMA
from scripts.vmlab.monitor import Refused
from tests.harness.scenario import scenario
from tests.harness.waiting import check, wait_until

ITERATIONS = 100
PINGPONG = f"ibv_rc_pingpong -d rxe0 -g 1 -e -c -n {ITERATIONS}"  # -c: every byte is checked


def pingpong(server, client):
    """A checked ping-pong over the RDMA link; returns the client's figures."""
    pid = server.start_script(f"exec {PINGPONG} >/run/pingpong.log 2>&1")
    server.output("for i in $(seq 1000); do ss -tln | grep -q :18515 && exit 0; sleep 0.05; done; exit 1", 60)
    said = client.output(f"{PINGPONG} {server.name}", 60)
    check(re.search(rf"^{ITERATIONS} iters in", said, re.MULTILINE), f"no {ITERATIONS} iterations: {said[-300:]}")
    check("invalid data" not in said, f"changed data: {said[-300:]}")
    ended = wait_until("the server of the ping-pong to end", lambda: _end_of(server, pid), 30 * server.pace)
    check(ended["exitcode"] == 0, f"the server of the ping-pong gave {ended}: {server.output('cat /run/pingpong.log')[-300:]}")
    return said.strip().splitlines()[-1]


def _end_of(guest, pid):
    answer = guest.agent().status(pid)
    return answer if answer["exited"] else None


@scenario("rdma-between-guests")
def rdma_between_guests(context):
    """Ping-pong between each pair of guests, both ways."""
    with context.lab(2 if context.short else 3) as lab:
        for guest in lab.guests:
            check("rxe0/1 state ACTIVE" in guest.output("rdma link show"), f"{guest.name}: no active RDMA link")
        pairs = [(one, two) for one in lab.guests for two in lab.guests if one is not two]
        said = [pingpong(*pair) for pair in pairs]
    return f"{len(pairs)} checked ping-pongs among {len(lab.guests)} guests, {said[0]}"


@scenario("blocker-blocks")
def blocker_blocks(context):
    """With the blocker QEMU itself refuses migration and snapshot, and the guest runs on; without it both are done."""
    with context.lab(1) as lab:
        guest, = lab.guests
        guest.plug(BLOCKER)
        for what, act in (("migrate", lambda: guest.migrate(lab.machine)), ("snapshot", lambda: lab.snapshot("blocked"))):
            try:
                act()
            except Refused as refusal:
                check("ivshmem" in str(refusal), f"refused for another reason: {refusal}")
            else:
                check(False, f"{what} was done in spite of the blocker")
            check(guest.query("query-status")["running"], f"the guest stands still after a refused {what}")
            guest.output("true")
        guest.let_go_for_migration()
        check(guest.output("rdma link show") == "", "the guest has an RDMA link although its card was pulled")
        figures = guest.migrate(lab.machine)
        lab.snapshot("unblocked")
        lab.forget("unblocked")
        lab.go_on()
        guest.plug(RDMA)
        guest.plug(BLOCKER)
        check("ACTIVE" in guest.output("rdma link show"), "no RDMA link after the card was plugged in again")
    return f"refused twice with the blocker; without it migrated, downtime {figures['downtime']} ms, and saved"


@scenario("card-goes-last")
def card_goes_last(context):
    """device_del ends when the last program has closed the device, and not before; afterwards the card works again."""
    with context.lab(2) as lab:
        guest = lab.guests[0]
        pid = guest.start_script("exec ibv_asyncwatch >/run/watch.log 2>&1")
        wait_until("a program to open the device", lambda: "ibv_asyncwatch" in guest.holders(), 30 * guest.pace)
        with guest.monitor(240) as monitor:
            monitor.execute("device_del", id=RDMA)
            # The kernel logs this after waiting for ten seconds.
            guest.output("until dmesg | grep -q 'unregister_netdevice: waiting for eth1'; do sleep 0.2; done", 60)
            monitor.execute("query-status")  # also delivers the events sent before the answer
            check(not any(event.get("data", {}).get("device") == RDMA for event in monitor.events),
                  "the card was gone while a program held its device")
            guest.output(f"kill {pid}")
            monitor.wait_event("DEVICE_DELETED", device=RDMA)
        guest.look()
        check(RDMA not in guest.plugged, "QEMU still has the card")
        guest.plug(RDMA)
        said = pingpong(lab.guests[1], guest)
    return f"held by ibv_asyncwatch, gone when it ended; plugged in again: {said}"
