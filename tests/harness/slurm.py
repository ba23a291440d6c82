# SPDX-License-Identifier: BSD-3-Clause
"""Slurm on the two nodes of nodes.py: munge and slurmctld on the first, slurmd on both, all in files of their own. Needs root."""
import contextlib
import os
import shutil
import subprocess
import tempfile

from .job import MpiJob
from .nodes import TwoNodes
from .waiting import check, wait_until

CONFIGURATION = """\
ClusterName=livebtl
SlurmctldHost={controller}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SchedulerType=sched/builtin
SlurmdParameters=config_overrides
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool.%n
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.%n.pid
NodeName={nodes} CPUs=4
PartitionName=all Nodes=ALL Default=YES OverSubscribe=FORCE
"""


class Slurm:
    """Context manager. logs: a directory, where each daemon's log is kept."""

    def __init__(self, nodes, logs):
        self.nodes = nodes
        self.logs = logs
        self.directory = tempfile.mkdtemp(prefix="lb-slurm-", dir="/tmp")
        self.configuration = os.path.join(self.directory, "slurm.conf")
        self.environment = dict(os.environ, SLURM_CONF=self.configuration)
        self.daemons = []

    def __enter__(self):
        try:
            self._write_files()
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in reversed(self.daemons):
            try:
                daemon.wait(5)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _write_files(self):
        os.chmod(self.directory, 0o755)  # munge's clients pass through
        for name in ("state", "pmix", *(f"spool.{node.name}" for node in self.nodes)):
            os.mkdir(os.path.join(self.directory, name))
        key = os.open(self._path("munge.key"), os.O_WRONLY | os.O_CREAT, 0o400)
        os.write(key, os.urandom(128))
        os.close(key)
        with open(self.configuration, "w") as file:
            file.write(CONFIGURATION.format(directory=self.directory, controller=self.nodes[0].name,
                                            nodes=",".join(node.name for node in self.nodes)))
        with open(self._path("mpi.conf"), "w") as file:
            file.write(f"PMIxCliTmpDirBase={self._path('pmix')}\n")
        for node in self.nodes:  # file names there do not include the node, as nodes do not usually share such a directory
            node.run("mount", "-t", "tmpfs", "none", self._path("pmix"))

    def _start(self):
        self._daemon("munged", [], "munged", "--foreground", "--force",
                     *(f"--{what}={self._path('munge.' + end)}" for what, end in
                       (("socket", "socket"), ("key-file", "key"), ("pid-file", "pid"), ("seed-file", "seed"), ("log-file", "log"))))
        wait_until("munge's socket", lambda: self._all_run() and os.path.exists(self._path("munge.socket")), 30)
        self._daemon("slurmctld", self.nodes[0].enter(), "slurmctld", "-D", "-f", self.configuration)
        for node in self.nodes:
            self._daemon(f"slurmd.{node.name}", node.enter(), "slurmd", "-D", "-N", node.name, "-f", self.configuration)
        wait_until("Slurm to have two idle nodes", self._is_up, 60)

    def _path(self, name):
        return os.path.join(self.directory, name)

    def _daemon(self, name, enter, *command):
        os.makedirs(self.logs, exist_ok=True)
        with open(os.path.join(self.logs, f"{name}.log"), "w") as log:
            self.daemons.append(subprocess.Popen([*enter, *command], env=self.environment, stdin=subprocess.DEVNULL,
                                                 stdout=log, stderr=subprocess.STDOUT))

    def _all_run(self):
        for daemon in self.daemons:
            check(daemon.poll() is None, f"{daemon.args} ended with {daemon.poll()}: see {self.logs}")
        return True

    def _is_up(self):
        self._all_run()
        said = subprocess.run([*self.nodes[0].enter(), "sinfo", "--noheader", "--format", "%t %D"], env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True, check=False)
        return said.stdout.split() == ["idle", str(len(self.nodes))]

    def srun(self, tasks, mpi, *options):
        """Words of a command to run on the first node, with self.environment."""
        return ["srun", "--nodes", str(len(self.nodes)), "--ntasks", str(tasks), "--overcommit", f"--mpi={mpi}", *options]


class SlurmJob(MpiJob):
    """One MPI job under srun with PMIx. before: words in front of srun."""

    def __init__(self, context, program, tasks, before=(), environment=None):
        super().__init__(context.build, context.logs, program, tasks, environment=environment)
        self.before = list(before)
        self.slurm = None

    def start_under(self, slurm):
        self.slurm = slurm
        self.environment["SLURM_CONF"] = slurm.configuration
        self.enter = slurm.nodes[0].enter()

    def command(self):
        files = os.path.join(self.logs, "out", "1", "rank.%t")
        for rank in range(self.ranks):
            os.makedirs(files.replace("%t", str(rank)), exist_ok=True)
        return [*self.enter, *self.before,
                *self.slurm.srun(self.ranks, "pmix", f"--output={files}/stdout", f"--error={files}/stderr"),
                *self.program_command()]


@contextlib.contextmanager
def job_under_slurm(context, job):
    """Slurm, with the job on both nodes, ready, and commanded from the first."""
    with TwoNodes(job.rundir, job.shared) as made, Slurm(made.nodes, os.path.join(context.logs, "slurm")) as slurm:
        job.start_under(slurm)
        with job:
            job.wait_ready()
            yield slurm
