# SPDX-License-Identifier: BSD-3-Clause
"""The hooks of scripts/hooks, called exactly as their callers do, while messages flow. sm stands in for a transport that is
bound to a device."""
import os
import subprocess

from tests.harness import processes
from tests.harness.commands import ROOT
from tests.harness.control import DONE, INCONSISTENT, REFUSED, USAGE, btlctl, order
from tests.harness.job import MpiJob
from tests.harness.scenario import scenario
from tests.harness.waiting import check, wait_until

from .departures import SM_MEMORY

HOOKS = os.path.join(ROOT, "scripts", "hooks")
GUEST = "guest-1"
DOMAIN = f"<domain type='kvm'>\n  <name>{GUEST}</name>\n</domain>\n" * 4000  # more than a pipe holds


def _run(job, hook, *words, given="", **settings):
    """Runs a hook, checks that it prints nothing to standard output, and returns its exit code."""
    environment = dict(job.environment, LIVEBTL_BTLCTL=job.build.btlctl, LIVEBTL_HOOK_TIMEOUT="20", **settings)
    end = subprocess.run([os.path.join(HOOKS, hook), *words], input=given, env=environment, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
    check(hook == "criu" or end.stdout == "", f"{hook} {words} printed {end.stdout!r}")
    print(f"{hook} {' '.join(words)}: code {end.returncode} {end.stderr}", file=job.hook_log, flush=True)
    return end.returncode


def _released(job):
    return not any(processes.mappings(pid, SM_MEMORY) for pid in job.rank_pids().values())


def _frozen(job):
    """freeze and thaw, in every order in which the guest agent may call them."""
    state = {"LIVEBTL_HOOK_STATE": os.path.join(job.shared, "hooks")}
    check(_run(job, "qemu-ga", "thaw", **state) == 0, "a thaw without a freeze failed")
    for _ in range(2):
        check(_run(job, "qemu-ga", "freeze", **state) == 0, "freeze failed")
        job.check_writes_nothing(lambda: btlctl(job, "hold", "check").expect(DONE))
    check(_run(job, "qemu-ga", "thaw", **state) == 0, "thaw failed")
    btlctl(job, "hold", "check").expect(INCONSISTENT)  # nothing is held any more
    check(_run(job, "qemu-ga", "freeze", LIVEBTL_HOOK_LEASE="1", **state) == 0, "freeze failed")
    wait_until("the lease to run out", lambda: btlctl(job, "hold", "check").code == INCONSISTENT, 30)
    check(_run(job, "qemu-ga", "thaw", **state) == 1, "a hold that was broken is not told")
    check(_run(job, "qemu-ga", "thaw", **state) == 0 and not os.listdir(state["LIVEBTL_HOOK_STATE"]), "something was left behind")
    check(_run(job, "qemu-ga", "melt", **state) == 1, "an unknown word was taken")


def _not_frozen(job):
    """A stopped rank cannot be held: freeze fails, and no process stays held."""
    state = {"LIVEBTL_HOOK_STATE": os.path.join(job.shared, "hooks"), "LIVEBTL_HOOK_TIMEOUT": "2"}
    pid = job.rank_pids()[1]
    environment = dict(job.environment, LIVEBTL_BTLCTL=job.build.btlctl, **state)
    processes.stop(pid)
    end = subprocess.run([os.path.join(HOOKS, "qemu-ga"), "freeze"], env=environment, stdin=subprocess.DEVNULL,
                         capture_output=True, text=True, timeout=120, check=False)
    os.kill(pid, 18)
    check(end.returncode == 1 and "rank 1" in end.stderr, f"code {end.returncode}: {end.stderr}")
    order(job, "hold", "end", also=(INCONSISTENT,))


def _moved_by_libvirt(job):
    """On the destination, while the guest runs: `migrate begin` sets the transports aside; all other calls do nothing."""
    guests = os.path.join(job.shared, "guests")
    secret = os.path.join(job.shared, "secret")
    os.mkdir(guests)
    order(job, "secret", secret)
    relay = order(job, "jobs").json["jobs"][0]["relays"][0]
    settings = {"LIVEBTL_GUESTS": guests, "LIVEBTL_HOOK_TRANSPORTS": "sm"}
    call = (GUEST, "migrate", "begin", "-")
    check(_run(job, "libvirt", *call, given=DOMAIN, **settings) == 0, "a guest of no job was refused")
    with open(os.path.join(guests, GUEST), "w") as file:
        file.write(f"{relay}\n{secret}\n")
    for words in (("prepare", "begin"), ("start", "begin"), ("reconnect", "begin"), ("stopped", "end"), ("release", "end")):
        check(_run(job, "libvirt", GUEST, *words, "-", given=DOMAIN, **settings) == 0 and not _released(job), f"{words}")
    for _ in range(2):
        check(_run(job, "libvirt", *call, given=DOMAIN, **settings) == 0 and _released(job), "sm was not set aside")
    check(_run(job, "libvirt", "../passwd", "migrate", "begin", "-", given=DOMAIN, **settings) == 1, "a path was taken for a name")
    order(job, "checkpoint", "return", "--scope", f"node:{GUEST}")
    with open(os.path.join(guests, GUEST), "w") as file:
        file.write("127.0.0.1:1\n")
    check(_run(job, "libvirt", *call, given=DOMAIN, **settings) == 1 and not _released(job), "half a file was taken")


def _dumped_by_criu(job):
    settings = {"LIVEBTL_HOOK_TRANSPORTS": "sm", "LIVEBTL_NODE": GUEST, "CRTOOLS_IMAGE_DIR": "/proc/self/fd/5"}
    for action in ("network-lock", "pre-restore", "orphan-pts-master"):
        check(_run(job, "criu", CRTOOLS_SCRIPT_ACTION=action, **settings) == 0 and not _released(job), action)
    for after in ("post-dump", "post-resume"):
        check(_run(job, "criu", CRTOOLS_SCRIPT_ACTION="pre-dump", **settings) == 0 and _released(job), "sm was not set aside")
        check(_run(job, "criu", CRTOOLS_SCRIPT_ACTION=after, **settings) == 0, after)
        wait_until("sm to come back", lambda: not _released(job), 30)


def _installed(job):
    """Installs into an image: our own files there are recognised, those of others are left alone."""
    root = os.path.join(job.shared, "image")
    os.mkdir(root)
    names = ("qemu-ga", "libvirt", "criu", "virsh")

    def states():
        return {each["name"]: each["text"] for each in order(job, "hooks", "check", "--root", root, also=(REFUSED,)).json["hooks"]}
    check(set(states().values()) == {"not installed"}, f"an empty image has {states()}")
    btlctl(job, "hooks", "check", "criu", "--root", root).expect(REFUSED)
    order(job, "--dry-run", "hooks", "install", *names, "--root", root)
    check(not os.listdir(root), "a dry run made files")
    for _ in range(2):
        files = {each["name"]: each["file"] for each in order(job, "hooks", "install", *names, "--root", root).json["hooks"]}
    for name, path in files.items():
        with open(path) as one, open(os.path.join(HOOKS, name)) as other:
            check(one.read() == other.read() and os.access(path, os.X_OK), f"{path} is not {name}")
    check(set(states().values()) == {"installed"}, f"after install: {states()}")
    os.chmod(files["criu"], 0o644)
    with open(files["libvirt"], "a") as file:
        file.write("# changed\n")
    with open(files["qemu-ga"], "w") as file:
        file.write("#!/bin/sh\n")
    check("not executable" in states()["criu"] and "another version" in states()["libvirt"], f"{states()}")
    btlctl(job, "hooks", "install", *names, "--root", root).expect(REFUSED)
    check(states()["criu"] == states()["libvirt"] == "installed" and "none of livebtl's" in states()["qemu-ga"], f"{states()}")
    btlctl(job, "hooks", "install").expect(USAGE)
    btlctl(job, "hooks", "install", "vmware").expect(USAGE)


@scenario("hooks")
def hooks(context):
    """The guest agent's freeze and thaw, libvirt's migrate begin, CRIU's dump."""
    settings = {"LIVEBTL_NODE": GUEST, "LIVEBTL_RELAY": "on"}
    log_path = os.path.join(context.logs, "hooks.txt")
    with open(log_path, "w") as log, MpiJob(context.build, context.logs, "stream", 3, environment=settings) as job:
        job.wait_ready()
        job.hook_log = log
        _frozen(job)
        _not_frozen(job)
        _moved_by_libvirt(job)
        _dumped_by_criu(job)
        _installed(job)
        totals = job.finish(60)
    return f"frozen, moved and dumped; {totals['received']} messages"
