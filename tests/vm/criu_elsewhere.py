# SPDX-License-Identifier: BSD-3-Clause
"""A job of two guests that is dumped, and restored with a third guest, at another address, in place of the second."""
import json

from tests.harness.control import DONE, REFUSED
from tests.harness.launcher import launcher
from tests.harness.scenario import scenario, slow
from tests.harness.waiting import check, wait_until

from .criu import SETS
from .criu_nodes import NodesJob

THERE = ("--on", "vm2=vm3", "--address", "10.0.0.2=10.0.0.3")
BACK = ("--address", "10.0.0.3=10.0.0.2")


def look(guest):
    """Returns the job's processes in that guest."""
    text = guest.look_in("btlctl --json --timeout 10 status --peers", 60)[1]
    return [member for member in json.loads(text)["members"] if member["rank"] in (2, 3)] if text else []


def fenced(guest):
    said = [member["engine"]["hold"]["why"] for member in look(guest) if member["engine"]["hold"]["state"] == "fenced"]
    return said[0] if len(said) == 2 else None


def received(guest):
    return sum(peer["messages_received"] for member in look(guest) for peer in member["engine"]["peers"])


class Part:
    """The guests that the job is on, out of all those of a lab."""

    def __init__(self, lab, guests):
        self.guests, self.pace, self.build_directory = guests, lab.pace, lab.build_directory


class MovedJob(NodesJob):
    def __init__(self, lab, logs):
        self.first, self.second, self.third = lab.guests
        super().__init__(Part(lab, [self.first, self.second]), logs)

    def __enter__(self):
        self.third.output(f"rm -rf {SETS} && mkdir -m 700 {SETS}")
        return super().__enter__()

    def carry(self, name, old, new):
        """Copies the second node's file of a set to the guest that needs it."""
        self.first.output(f"ssh {old.name} tar -C {SETS} -cf - {name}/vm2.criu | ssh {new.name} tar -C {SETS} -xf -", 300)

    def restore(self, name, guest, *options):
        self.checkpoint("restore", name, *options).expect(DONE)
        self.lab.guests = [self.first, guest]
        self.wait_over_verbs()

    def connect_anew(self, other):
        """Cuts the ranks' connections between the two nodes, so that they dial each other by the addresses that they
        know now; the launcher could not redial."""
        self.first.output(f"ss -Htnp dst {self.address(other)} | grep e2e_{self.program} | while read -r _ _ _ local remote _; do "
                          "ss -K src $local dst $remote; done")
        self.wait_progress(180)

    @staticmethod
    def address(guest):
        return "10.0.0." + guest.name.removeprefix("vm")


def refusals(job):
    """Without the new address, and for a host that is nobody's: refused before anything runs."""
    for options, says in ((THERE[:2], "10.0.0.2"), (("--on", "vm9=vm3"), "vm9"), (("--on", "vm2=vm1"), "vm1")):
        answer = job.checkpoint("restore", "first", *options)
        check(answer.code == REFUSED and says in answer.json["text"], f"a restore with {options}: {answer}")
        check(not job.processes(), f"processes run after a refused restore with {options}")


def commands_reach(job):
    """Orders reach both nodes, through the current relays."""
    for action in ("remove", "add"):
        job.btlctl(job.head, action, "sm").expect(DONE)
    job.wait_progress()


@scenario("criu-restart-elsewhere", slow("criu-restart"))
def restart_elsewhere(context):
    """Four ranks on two guests, over verbs, dumped and ended; the second guest's are restored in a third one, at its
    address. Connections, orders and the next dump find them there. That dump is restored with the second guest in place
    of the third, and the processes that were left in the third are fenced out. In the end all addresses are new. Each
    time they are on verbs again."""
    with context.lab(3) as lab, MovedJob(lab, context.logs) as job:
        job.wait_ready()
        job.dump("first")
        job.carry("first", job.second, job.third)
        refusals(job)
        job.restore("first", job.third, *THERE)
        commands_reach(job)
        job.connect_anew(job.third)
        job.dump("second", "--leave-running", *THERE[:2])
        job.wait_progress()
        said = wake_old_copy(job)
        commands_reach(job)
        new_network(job)
        commands_reach(job)
        totals = job.finish()
        said = f"{' '.join(job.versions())}; {said}"
    return f"{said}; {totals['received']} messages, lost 0, repeated 0, out of order 0"


def new_network(job):
    """No process can dial another by an address that it knows: relays tell it the new ones."""
    job.dump("third")
    job.first.output(f"ip address del {job.address(job.first)}/24 dev eth0")
    # The second guest's old address serves ssh, but nobody of the job listens there.
    for guest, number in ((job.first, 101), (job.second, 102)):
        guest.output(f"ip address add 10.0.0.{number}/24 dev eth0")
    job.restore("third", job.second, "--address", "10.0.0.1=10.0.0.101", "--address", "10.0.0.2=10.0.0.102")


def wake_old_copy(job):
    """Returns what a process prints when it is fenced out. The launcher's daemon there, whose connection is reset,
    would end the processes before they have met the others: it is stopped."""
    job.carry("second", job.third, job.second)
    job.third.output(f"kill -STOP $(pidof {' '.join(launcher().PROCESSES)})")
    job.third.pause()
    job.first.output(f"kill -9 $(pidof {job.names()} livebtl-relay)")
    wait_until("the first guest's processes to end", lambda: not job.first.output(f"pidof {job.names()}; true").strip(), 60 * job.lab.pace)
    job.restore("second", job.second, *BACK)
    job.third.go_on()
    # The stopped daemon passes on nothing that they print.
    said = wait_until("the old processes to be fenced out", lambda: fenced(job.third), 240 * job.lab.pace, interval=0.5)
    before = received(job.third)
    job.wait_progress()
    check(received(job.third) == before, "messages were delivered to processes that are fenced out")
    return said
