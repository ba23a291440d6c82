# SPDX-License-Identifier: BSD-3-Clause
"""A guest is frozen and thawed through its agent, which has livebtl's hook, under a job whose traffic is on verbs."""
import json

from scripts.vmlab.monitor import Agent, Refused
from tests.harness.control import DONE, INCONSISTENT
from tests.harness.scenario import scenario
from tests.harness.waiting import check, wait_until

from .job import delivered
from .verbs import VerbsJob, add_verbs

DISPATCHER, DISPATCHED = "/etc/qemu/fsfreeze-hook", "/etc/qemu/fsfreeze-hook.d/livebtl"
LEASE_SECONDS = 7200  # an emulated guest on a busy machine needs minutes for one look


def _ask(guest, what):
    """Requests a freeze or thaw: it takes as long as the hook, for which the agent sets no limit."""
    return Agent(guest.path("agent"), 300 * guest.pace).request("guest-fsfreeze-" + what)


def _install(guest, place, **settings):
    """Installs the hook as the guest's administrator would; checks where it was put."""
    lines = "".join(f"LIVEBTL_HOOK_{name.upper()}={value}\n" for name, value in settings.items())
    guest.output(f"mkdir -p /etc/livebtl && printf 'LIVEBTL_BTLCTL=/opt/livebtl/bin/btlctl\n{lines}' >/etc/livebtl/hooks.conf")
    hook, = json.loads(guest.output("btlctl --json hooks install qemu-ga"))["hooks"]
    check(hook["installed"] and hook["file"] == place, f"hooks install: {hook}")


def _freeze_and_thaw(job, guest, other):
    """Observed from the other guest, since a frozen guest's agent runs nothing. Returns how many file systems were frozen."""
    count = job.timed("freeze", lambda: _ask(guest, "freeze"))
    job.btlctl(other, "hold", "check").expect(DONE)
    before = delivered(other)
    job.btlctl(other, "hold", "check").expect(DONE)
    check(delivered(other) == before, "messages were delivered while the job was held")
    check(not count or _ask(guest, "status") == "frozen", "the guest says that it is not frozen")
    job.timed("thaw", lambda: _ask(guest, "thaw"))
    check(_ask(guest, "status") == "thawed", "the guest says that it is frozen")
    job.btlctl(other, "hold", "check").expect(INCONSISTENT)  # nothing is held any more
    _goes_on(job)
    return count


def _goes_on(job):
    job.wait_progress()
    job.wait_across("verbs")


def _refused(guest, what):
    try:
        _ask(guest, what)
    except Refused as refusal:
        return str(refusal)
    check(False, f"{what} was done although the hook fails")
    return ""


def _not_held(job, guest, other):
    """A stopped rank cannot be held: the freeze fails, and no process stays held."""
    pid = other.output("pidof e2e_stream").split()[0]
    other.output(f"kill -STOP {pid}")
    said = _refused(guest, "freeze")
    check(_ask(guest, "status") == "thawed", "the guest was frozen although the hook failed")
    other.output(f"kill -CONT {pid}")
    wait_until("the hold to be over", lambda: job.btlctl(other, "hold", "check").code == INCONSISTENT, 60 * job.lab.pace)
    _goes_on(job)
    return said


def _lease_ran_out(job, guest, other):
    """A thaw that comes too late says so: that snapshot is void."""
    _install(guest, DISPATCHER, lease=1, timeout=200)
    _ask(guest, "freeze")
    wait_until("the lease to run out", lambda: job.btlctl(other, "hold", "check").code == INCONSISTENT, 60 * job.lab.pace)
    _goes_on_in(job, other)
    _refused(guest, "thaw")
    check(_ask(guest, "status") == "thawed", "a thaw whose hook failed has left the guest frozen")
    _goes_on(job)


def _goes_on_in(job, guest):
    before = delivered(guest)
    wait_until("messages to be delivered again", lambda: delivered(guest) != before, 60 * job.lab.pace)


@scenario("freeze-and-thaw")
def freeze_and_thaw(context):
    """guest-fsfreeze-freeze holds the job until guest-fsfreeze-thaw: through Debian's dispatcher; and installed as the
    hook itself, where a job that cannot be held prevents the guest's freeze."""
    rounds = 1 if context.short else 3
    with context.lab(2) as lab, VerbsJob(lab, context) as job:
        guest, other = lab.guests
        job.wait_ready()
        add_verbs(job)
        _install(guest, DISPATCHED, lease=LEASE_SECONDS, timeout=200)
        _ask(guest, "thaw")  # without a freeze
        for _ in range(rounds):
            count = _freeze_and_thaw(job, guest, other)
        guest.output(f"rm {DISPATCHER} {DISPATCHED}")
        _install(guest, DISPATCHER, lease=LEASE_SECONDS, timeout=round(10 * lab.pace))
        said = _not_held(job, guest, other)
        _freeze_and_thaw(job, guest, other)
        if not context.short:
            _lease_ran_out(job, guest, other)
        totals = job.finish()
    return (f"held {rounds + 1} times while {count} file systems were frozen; not frozen while a rank stood still ({said}); "
            f"{totals['received']} messages, lost 0, repeated 0, out of order 0; medians: {job.phases()}")
