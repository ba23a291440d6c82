# SPDX-License-Identifier: BSD-3-Clause
"""What is saved when a job fails: its status, and a backtrace of each thread."""
import os
import shutil
import subprocess

from . import processes


def _keep(path, command, environment):
    with open(path, "a") as file:
        try:
            subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                           timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            file.write(f"{command[0]}: {error}\n")


def save(job):
    """Called while the job may still run; never fails."""
    if job is None or job.mpirun is None:
        return
    _keep(os.path.join(job.logs, "status.txt"), [*job.enter, job.build.btlctl, "--json", "status"], job.environment)
    if shutil.which("gdb"):
        for pid in processes.with_variable("LIVEBTL_RUNDIR", job.rundir):
            if processes.program(pid).startswith("e2e_"):
                _keep(os.path.join(job.logs, f"stack.{pid}.txt"),
                      ["gdb", "-batch", "-p", str(pid), "-ex", "thread apply all bt 12"], job.environment)
