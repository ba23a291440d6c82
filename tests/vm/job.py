# SPDX-License-Identifier: BSD-3-Clause
"""An MPI job of stock Open MPI over livebtl on the guests of a lab: started in the first, judged by its own proof."""
import glob
import os
import shlex
import subprocess

from scripts.vmlab.places import LOGS
from tests.harness.control import Answer
from tests.harness.job import OVER_LIVEBTL, check_faults, judge, mpirun, proofs_in
from tests.harness.launcher import launcher
from tests.harness.waiting import PATIENCE, Failed, check, wait_until

DIRECTORY = "/run/job"  # in every guest
ARGUMENTS = ("--bytes", "200000", "--messages", "20")  # the largest are exposed if possible; few of them: guests are slow
PACKETS = "/sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts"
STOP, READY, OUTPUT = DIRECTORY + "/stop", DIRECTORY + "/ready", DIRECTORY + "/out"


def delivered(guest):
    """How many lines the ranks of one guest have printed; each means that messages were delivered."""
    return guest.output(f"cat {OUTPUT}/*/rank.*/stdout | grep -c stream")


class StandaloneContext:
    """The context of a job that belongs to no test."""
    short = True

    def __init__(self, name):
        self.logs = os.path.join(LOGS, name)
        os.makedirs(self.logs, exist_ok=True)


class GuestsJob:
    """Context manager. Leaving it only fetches the logs, as the job ends with the lab."""
    mpi = OVER_LIVEBTL
    computes = True  # its program prints a result

    def __init__(self, lab, logs, program="stream", ranks_per_guest=2, arguments=ARGUMENTS, transports="self,sm,tcp"):
        self.lab, self.logs, self.program = lab, logs, program
        self.per_guest, self.ranks = ranks_per_guest, ranks_per_guest * len(lab.guests)
        self.arguments = arguments
        self.environment = {"FI_PROVIDER_PATH": "/opt/livebtl/lib", "LIVEBTL_TRANSPORTS": transports, "LIVEBTL_TCP_IF": "eth0"}
        self.pid, self.code = None, None

    @property
    def head(self):
        """The guest with rank 0, and mpirun."""
        return self.lab.guests[0]

    def command(self):
        hosts = ",".join(f"{guest.name}:{self.per_guest}" for guest in self.lab.guests)
        words = [*mpirun(self.ranks, as_root=True), "--host", hosts, "--mca", "oob_tcp_if_include", "eth0",
                 *self.mpi, *launcher().options(OUTPUT)]
        for name, value in self.environment.items():
            words += ["-x", f"{name}={value}"]
        return words + launcher().captured(OUTPUT, self.program_words(), "capture")

    def program_words(self):
        return [f"/opt/livebtl/e2e/e2e_{self.program}", "--stop", STOP, "--ready", READY, *self.arguments]

    def prepare(self, guest, rank):
        """Prepares a guest before the program is started; `rank`: the first one there."""

    def __enter__(self):
        for number, guest in enumerate(self.lab.guests):
            guest.output(f"rm -rf {DIRECTORY} && mkdir {DIRECTORY}")
            self.prepare(guest, number * self.per_guest)
        self.pid = self.head.start_script(f"{shlex.join(self.command())} >{DIRECTORY}/mpirun.log 2>&1 </dev/null")
        return self

    def __exit__(self, *_):
        try:
            self.bring_logs()
        except Failed as failure:
            print(f"warning: no logs: {failure}", flush=True)

    def bring_logs(self):
        os.makedirs(self.logs, exist_ok=True)
        for guest in self.lab.guests:
            text = guest.output(f"cd {DIRECTORY} && for f in $(find . -type f -name 'std*' -o -name mpirun.log); do "
                                "echo \"== $f\"; cat $f; done")
            with open(os.path.join(self.logs, guest.name + ".log"), "w", encoding="utf-8") as file:
                file.write(text)

    def ended(self):
        if self.code is None:
            answer = self.head.agent().status(self.pid)
            if answer["exited"]:
                self.code = answer.get("exitcode", 128 + answer.get("signal", 0))
        return self.code is not None

    def check_running(self):
        check(not self.ended(), f"mpirun ended early with code {self.code}: {self.tail()}")

    def tail(self):
        return " | ".join(self._everywhere(f"tail -qn 3 {DIRECTORY}/mpirun.log {OUTPUT}/*/rank.*/stderr 2>/dev/null; true"))

    def _everywhere(self, script):
        """The lines of a script's output in all guests."""
        return [line for guest in self.lab.guests for line in guest.output(script).splitlines() if line.strip()]

    def wait_ready(self, seconds=60):
        def ready():
            self.check_running()
            return len(self._everywhere(f"ls {DIRECTORY} | grep '^ready[.]' || true")) == self.ranks
        wait_until(f"{self.ranks} ranks to be ready", ready, seconds * self.lab.pace, interval=0.5)

    def progress(self):
        """{rank: lines that it has printed}; each means that messages were delivered. Raises Failed if a rank found a fault."""
        lines = self._everywhere(f"cd {OUTPUT} 2>/dev/null && grep -c {self.program} /dev/null */rank.*/stdout; "
                                 f"grep -h '^fault: ' {OUTPUT}/*/rank.*/stderr 2>/dev/null; true")
        check_faults(lines)
        counts = [line.rpartition(":") for line in lines if "rank." in line]
        return {int(place.partition("rank.")[2].split("/")[0]): int(count) for place, _, count in counts}

    def wait_progress(self, seconds=60):
        """Waits until every rank has delivered messages after this call."""
        before = self.progress()

        def gone_on():
            self.check_running()
            now = self.progress()
            return len(now) == self.ranks and all(now[rank] > before.get(rank, 0) + 1 for rank in now)
        wait_until("every rank to go on delivering messages", gone_on, seconds * self.lab.pace, interval=0.3)

    def btlctl(self, guest, *arguments, seconds=120):
        """btlctl --json in a guest, with a long time-out: neither a slow machine nor ranks that spin on the guest's one
        processor are a reason to take back a switch."""
        words = ["btlctl", "--json", "--timeout", str(round(PATIENCE * seconds * self.lab.pace)), *arguments]
        return Answer(arguments, *guest.look_in(shlex.join(words), 2 * seconds))

    def packets(self):
        """Packets that each guest's RDMA device has sent so far."""
        return [int(guest.output(f"cat {PACKETS}")) for guest in self.lab.guests]

    def finish(self, seconds=120):
        """Stops the job and judges it: no message lost, repeated, out of order or changed. Returns the totals."""
        for guest in self.lab.guests:
            guest.output(f"touch {STOP}")

        def ended():
            self.progress()  # a rank that waits for a lost message never ends, but reports the fault
            return self.ended()
        wait_until("the job's end", ended, seconds * self.lab.pace, interval=0.5)
        self.bring_logs()
        proofs = self._proofs()
        totals = judge(proofs, self.program, self.ranks, self.code, self.tail)
        if self.computes:
            self._check_result(proofs)
        return totals

    def _check_result(self, proofs):
        """The job's result is, rank by rank and bit by bit, that of the same program in as many rounds over stock Open
        MPI on this machine, undisturbed."""
        rounds = {proof["rounds"] for proof in proofs}
        check(len(rounds) == 1, f"the ranks tell of different rounds: {rounds}")
        command = [*mpirun(self.ranks, as_root=os.geteuid() == 0), *launcher().OVER_STOCK,
                   os.path.join(self.lab.build_directory, "e2e", f"e2e_{self.program}"), *self.arguments, "--rounds", str(rounds.pop())]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600, check=False)
        undisturbed = {proof["rank"]: proof["result"] for proof in proofs_in(run.stdout.splitlines())}
        check(run.returncode == 0 and len(undisturbed) == self.ranks, f"the undisturbed run: code {run.returncode}: {run.stderr[-500:]}")
        results = {proof["rank"]: proof["result"] for proof in proofs}
        check(results == undisturbed and all(results.values()), f"the job computed {results}, undisturbed it is {undisturbed}")

    def _proofs(self):
        found = []
        for path in glob.glob(os.path.join(self.logs, "vm*.log")):
            with open(path, encoding="utf-8") as file:
                found += proofs_in(file)
        return found
