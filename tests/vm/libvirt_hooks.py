# SPDX-License-Identifier: BSD-3-Clause
"""The hook qemu.d and livebtl-virsh, called by libvirt's own daemons and virsh, under a job whose traffic is on verbs."""
import os
import shutil
import subprocess

from scripts.vmlab import libvirt
from scripts.vmlab.places import RUN
from tests.harness.commands import ROOT
from tests.harness.control import DONE, FOREIGN
from tests.harness.scenario import NEEDS_ROOT, scenario, slow
from tests.harness.waiting import check

from .verbs import VerbsJob, add_verbs

HOOKS = os.path.join(ROOT, "scripts", "hooks")


def _install(lab, job):
    """Installs the hook where libvirt finds it, and what it has to know of the job, in the lab's own directories: a
    wrapper names the settings file, because a real one is in /etc."""
    guests, settings = os.path.join(RUN, "guests"), os.path.join(RUN, "hooks.conf")
    os.makedirs(guests)
    answer = job.btlctl(job.head, "jobs").expect(DONE).json
    relay = answer["jobs"][0]["relays"][0]
    secret = os.path.join(RUN, "job.secret")
    with open(secret, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(job.head.output("rm -f /run/job.secret; btlctl secret /run/job.secret >/dev/null; cat /run/job.secret"))
    for guest in lab.guests:
        with open(os.path.join(guests, guest.name), "w", encoding="utf-8") as file:
            file.write(f"{relay}\n{secret}\n")
    with open(settings, "w", encoding="utf-8") as file:
        file.write(f"LIVEBTL_BTLCTL={lab.build_directory}/bin/btlctl\nLIVEBTL_GUESTS={guests}\nLIVEBTL_HOOK_TIMEOUT=120\n"
                   "LIVEBTL_HOOK_GUEST_BTLCTL=/opt/livebtl/bin/btlctl\n")
    for host in lab.hosts:
        hook = os.path.join(host.directory, "etc/libvirt/hooks/qemu.d/livebtl")
        os.makedirs(os.path.dirname(hook))
        shutil.copy(os.path.join(HOOKS, "libvirt"), os.path.join(host.directory, "livebtl-hook"))
        with open(hook, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o755)) as file:
            file.write(f"#!/bin/sh\necho \"$*\" >>{host.directory}/hook.log\n"
                       f"LIVEBTL_HOOK_SETTINGS={settings} exec {host.directory}/livebtl-hook \"$@\"\n")
        host.kill_daemon()  # it looks for hooks when it starts
    for host in lab.hosts:
        host.wait_daemon()
    return settings


def _called(host, words):
    with open(os.path.join(host.directory, "hook.log"), encoding="utf-8") as file:
        check(words in file.read(), f"{host.name} has not called the hook with {words}")


def _virsh(lab, settings, guest, *words):
    """(exit code, output) of livebtl-virsh for that guest."""
    done = subprocess.run([os.path.join(HOOKS, "virsh"), "-c", guest.host.uri, words[0], guest.name, *words[1:]],
                          env=os.environ | {"LIVEBTL_HOOK_SETTINGS": settings, "LIVEBTL_HOOK_TIMEOUT": str(int(60 * lab.pace))},
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=900, check=False)
    return done.returncode, done.stdout + done.stderr


def _done(lab, settings, guest, *words):
    code, said = _virsh(lab, settings, guest, *words)
    check(code == 0, f"livebtl-virsh {' '.join(words)}: code {code}: {said}")


def _by_the_hook_alone(job, guest, there):
    """virsh migrates; the destination's hook has the job leave its device, and only we have it return."""
    guest.host.virsh("migrate", "--live", "--p2p", guest.name, there.uri, seconds=600)
    _called(there, f"{guest.name} migrate begin")
    guest.host = there
    check(not guest.holders(), f"{guest.name}: the device is still held by {guest.holders()}")
    job.wait_across("tcp")
    job.btlctl(guest, "checkpoint", "return", "--scope", f"node:{guest.name}").expect(DONE)
    job.wait_across("verbs")


def _by_virsh(lab, settings, job, guest):
    """Migrates it, saves and restores it, and takes a snapshot."""
    there = lab.other(guest.host)
    _done(lab, settings, guest, "migrate", there.uri, "--live", "--p2p")
    guest.host = there
    job.wait_across("verbs")
    saved = os.path.join(RUN, guest.name + ".saved")
    _done(lab, settings, guest, "save", saved)
    guest.host.virsh("restore", saved, seconds=600)
    _done(lab, settings, guest, "return")
    job.wait_across("verbs")
    memory = os.path.join(RUN, guest.name + ".memory")
    _done(lab, settings, guest, "snapshot-create-as", "monday", "--no-metadata", "--memspec", f"file={memory},snapshot=external",
          "--diskspec", "vda,snapshot=no", "--diskspec", "vdb,snapshot=no")
    job.wait_across("verbs")
    job.check_carried(by_verbs=True)


@scenario("libvirt-hooks", NEEDS_ROOT)
def libvirt_hooks(context):
    """A guest is migrated by virsh with the hook at the destination; then livebtl-virsh migrates, saves, restores and
    snapshots it. Nothing is lost."""
    with libvirt.new(context.build) as lab, VerbsJob(lab, context) as job:
        job.wait_ready()
        add_verbs(job)
        settings = _install(lab, job)
        guest = lab.guests[0]
        _by_the_hook_alone(job, guest, lab.other(guest.host))
        _by_virsh(lab, settings, job, guest)
        totals = job.finish()
    return f"{totals['received']} messages, lost 0, repeated 0, out of order 0"


@scenario("libvirt-hooks-refuse", NEEDS_ROOT, slow("libvirt-hooks"))
def libvirt_hooks_refuse(context):
    """A library in the job's own processes has the device open: the hook cancels the migration, livebtl-virsh does not begin one."""
    with libvirt.new(context.build) as lab, VerbsJob(lab, context, LIVEBTL_HIDE_DEVICES="off") as job:
        job.wait_ready()
        add_verbs(job)
        settings = _install(lab, job)
        guest = lab.guests[0]
        there = lab.other(guest.host)
        try:
            guest.host.virsh("migrate", "--live", "--p2p", guest.name, there.uri, seconds=600)
        except libvirt.Refused as refusal:
            said = str(refusal).rpartition("error: ")[2]
        else:
            check(False, "the migration was done although the hook has failed")
        code, told = _virsh(lab, settings, guest, "migrate", there.uri, "--live", "--p2p")
        check(code == FOREIGN, f"livebtl-virsh: code {code}: {told}")
        check(guest.name in guest.host.virsh("list", "--name").split(), "the guest is not where it was")
        job.wait_across("verbs")
        totals = job.finish()
    return f"the hook: {said[:200]}; livebtl-virsh: code {code}; {totals['received']} messages"
