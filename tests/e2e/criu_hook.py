# SPDX-License-Identifier: BSD-3-Clause
"""CRIU's hook, called as CRIU does: for processes with their own host name, mounts and run directory, and after a dump."""
import contextlib
import ctypes
import os
import shutil
import subprocess

from tests.harness import processes
from tests.harness.commands import ROOT
from tests.harness.nodes import job_on_two_nodes
from tests.harness.scenario import NEEDS_ROOT, scenario
from tests.harness.waiting import check, wait_until

from .departures import SM_MEMORY
from .hooks_alone import StubbedHooks

HOOK = os.path.join(ROOT, "scripts", "hooks", "criu")
THERE = (2, 3)  # the ranks on the second node
PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207  # sys/ptrace.h


def _without_memory(job):
    """The ranks without memory of sm."""
    return tuple(sorted(rank for rank, pid in job.rank_pids().items() if not processes.mappings(pid, SM_MEMORY)))


def _call(job, action, pid, run_directory):
    """Calls the hook as CRIU does, outside of all nodes, for a tree whose first process is `pid`."""
    environment = dict(job.environment, LIVEBTL_BTLCTL=job.build.btlctl, LIVEBTL_HOOK_TIMEOUT="20", LIVEBTL_HOOK_TRANSPORTS="sm",
                       LIVEBTL_RUNDIR=run_directory, LIVEBTL_HOOK_CONTAINERS="yes", CRTOOLS_SCRIPT_ACTION=action, CRTOOLS_INIT_PID=str(pid))
    done = subprocess.run([HOOK], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    check(done.returncode == 0, f"{action}: code {done.returncode}: {done.stdout}{done.stderr}")


@scenario("criu-hook-in-containers", NEEDS_ROOT)
def enters_containers(context):
    """sm is set aside on the second of two nodes, which the hook knows only by a process, and returned to; a link there
    that leads to another container's run directory is not followed."""
    with job_on_two_nodes(context, "stream", 2) as (job, (one, two)):
        pids = job.rank_pids()
        outside = f"/proc/{pids[0]}/root{job.rundir}"
        check(os.listdir(outside) and not os.listdir(job.rundir), "the nodes have no run directories of their own")
        link = os.path.join(job.rundir, "link")
        two.run("ln", "-s", outside, link)
        _call(job, "pre-dump", pids[2], link)
        check(not _without_memory(job), f"by a link another container was entered: {_without_memory(job)}")
        two.run("rm", link)
        for after in ("post-dump", "post-resume"):
            _call(job, "pre-dump", pids[2], job.rundir)
            check(_without_memory(job) == THERE, f"sm was set aside by {_without_memory(job)}")
            _call(job, after, pids[2], job.rundir)
            wait_until("sm to come back", lambda: not _without_memory(job), 30)
        totals = job.finish(60)
    return f"entered {two.name}, and not {one.name}; {totals['received']} messages"


def _dumped(hooks, and_then):
    """What btlctl is asked after the dump of a process that CRIU traces, and then lets run on or ends."""
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    with subprocess.Popen(["sleep", "infinity"]) as process, contextlib.ExitStack() as at_the_end:
        at_the_end.callback(process.kill)
        for request in (PTRACE_SEIZE, PTRACE_INTERRUPT):
            check(ptrace(request, process.pid, None, None) == 0, f"ptrace: {os.strerror(ctypes.get_errno())}")
        os.waitpid(process.pid, os.WUNTRACED)  # until it has stopped
        still_there, of_hook = os.pipe()
        code, asked = hooks.run("criu", descriptors=(of_hook,), CRTOOLS_SCRIPT_ACTION="post-dump", CRTOOLS_INIT_PID=str(process.pid))
        check(code == 0 and not asked, f"while the process was traced: code {code}, asked {asked}")
        os.close(of_hook)
        and_then(ptrace, process)
        os.read(still_there, 1)  # until the hook's work in the background has ended
        os.close(still_there)
    return hooks.said()


@scenario("criu-hook-after-the-dump")
def leaves_alone_what_a_restore_needs(context):
    """btlctl, which would clean up after ended processes, is asked once CRIU has let them run on, and not if it ends them."""
    directory = os.path.join(os.path.abspath(context.logs), "stubbed")
    shutil.rmtree(directory, ignore_errors=True)
    hooks = StubbedHooks(directory)
    asked = _dumped(hooks, lambda ptrace, process: ptrace(PTRACE_DETACH, process.pid, None, None))
    check("checkpoint return" in asked, "a process that went on has not returned")
    asked = _dumped(hooks, lambda ptrace, process: process.kill())
    check(not asked, f"after the process was ended: {asked}")
    _next_dump(hooks)
    with open(os.path.join(directory, "livebtl-script"), "w"):  # as left among the images by btlctl checkpoint run
        pass
    code, asked = hooks.run("criu", CRTOOLS_SCRIPT_ACTION="pre-dump", CRTOOLS_IMAGE_DIR=directory)
    check(code == 0 and not asked, f"in a dump of checkpoint run: code {code}, asked {asked}")
    return "asked of a process that went on, not of one that was ended, nor in its next dump"


def _next_dump(hooks):
    """What the last dump set aside cannot be returned to yet: the attempts end once the next dump has begun."""
    with subprocess.Popen(["sleep", "infinity"]) as process, contextlib.ExitStack() as at_the_end:
        at_the_end.callback(process.kill)
        still_there, of_hook = os.pipe()
        settings = {"codes": {"return": 5}, "CRTOOLS_INIT_PID": str(process.pid)}
        hooks.run("criu", descriptors=(of_hook,), CRTOOLS_SCRIPT_ACTION="post-dump", **settings)
        os.close(of_hook)
        wait_until("the return to be tried again", lambda: hooks.said().count("return") > 1, 30)
        hooks.run("criu", CRTOOLS_SCRIPT_ACTION="pre-dump", **settings)
        os.read(still_there, 1)  # until the last dump's return has ended
        os.close(still_there)
        said = hooks.said()
        check("prepare" in said and "return" not in said[said.index("prepare"):], f"asked in the next dump: {said}")
