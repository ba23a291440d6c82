# SPDX-License-Identifier: BSD-3-Clause
"""What a guest needs before `btlctl vm migrate` moves it: a QEMU that waits, and cards that come up again."""
from . import hardware
from .guest import Guest


def arriving(guest, machine):
    """The next QEMU of a guest, which waits for the incoming state, with all that the cards need."""
    arrives = Guest(**guest.__dict__)
    arrives.plugged = [each for each in guest.plugged if each not in (hardware.RDMA, hardware.BLOCKER)]
    arrives.start(machine, incoming=True)
    memory, _ = hardware.device(hardware.BLOCKER, guest)
    arrives.query("object-add", **memory)
    arrives.query("migrate-incoming", uri=f"unix:{arrives.instance_name()}.migration")
    return arrives


def set_up_cards(guest):
    """These guests have no udev; this stands in for it from now on. Only then can the job use a card, and btlctl waits for
    that."""
    address = hardware.address(hardware.RDMA, guest.card)
    guest.start_script(f"while sleep 0.3; do grep -qx {address} /sys/class/net/*/address && "
                       "[ ! -e /sys/class/infiniband/rxe0 ] && lab-nics; done >/dev/null 2>&1")
