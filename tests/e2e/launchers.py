# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of two nodes under launchers other than Open MPI's: Slurm's srun with PMIx and with PMI2, and MPICH's mpiexec
(Hydra). Each has a secret, and keeps out those who do not know it. And a job that spawns onto a second node."""
import os
import secrets
import subprocess

from tests.harness.control import DONE, NOT_PERMITTED, btlctl, order
from tests.harness.job import MpiJob
from tests.harness.nodes import TwoNodes, job_on_two_nodes
from tests.harness.scenario import NEEDS_ROOT, scenario
from tests.harness.slurm import SlurmJob, job_under_slurm
from tests.harness.waiting import check, wait_until


def _parameters(build):
    """Open MPI's parameters as variables: srun's processes do not read mpirun's options."""
    words = build.over_livebtl()
    return {f"OMPI_MCA_{words[i + 1]}": words[i + 2] for i in range(0, len(words), 3)}


def _switched(job, nodes, times):
    for i in range(times):
        job.enter = nodes[i // 2 % 2].enter()
        answer = order(job, "switch", *(("sm", "tcp") if i % 2 == 0 else ("tcp", "sm")))
        check(answer.json["members"] == 4, f"only {answer.json['members']} members took part: {answer}")
    job.enter = nodes[0].enter()


def _strangers_stay_out(job):
    """Of two commands from outside, the one with another secret is refused, and the one with the job's is not."""
    relay = wait_until("the relay's address", lambda: order(job, "jobs").json["jobs"][0]["relays"], 20)[0]
    right, wrong = os.path.join(job.shared, "right"), os.path.join(job.shared, "wrong")
    order(job, "secret", right)
    with open(os.open(wrong, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as file:
        file.write(secrets.token_hex(32))
    btlctl(job, "--connect", relay, "--secret-file", wrong, "status").expect(NOT_PERMITTED)
    btlctl(job, "--connect", relay, "--secret-file", right, "status").expect(DONE)


def _run_hello(context, job, start, **variables):
    """Runs two processes of the C++ interface, one per node, each told its rank by PMI. start: words of a launcher.
    Returns what they said."""
    meeting = os.path.join(job.shared, "meeting")
    os.makedirs(meeting)
    hello = context.build.program("hello")
    started = subprocess.run([*job.enter, *start, "sh", "-c", f"exec {hello} $PMI_RANK {meeting}"],
                             env=dict(job.environment, **variables), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
    check(started.returncode == 0, f"{start[0]} gave {started.returncode}: {started.stdout[-1000:]}")
    for rank in (0, 1):
        check(f"hello from rank {rank}" in started.stdout, f"rank {rank} was not heard: {started.stdout[-1000:]}")
    return started.stdout


@scenario("slurm", NEEDS_ROOT)
def slurm(context):
    """srun with PMIx, and MPI's parameters only in the environment: rank 0 gives the secret by PMIx. Beside it a job
    under PMI2, which gives processes nothing in common: they get a seed."""
    job = SlurmJob(context, "stream", 4, environment=_parameters(context.build))
    with job_under_slurm(context, job) as running:
        _switched(job, running.nodes, max(4, context.switches // 10))
        name = order(job, "status").json["job"]
        check(name.startswith("pmix-slurm"), f"the job is named {name}")
        _strangers_stay_out(job)
        _run_hello(context, job, running.srun(2, "pmi2"), LIVEBTL_SEED=secrets.token_hex(32))
        totals = job.finish(60)
    return f"{totals['received']} messages under srun, job {name}"


@scenario("slurm-livebtl-run", NEEDS_ROOT)
def slurm_livebtl_run(context):
    """livebtl-run srun: nothing else is set, and it says that the job is up."""
    job = SlurmJob(context, "stream", 4, before=[os.path.join(context.build.directory, "bin", "livebtl-run")])
    job.environment.pop("FI_PROVIDER_PATH")
    with job_under_slurm(context, job) as running:
        with open(os.path.join(job.logs, "mpirun.log")) as log:
            wait_until("the line that says that the job is up", lambda: log.seek(0) or "4 ranks on 2 nodes" in log.read(), 60)
        _switched(job, running.nodes, 4)
        _strangers_stay_out(job)
        totals = job.finish(60)
    return f"{totals['received']} messages"


@scenario("hydra", NEEDS_ROOT)
def hydra(context):
    """MPICH's mpiexec gives processes on several nodes neither a name nor a secret: a seed gives both."""
    with job_on_two_nodes(context, "stream", 1) as (job, nodes):
        start = ["mpiexec.hydra", "-launcher", "rsh", "-launcher-exec", os.path.join(job.shared, "agent"),
                 "-hosts", ",".join(node.name for node in nodes), "-n", "2"]
        _run_hello(context, job, start, LIVEBTL_SEED=secrets.token_hex(32))
        totals = job.finish(60)
    return f"said hello over two nodes, beside {totals['received']} messages"


@scenario("spawned-on-another-node", NEEDS_ROOT)
def spawned_on_another_node(context):
    """A job that began on one node, where tcp listens only for that node, repeatedly spawns processes on a second one.
    They reach it, start from where the job stands, and orders reach them."""
    job = MpiJob(context.build, context.logs, "spawn", 2)
    with TwoNodes(job.rundir, job.shared) as made:
        job.enter = made.nodes[0].enter()
        job.mca += made.mpirun_options(2)  # the parents fill the first node
        with job:
            job.wait_ready()
            took_part = []

            def switched_often_with_spawned():
                route = ("sm", "tcp") if len(took_part) % 2 == 0 else ("tcp", "sm")
                took_part.append(order(job, "switch", *route).json["members"])
                return len(took_part) >= max(20, context.switches // 2) and sum(count > 2 for count in took_part) >= 8
            wait_until("switches in which spawned processes take part", switched_often_with_spawned, 120)
            totals = job.finish(120)
    return f"{len(took_part)} switches, of up to {max(took_part)} processes; {totals['received']} messages"
