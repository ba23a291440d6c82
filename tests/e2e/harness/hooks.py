# SPDX-License-Identifier: BSD-3-Clause
"""The hooks of scripts/hooks, called exactly as their callers do, while messages run. sm stands for what is bound to a device."""
import os
import shutil
import subprocess

from . import processes
from .control import DONE, INCONSISTENT, REFUSED, USAGE, btlctl, order
from .departures import SM_MEMORY
from .job import MpiJob
from .waiting import check, wait_until

HOOKS = os.path.join(os.path.dirname(__file__), "..", "..", "..", "scripts", "hooks")
GUEST = "guest-1"
DOMAIN = f"<domain type='kvm'>\n  <name>{GUEST}</name>\n</domain>\n" * 4000  # more than a pipe holds


def _run(job, hook, *words, given="", **settings):
    """The hook's exit code; it says nothing on standard output."""
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
    """A rank that is stopped cannot be held: freeze fails, and holds nobody."""
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
    """On the destination, while the guest runs: `migrate begin` sets aside; everything else is none of its business."""
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
    """Into an image: what is there is seen, what is not ours is left alone."""
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


class StubbedHooks:
    """The hooks with a btlctl that only notes what it is asked, and ends as it is told: {part of its words: code}."""

    def __init__(self, directory):
        self.asked, self.codes = os.path.join(directory, "asked"), os.path.join(directory, "codes")
        self.state, self.stub = os.path.join(directory, "state"), os.path.join(directory, "btlctl")
        guests = os.path.join(directory, "guests")
        self.conf = os.path.join(directory, "hooks.conf")
        os.makedirs(guests)
        with open(os.path.join(guests, GUEST), "w") as file:
            file.write("relay:1\n/secret\n")
        with open(self.conf, "w") as file:  # all that a hook of libvirt's is told
            file.write(f"LIVEBTL_BTLCTL={self.stub}\nLIVEBTL_GUESTS={guests}\nLIVEBTL_HOOK_STATE={self.state}\n"
                       "LIVEBTL_HOOK_TIMEOUT=1\nLIVEBTL_HOOK_TRANSPORTS='sm verbs'\n")
        with open(self.stub, "w") as file:
            file.write(f"""#!/bin/sh
echo "$*" >>{self.asked}
while read -r code words; do
  case "$*" in *"$words"*) exit "$code" ;; esac
done <{self.codes}
case "$*" in
jobs) printf 'JOB USER\nj1 root\n' ;;
*"hold start"*) echo "hold start: held: 0x1f, and nothing is on its way" ;;
esac
""")
        os.chmod(self.stub, 0o755)

    def set(self, codes):
        with open(self.codes, "w") as file:
            file.writelines(f"{code} {words}\n" for words, code in codes.items())
        with open(self.asked, "w"):
            pass

    def run(self, hook, *words, codes=None, **variables):
        """(exit code, what btlctl was asked)"""
        self.set(codes or {})
        environment = {"PATH": "/usr/bin:/bin", "LIVEBTL_HOOK_SETTINGS": self.conf, **variables}
        end = subprocess.run([os.path.join(HOOKS, hook), *words], input=DOMAIN, env=environment, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120, check=False)
        check(end.stdout == "" or hook == "criu", f"{hook} {words} printed {end.stdout!r}")
        return end.returncode, self.said()

    def said(self):
        with open(self.asked) as file:
            return file.read()


def _freezes_nothing_unheld(hooks_):
    """freeze fails where it cannot know what runs here, and where a job is not held, by itself or by another."""
    code, _ = hooks_.run("qemu-ga", "freeze", codes={"jobs": 9})
    check(code == 1, "a freeze went on although the jobs could not be listed")
    code, asked = hooks_.run("qemu-ga", "freeze", codes={"hold start": 4, "hold check": 8})
    check(code == 1 and asked.count("hold start") > 1, f"a freeze went on, or was not tried again, while a switch was at work: {asked}")
    check(hooks_.run("qemu-ga", "freeze", codes={"hold start": 4})[0] == 0, "what another holds is not left to him")
    check(hooks_.run("qemu-ga", "freeze")[0] == 0, "a freeze failed")
    code, asked = hooks_.run("qemu-ga", "freeze", codes={"hold renew": 8})  # the thaw of the last one never came
    check(code == 0 and "hold end --id 0x1f" in asked and "hold start" in asked, f"a hold that is over was taken for one: {asked}")
    code, asked = hooks_.run("qemu-ga", "freeze")  # once more: the lease begins anew
    check(code == 0 and "hold renew --id 0x1f" in asked and "hold start" not in asked, f"a hold was not renewed: {asked}")
    check(hooks_.run("qemu-ga", "thaw", codes={"hold end": 5})[0] == 1, "a thaw that not all have answered is said to be well")
    check("hold end --id 0x1f" in hooks_.run("qemu-ga", "thaw")[1], "thaw has not ended what freeze began, or what was left")
    os.remove(hooks_.stub)
    check(hooks_.run("qemu-ga", "freeze")[0] == 1, "a freeze went on without btlctl")


def _goes_on_only_without_a_job(hooks_):
    """btlctl says 2 of a job that has ended, and also of a node or transport that the job does not know."""
    call = ("libvirt", GUEST, "migrate", "begin", "-")
    check(hooks_.run(*call, codes={"prepare": 2})[0] == 2, "a guest that the job does not know was migrated")
    check(hooks_.run(*call, codes={"prepare": 2, "jobs": 2})[0] == 0, "a job that has ended keeps its guest")
    code, asked = hooks_.run(*call)
    check(code == 0 and "prepare sm verbs --scope" in asked, f"the settings in the file are not in force: {asked}")
    before = {"CRTOOLS_SCRIPT_ACTION": "pre-dump"}
    check(hooks_.run("criu", codes={"prepare": 2}, **before)[0] == 2, "a node that the job does not know was dumped")
    check(hooks_.run("criu", codes={"prepare": 2, "list": 2}, **before)[0] == 0, "nothing can be dumped without a job")


def _returns_where_it_is_not_moved(hooks_):
    """Set aside, but not released by all (6), or held by another (7): the guest stays, so its devices are used again."""
    for prepared in (6, 7):
        code, asked = hooks_.run("libvirt", GUEST, "migrate", "begin", "-", codes={"prepare": prepared})
        check(code == prepared and "checkpoint return --scope" in asked, f"code {code} after {prepared}: {asked}")
        code, _ = hooks_.run("criu", codes={"prepare": prepared}, CRTOOLS_SCRIPT_ACTION="pre-dump")
        check(code == prepared, f"code {code} after {prepared}")
        wait_until("the return", lambda: "checkpoint return --scope" in hooks_.said(), 30)
    code, asked = hooks_.run("libvirt", GUEST, "migrate", "begin", "-", codes={"prepare": 5})  # btlctl took it back itself
    check(code == 5 and "checkpoint return" not in asked, f"code {code}: {asked}")


def _returns_later(hooks_):
    """What was dumped is frozen until the script has ended: the return outlives it."""
    code, _ = hooks_.run("criu", codes={"return": 5}, CRTOOLS_SCRIPT_ACTION="post-dump")
    check(code == 0, "CRIU was told of a failure after the dump")
    wait_until("the return to be tried again", lambda: hooks_.said().count("return") > 1, 30)
    hooks_.set({})
    wait_until("the last return", lambda: "return" in hooks_.said(), 30)


def hooks_alone(context):
    """What the hooks make of btlctl's exit codes; no job runs."""
    directory = os.path.join(os.path.abspath(context.logs), "stubbed")
    shutil.rmtree(directory, ignore_errors=True)
    stubbed = StubbedHooks(directory)
    _goes_on_only_without_a_job(stubbed)
    _returns_where_it_is_not_moved(stubbed)
    _returns_later(stubbed)
    _freezes_nothing_unheld(stubbed)
    return "every code of btlctl, and none"


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


CASES = (("hooks", hooks), ("hooks-alone", hooks_alone))
