# SPDX-License-Identifier: BSD-3-Clause
"""The hook for CRIU's --action-script, called by CRIU itself: criu dumps and restores a job of one guest, without btlctl."""
import json
import shlex

from tests.harness.launcher import launcher
from tests.harness.scenario import scenario, slow
from tests.harness.waiting import check, wait_until

from .criu import SETS, TIMEOUT_SECONDS, DumpedJob

IMAGES = f"{SETS}/images"


def install(guest):
    """Installs the hook as the guest's administrator would. Returns its path."""
    guest.output("mkdir -p /etc/livebtl && printf 'LIVEBTL_BTLCTL=/opt/livebtl/bin/btlctl\\nLIVEBTL_HOOK_TIMEOUT=120\\n"
                 f"LIVEBTL_HOOK_PATIENCE={TIMEOUT_SECONDS}\\n' >/etc/livebtl/hooks.conf")
    hook, = json.loads(guest.output("btlctl --json hooks install criu"))["hooks"]
    check(hook["installed"], f"hooks install: {hook}")
    return hook["file"]


def criu(job, hook, action, *words):
    """Runs criu with the hook, as its own users call it. Returns (exit code, output and the end of its log)."""
    command = shlex.join(["criu", action, "--images-dir", IMAGES, "--log-file", "log", "--shell-job", "--tcp-established",
                          "--file-locks", "--action-script", hook, *words])
    code, output, errors = job.head.look_in(command, TIMEOUT_SECONDS)
    return code, output + errors + job.head.output(f"tail -n 20 {IMAGES}/log; true")


def dump(job, hook, *words):
    job.head.output(f"rm -rf {IMAGES} && mkdir {IMAGES}")
    root = job.head.output("pidof " + launcher().PROCESSES[0]).strip()
    return criu(job, hook, "dump", "--tree", root, "--network-lock", "nftables", "--timeout", str(TIMEOUT_SECONDS), *words)


def succeeds(code, said):
    check(code == 0, f"criu, code {code}: {said}")


def wait_device(job, wanted):
    """Waits, because the way back goes on after CRIU's end."""
    def as_wanted():
        return job.devices_open() == [wanted] * job.ranks
    wait_until(f"the device to be {'open' if wanted else 'closed'} in all ranks", as_wanted, 120 * job.lab.pace, interval=1)


@scenario("criu-hook", slow("criu-restart"))
def hook_is_called(context):
    """Two ranks of stock Open MPI with an RDMA device open: CRIU alone refuses them; with the hook it dumps them, and
    they keep the device; then they are dumped, ended and restored, and have it open again. Every message is checked."""
    with context.lab(1) as lab, DumpedJob(lab, context.logs) as job:
        job.wait_ready()
        hook = install(job.head)
        job.check_device_open(True)
        code, said = dump(job, "/bin/true", "--leave-running")
        check(code != 0 and "handle_device_vma" in said, f"without the hook, code {code}: {said}")
        job.wait_progress()
        succeeds(*dump(job, hook, "--leave-running"))
        wait_device(job, True)
        job.wait_progress()
        succeeds(*dump(job, hook))
        check(not job.processes(), f"after the dump there are still {job.processes()}")
        succeeds(*criu(job, hook, "restore", "--restore-detached"))
        wait_device(job, True)
        job.wait_progress()
        totals = job.finish()
        said = " ".join(job.versions())
    return f"{said}: dumped twice and restored, {totals['received']} messages, lost 0, repeated 0, out of order 0"
