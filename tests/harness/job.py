# SPDX-License-Identifier: BSD-3-Clause
"""One MPI job under mpirun: started with livebtl's settings in a run directory of its own, stopped, judged, cleaned up."""
import glob
import json
import os
import shutil
import subprocess
import tempfile
import time

from . import diagnosis, processes
from .launcher import launcher
from .waiting import Failed, LauncherFault, check, wait_until

FAULTS = ("lost", "repeated", "out_of_order", "corrupt", "wrong")
OVER_OFI = ("--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "opal_common_ofi_provider_include")  # and a provider
OVER_LIVEBTL = (*OVER_OFI, "livebtl")
DOORS = ("provider", "ompi")  # by which the programs reach livebtl: docs/OMPI.md
OVER_OMPI = ("--mca", "pml", "livebtl")  # found in Build.components


def mpirun(ranks, as_root):
    """Words of a command. Unbound: two spinning ranks, each bound to its core, would starve btlctl and all else."""
    return ["mpirun", *(["--allow-run-as-root"] if as_root else []), "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]


class Build:
    """Where the built programs and libraries are, and by which door the programs reach the library."""

    def __init__(self, directory, door=DOORS[0]):
        self.directory = os.path.abspath(directory)
        self.door = door
        self.provider_directory = os.path.join(self.directory, "lib")
        self.components = ("--mca", "mca_base_component_path",
                           launcher().COMPONENT_PATH.format(os.path.join(self.directory, "lib", "openmpi")))
        self.btlctl = os.path.join(self.directory, "bin", "btlctl")
        self.driver = os.path.join(self.directory, "bin", "livebtl-switch-driver")

    def over_livebtl(self):
        """Words for mpirun. The provider also serves one-sided operations for the other door."""
        if self.door == "provider":
            return OVER_LIVEBTL
        return (*self.components, *OVER_OMPI, "--mca", "opal_common_ofi_provider_include", "livebtl")

    def program(self, name):
        return os.path.join(self.directory, "e2e", f"e2e_{name}")


def check_faults(lines):
    """Looks for faults in a job's standard error. A rank prints them at once, since after a lost message the job may never end."""
    faults = [line.strip() for line in lines if line.startswith("fault: ")]
    check(not faults, f"{len(faults)} faults: " + "; ".join(faults[:5]))


def proofs_in(lines):
    return [json.loads(line) for line in lines if line.startswith('{"proof"')]


def judge(proofs, program, ranks, code, tail):
    """Checks that mpirun exited with 0, every rank printed its proof, and none found a fault. Returns the totals.
    tail(): the end of the job's output, for the message."""
    errors = [f"rank {proof['rank']}: {text}" for proof in proofs for text in proof["errors"]]
    check(not errors, f"{len(errors)} errors: " + "; ".join(errors[:5]))
    check(code == 0, f"mpirun gave {code}: {tail() if code else ''}")
    totals = {key: sum(proof[key] for proof in proofs) for key in ("sent", "received", "received_bytes", *FAULTS)}
    told = sorted(proof["rank"] for proof in proofs if proof["proof"] == program)
    check(told == list(range(ranks)), f"only ranks {told} of {ranks} gave proof")
    check(all(totals[fault] == 0 for fault in FAULTS), f"faults: {totals}")
    check(totals["sent"] > 0 and totals["received"] > 0, "the job sent nothing")
    return totals


class MpiJob:
    """Use as a context manager: leaving it ends every process of the job."""

    def __init__(self, build, log_directory, program, ranks, arguments=(), mca=(), environment=None, stock=False):
        self.build = build
        self.logs = log_directory
        self.program = program
        self.ranks = ranks
        self.arguments = list(arguments)
        self.mca = list(mca)
        self.stock = stock          # True: stock Open MPI, without livebtl
        self.enter = []             # put before each command, to run it on another node (nodes.py)
        self.wrapper = ()           # put before each rank's program
        self.rundir = tempfile.mkdtemp(prefix="lb-", dir="/tmp")  # short: Unix socket paths end at 108 bytes
        self.shared = tempfile.mkdtemp(prefix="lb-shared-", dir="/tmp")
        self.stop_file = os.path.join(self.shared, "stop")
        self.ready_file = os.path.join(self.shared, "ready")
        self.environment = dict(os.environ, LIVEBTL_RUNDIR=self.rundir, FI_PROVIDER_PATH=build.provider_directory,
                                PYTHONUNBUFFERED="1")
        self.environment.pop("LIVEBTL_JOB", None)
        self.environment.update(environment or {})
        self.mpirun = None
        self.look_at = 0            # when to check next whether the launcher has forgotten a process
        self.look_for_faults_at = 0  # ... and whether a rank has found a fault

    def __enter__(self):
        os.makedirs(self.logs, exist_ok=True)
        shutil.rmtree(os.path.join(self.logs, "out"), ignore_errors=True)  # of an earlier run
        self.log = open(os.path.join(self.logs, "mpirun.log"), "w")
        self.mpirun = subprocess.Popen(self.command(), stdout=self.log, stderr=subprocess.STDOUT, cwd=self.logs,
                                       stdin=subprocess.DEVNULL, env=self.environment, start_new_session=True)
        return self

    def __exit__(self, failure, *_):
        if failure:
            diagnosis.save(self)
        self.kill()
        self.log.close()
        shutil.rmtree(self.rundir, ignore_errors=True)
        shutil.rmtree(self.shared, ignore_errors=True)

    def command(self):
        output = os.path.join(self.logs, "out")
        command = [*self.enter, *mpirun(self.ranks, as_root=os.geteuid() == 0), *launcher().options(output)]
        if self.stock:
            command += launcher().OVER_STOCK
        else:
            over = self.build.over_livebtl()
            command += launcher().for_one_sided(over) if "osc" in self.mca else over
        for name in sorted(n for n in self.environment if n.startswith(("LIVEBTL_", "FI_"))):
            command += ["-x", name]
        return command + self.mca + launcher().captured(output, self.program_command())

    def program_command(self):
        return [*self.wrapper, self.build.program(self.program), "--stop", self.stop_file, "--ready", self.ready_file,
                *self.arguments]

    def running(self):
        return self.mpirun.poll() is None

    def check_running(self):
        self._check_faults()
        check(self.running(), f"mpirun ended early with code {self.mpirun.poll()}: {self.log_tail()}")
        self._check_launcher()

    def _check_faults(self):
        if self.running() and time.monotonic() < self.look_for_faults_at:
            return
        self.look_for_faults_at = time.monotonic() + 1
        check_faults(self.error_lines())

    def _check_launcher(self):
        """Open MPI 4.1.4 over PMIx 4.2.2 now and then forgets a process, mostly a spawned one: it asks the launcher for
        the job's facts, in PMIx_Init, and is never answered. The programs do the same over stock Open MPI (--stock).
        At that point of MPI_Init no transport has been chosen yet, and our library is not loaded."""
        if self.stock or time.monotonic() < self.look_at:
            return
        self.look_at = time.monotonic() + 5
        for pid in processes.with_variable("LIVEBTL_RUNDIR", self.rundir):
            if (processes.variable(pid, "PMIX_RANK") is not None and processes.age(pid) > 60
                    and not processes.mappings(pid, "liblivebtl") and processes.state(pid) not in ("", "Z", "T")):
                raise LauncherFault(f"process {pid} of the job has not got as far as our library in 60 s")

    def wait_ready(self, seconds=60):
        """Waits until all ranks have reached the point where the scenario begins."""
        def all_ready():
            self.check_running()
            return len(glob.glob(self.ready_file + ".*")) >= self.ranks
        wait_until(f"{self.ranks} ranks of {self.program} to be ready", all_ready, seconds)

    def check_writes_nothing(self, act):
        """Calls act() a few times, and checks that no rank writes to a disk meanwhile: it would block on a frozen file
        system."""
        def written():
            return [processes.written_bytes(pid) for pid in self.rank_pids().values()]
        before = written()
        for _ in range(5):
            act()
        check(written() == before, f"ranks have written to a disk: {before} bytes became {written()}")

    def rank_pids(self):
        """{rank: pid} of the program's own processes (not spawned ones)."""
        pids = {}
        for path in glob.glob(self.ready_file + ".*"):
            with open(path) as file:
                pids[int(path.rpartition(".")[2])] = int(file.read())
        return pids

    def stop(self):
        with open(self.stop_file, "w"):
            pass

    def finish(self, seconds):
        """Stops the job, waits for its end, and judges its proof. Returns the totals."""
        self.stop()

        def ended():
            self._check_faults()
            self._check_launcher()
            return not self.running()
        wait_until(f"the end of {self.program}", ended, seconds, interval=0.05)
        return judge(proofs_in(self.output_lines()), self.program, self.ranks, self.mpirun.returncode, self.log_tail)

    def output_lines(self, which="stdout"):
        for path in sorted(glob.glob(os.path.join(self.logs, "out", "*", "rank.*", which))):
            with open(path, errors="replace") as file:
                yield from file

    def told(self):
        """The last progress report of each rank: a line of JSON that begins with its rank."""
        last = {}
        for line in self.output_lines():
            if line.startswith('{"rank"') and line.endswith("\n"):
                rank = json.loads(line)
                last[rank["rank"]] = rank
        return list(last.values())

    def error_lines(self):
        return self.output_lines("stderr")

    def log_tail(self):
        self.log.flush()
        texts = []
        errors = sorted(glob.glob(os.path.join(self.logs, "out", "*", "rank.*", "stderr")))
        for path in [os.path.join(self.logs, "mpirun.log"), *errors]:
            with open(path, errors="replace") as file:
                texts += [line.strip() for line in file.read().splitlines() if line.strip("- ")]
        return " | ".join(texts[-6:])

    def kill(self):
        """Ends all processes of the job, even stopped ones. They are found by its run directory, which no other job has."""
        def leftovers():
            return [pid for pid in processes.with_variable("LIVEBTL_RUNDIR", self.rundir)
                    if processes.state(pid) not in ("Z", "")]
        if self.mpirun is None:
            return
        if self.running():
            self.mpirun.terminate()
            try:
                self.mpirun.wait(2)
            except subprocess.TimeoutExpired:
                self.mpirun.kill()
        for pid in leftovers():
            processes.kill(pid)
        self.mpirun.wait(10)
        try:
            wait_until("the job's processes to be gone", lambda: not leftovers(), 10)
        except Failed as failure:
            print(f"warning: {failure}: {leftovers()}", flush=True)
