# SPDX-License-Identifier: BSD-3-Clause
"""btlctl checkpoint run and restore of a job on two guests: launcher, daemon and ranks, dumped by one CRIU in each."""
import os
import shlex

from tests.harness.commands import ROOT
from tests.harness.control import DONE, INCONSISTENT, REFUSED, RETRACTED
from tests.harness.launcher import launcher
from tests.harness.scenario import scenario, slow
from tests.harness.waiting import check, wait_until

from .criu import LEASE_SECONDS, SETS, TIMEOUT_SECONDS, DumpedJob, dump_with_device
from .job import DIRECTORY, GuestsJob

NODES = ("--node-command", "ssh {node}")


class NodesJob(DumpedJob):
    def __enter__(self):
        with open(os.path.join(ROOT, "share", "checkpoint", "ssh-detached"), encoding="utf-8") as file:
            agent = shlex.quote(file.read())
        for guest in self.lab.guests:
            guest.output(f"rm -rf {DIRECTORY} {SETS} && mkdir -m 700 {DIRECTORY} {SETS}")
            guest.output(f"printf %s {agent} >/run/ssh-detached && chmod 755 /run/ssh-detached")
        self.start()
        return self

    def command(self):
        """Nothing of the job runs below a process that is not the job's."""
        first, *rest = GuestsJob.command(self)
        return [first, *launcher().DAEMONS_ALONE, *rest]

    def processes(self):
        return [pid for guest in self.lab.guests for pid in guest.output(f"pidof {self.names()}; true").split()]

    def checkpoint(self, action, name, *options):
        return super().checkpoint(action, name, *NODES, *options)

    def wait_over_verbs(self):
        """Waits until all pairs on different guests send by verbs, and the devices' counters show that messages go there."""
        across = 2 * self.per_guest ** 2

        def all_by_verbs():
            answer = self.btlctl(self.head, "list")
            if answer.code != DONE:  # after a restore the nodes first have to find each other again
                return False
            members = answer.json["members"]
            return across == sum(each["peers"] for member in members for each in member["transports"] if each["name"] == "verbs")
        wait_until("the pairs on different guests to send by verbs", all_by_verbs, 120 * self.lab.pace, interval=1)
        before = self.packets()
        self.wait_progress()
        sent = [after - one for after, one in zip(self.packets(), before)]
        check(all(sent), f"the devices have sent {sent} packets")

    def everywhere(self, script):
        for guest in self.lab.guests:
            guest.output(f"cd {SETS} && {script}")

    def end(self):
        for guest in self.lab.guests:
            guest.output(f"kill -9 $(pidof {self.names()} livebtl-relay); true")
        wait_until("the job's processes to end", lambda: not self.processes(), 60 * self.lab.pace)


def lost_node(job):
    """The second guest's btlctl is killed in mid-dump: the job goes on as before, and the node is named."""
    other = job.lab.guests[1]
    words = ["btlctl", "--json", "--timeout", str(TIMEOUT_SECONDS), "checkpoint", "run", f"{SETS}/lost", *NODES, "--criu",
             "--lease", str(LEASE_SECONDS)]
    pid = job.head.start_script(f"{shlex.join(words)} >/tmp/lost.json 2>/tmp/lost.log")
    wait_until("CRIU to dump the second guest", lambda: other.output("pidof criu; true").strip(), 240 * job.lab.pace)
    other.output("kill -9 $(pidof btlctl)")
    ended = {}

    def taken_back():
        ended.update(job.head.agent().status(pid))  # which reports an end only once
        return ended["exited"]
    wait_until("the dump to be taken back", taken_back, 240 * job.lab.pace)
    code = ended["exitcode"]
    said = job.head.output("cat /tmp/lost.json")
    check(code == RETRACTED and "vm2" in said and "runs on as it did" in said, f"a node was lost, code {code}: {said}")
    job.everywhere("rm -rf lost")
    job.wait_progress()


def refusals(job):
    """A damaged file from the second guest, and one from another set: refused by name, and nothing runs anywhere."""
    job.everywhere("cp -a first damaged && cp -a first mixed && rm -f mixed/vm2.criu")
    other = job.lab.guests[1]
    other.output(f"cd {SETS} && printf x | dd of=damaged/vm2.criu bs=1 seek=20000 conv=notrunc 2>&1 && cp other/vm2.criu mixed/")
    for kind in ("damaged", "mixed"):
        answer = job.checkpoint("restore", kind)
        check(answer.code == INCONSISTENT and "vm2.criu" in answer.json["text"], f"a {kind} set: {answer}")
        check(not job.processes(), f"processes of a {kind} set run")
    job.everywhere("rm -rf damaged mixed other")


def one_round(job, first):
    dumped = job.dump("first")
    check(not job.processes(), f"after the dump there are still {job.processes()}")
    if first:
        refusals(job)
    restored = job.checkpoint("restore", "first").expect(DONE)
    job.wait_over_verbs()
    return dumped, restored


@scenario("criu-restart-nodes", slow("criu-restart"))
def restart_nodes(context):
    """Four ranks of stock Open MPI on two guests, over verbs: dumped while they go on; then dumped and ended, restored,
    and so on, and back on verbs each time; restored a second time from one set. A node is lost in mid-dump."""
    rounds = 1 if context.short else 50
    with context.lab(2) as lab, NodesJob(lab, context.logs) as job:
        job.wait_ready()
        dump_with_device(job)
        job.wait_over_verbs()
        lost_node(job)
        for number in range(rounds):
            answers = one_round(job, number == 0)
            again = job.checkpoint("restore", "first")
            check(again.code == REFUSED, f"a second copy of a job that runs: {again}")
            if number < rounds - 1:
                job.everywhere("rm -rf first")
        job.end()
        job.checkpoint("restore", "first").expect(DONE)
        job.wait_over_verbs()
        totals = job.finish()
        said = " ".join(job.versions())
    phases = [f"{phase['phase']} {phase['milliseconds']:.0f} ms" for answer in answers for phase in answer.json["phases"]]
    return (f"{said}: dumped on 2 nodes and restored {rounds} times over verbs, and once more from one set, {totals['received']} messages, "
            f"lost 0, repeated 0, out of order 0; the last time {', '.join(phases)}")
