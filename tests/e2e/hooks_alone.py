# SPDX-License-Identifier: BSD-3-Clause
"""The hooks of scripts/hooks alone: how they handle every exit code of btlctl. No job runs."""
import os
import re
import shutil
import subprocess

from tests.harness.scenario import scenario
from tests.harness.waiting import check, wait_until

from .hooks import DOMAIN, GUEST, HOOKS

STUB = r"""#!/bin/sh
echo "$*" >>ASKED
while read -r code words; do
  case "$*" in *"$words"*)
    [ "$code" = hang ] && exec sleep 60
    [ "$code" = late ] && sleep 2 && exit 5
    [ "$code" = slow ] || exit "$code"
    trap 'echo "taken back" >>ASKED; exit 130' TERM
    sleep 20 & wait
    echo "held" >>ASKED
    exit 0 ;;
  esac
done <CODES
case "$*" in
*"--user root jobs") printf 'JOB USER\nj1 root\n' ;;
*"--user nobody jobs") printf 'JOB USER\nj2 nobody\n' ;;
*jobs) printf 'JOB USER\nj1 root\n%s' "${OTHERS-}" ;;
*"hold start"*) echo "hold start: held, and nothing is on its way" ;;
esac
"""


class StubbedHooks:
    """The hooks with a stub of btlctl that records its arguments, and exits as told: {part of its arguments: code}.
    "slow": it takes twenty seconds, and notes whether it has held the job in the end; "late": it fails after two."""

    def __init__(self, directory):
        self.asked, self.codes = os.path.join(directory, "asked"), os.path.join(directory, "codes")
        self.state, self.stub = os.path.join(directory, "state"), os.path.join(directory, "btlctl")
        guests = os.path.join(directory, "guests")
        self.conf = os.path.join(directory, "hooks.conf")
        os.makedirs(guests)
        with open(os.path.join(guests, GUEST), "w") as file:
            file.write("relay:1\n/secret\n")
        with open(self.conf, "w") as file:  # libvirt gives its hook no other settings
            file.write(f"LIVEBTL_BTLCTL={self.stub}\nLIVEBTL_GUESTS={guests}\nLIVEBTL_HOOK_STATE={self.state}\n"
                       "LIVEBTL_HOOK_USERS=\"${USERS:-root}\"\nLIVEBTL_HOOK_TIMEOUT=\"${PATIENCE:-1}\"\nLIVEBTL_HOOK_TRANSPORTS='sm verbs'\n")
        with open(self.stub, "w") as file:
            file.write(STUB.replace("ASKED", self.asked).replace("CODES", self.codes))
        os.chmod(self.stub, 0o755)

    def set(self, codes):
        with open(self.codes, "w") as file:
            file.writelines(f"{code} {words}\n" for words, code in codes.items())
        with open(self.asked, "w"):
            pass

    def run(self, hook, *words, codes=None, descriptors=(), **variables):
        """Returns (exit code, what btlctl was asked). descriptors: those that the hook inherits."""
        self.set(codes or {})
        environment = {"PATH": "/usr/bin:/bin", "LIVEBTL_HOOK_SETTINGS": self.conf, **variables}
        end = subprocess.run([os.path.join(HOOKS, hook), *words], input=DOMAIN, env=environment, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120, check=False, pass_fds=descriptors)
        check(end.stdout == "" or hook == "criu", f"{hook} {words} printed {end.stdout!r}")
        return end.returncode, self.said()

    def said(self):
        with open(self.asked) as file:
            return file.read()


def _drawn(user, asked):
    """The id under which the hook last tried to hold that user's job."""
    ids = re.findall(f"--user {user} --job .* hold start --id (0x[0-9a-f]{{16}}) ", asked)
    check(ids, f"no job of {user} was to be held under an id: {asked}")
    return ids[-1]


def _freezes_nothing_unheld(hooks):
    """freeze fails if the jobs cannot be listed, or if a job is held neither by the hook nor by another command."""
    code, _ = hooks.run("qemu-ga", "freeze", codes={"jobs": 9})
    check(code == 1, "a freeze went on although the jobs could not be listed")
    code, asked = hooks.run("qemu-ga", "freeze", codes={"hold start": 5})
    check(code == 1 and not os.listdir(hooks.state), f"what is not held is noted: {asked}")
    code, asked = hooks.run("qemu-ga", "freeze", codes={"hold start": 4, "hold check": 8}, PATIENCE="5")
    check(code == 1 and asked.count("hold start") > 1, f"a freeze went on, or was not tried again, while a switch was at work: {asked}")
    check(hooks.run("qemu-ga", "freeze", codes={"hold start": 4})[0] == 0, "what another holds is not left to him")
    in_the_way = os.path.join(hooks.state, ".said-root-start")
    os.mkdir(in_the_way)  # as if there were no room for what btlctl says
    code, asked = hooks.run("qemu-ga", "freeze", codes={"hold start": 5})
    check(code == 1, f"a freeze went on without a hold, since its text could not be kept: {asked}")
    code, asked = hooks.run("qemu-ga", "freeze")
    check(code == 0 and hooks.run("qemu-ga", "thaw")[0] == 0, f"a freeze failed since a text could not be kept: {asked}")
    os.rmdir(in_the_way)
    code, asked = hooks.run("qemu-ga", "freeze")
    first = _drawn("root", asked)
    check(code == 0, "a freeze failed")
    code, asked = hooks.run("qemu-ga", "freeze", codes={"hold renew": 8})  # the thaw of the last freeze never came
    check(code == 0 and f"hold end --id {first}\n" in asked, f"a hold that is over was taken for one: {asked}")
    second = _drawn("root", asked)
    check(second != first, "an id was used twice")
    code, asked = hooks.run("qemu-ga", "freeze")  # again: the lease begins anew
    check(code == 0 and f"hold renew --id {second} " in asked and "hold start" not in asked, f"a hold was not renewed: {asked}")
    check(hooks.run("qemu-ga", "thaw", codes={"hold end": 5})[0] == 1, "a thaw that not all have answered is said to be well")
    check(f"hold end --id {second}\n" in hooks.run("qemu-ga", "thaw")[1], "thaw has not ended what freeze began, or what was left")
    _freezes_nothing_by_settings_that_are_wrong(hooks)
    os.remove(hooks.stub)
    check(hooks.run("qemu-ga", "freeze")[0] == 1, "a freeze went on without btlctl")


def _freezes_nothing_by_settings_that_are_wrong(hooks):
    """A user who is mistyped, or not named as in `btlctl jobs`, would leave jobs unheld that have to be held."""
    for wrong in ({"USERS": "no-such-user"}, {"USERS": "root no-such-user"}, {"PATIENCE": "0.5"}, {"PATIENCE": "08"}):
        code, asked = hooks.run("qemu-ga", "freeze", codes={"--user no-such-user": 2}, **wrong)
        check(code == 1 and asked == "", f"a freeze began with {wrong}: {code} {asked}")
    code, asked = hooks.run("qemu-ga", "freeze", USERS="0")  # btlctl shows that user as root
    check(code == 1 and "hold start" not in asked, f"a freeze went on without a job that was to be held: {code} {asked}")


def _moves_and_dumps_nothing_by_settings_that_are_wrong(hooks):
    """After a dump CRIU must not fail, and what was set aside is returned to."""
    for wrong in ("0.5", "08", "0"):
        for hook, words, moment in (("libvirt", (GUEST, "migrate", "begin", "-"), ""), ("criu", (), "pre-dump")):
            code, asked = hooks.run(hook, *words, PATIENCE=wrong, CRTOOLS_SCRIPT_ACTION=moment)
            check(code == 1 and "prepare" not in asked, f"{hook} began with a time-out of {wrong}: {code} {asked}")
        for hook, words, moment in (("libvirt", ("another", "migrate", "begin", "-"), ""), ("criu", (), "pre-dump")):
            code, asked = hooks.run(hook, *words, codes={"list": 2}, PATIENCE=wrong, CRTOOLS_SCRIPT_ACTION=moment)
            check(code == 0 and "prepare" not in asked, f"{hook} failed without a job, with a time-out of {wrong}: {code} {asked}")
        check(hooks.run("criu", PATIENCE=wrong, CRTOOLS_SCRIPT_ACTION="post-dump")[0] == 0, "a hook failed after the dump")
        wait_until("the return", lambda: "--timeout 8 checkpoint return" in hooks.said(), 30)


def _freezes_whatever_others_do(hooks):
    """A user who is not named neither stops nor delays a freeze, with jobs that are silent, busy or never answer."""
    others = {"OTHERS": "j2 nobody\n"}
    for code in (5, 4, 10, "hang"):
        ended, asked = hooks.run("qemu-ga", "freeze", codes={"--user nobody": code}, **others)
        check(ended == 0, f"another user's {code} stopped a freeze")
        check("--user root --job j1" in asked and "--user nobody --job j2" in asked, f"not all were asked: {asked}")
        ended, asked = hooks.run("qemu-ga", "thaw", codes={"--user nobody": code}, **others)
        check(ended == 0, f"another user's {code} made a thaw fail")
    ended, asked = hooks.run("qemu-ga", "freeze", codes={"--user nobody --job": 5}, USERS="root nobody", **others)
    end = f"--user root --job j1 --timeout 1 hold end --id {_drawn('root', asked)}\n"
    check(ended == 1 and end in asked, f"one who is named could not be held: {ended} {asked}")
    ended, asked = hooks.run("qemu-ga", "freeze", **others)
    check(ended == 0, "a freeze failed")
    end = f"--user nobody --job j2 --timeout 1 hold end --id {_drawn('nobody', asked)}\n"
    hooks.run("qemu-ga", "thaw", **others)
    wait_until("the other user's hold to be ended", lambda: end in hooks.said(), 30)


def _ends_what_a_failed_freeze_began(hooks):
    """The hold of another user's job is on its way when the freeze fails: it ends before the hook does, or because it does."""
    codes = {"--user root --job j1 --timeout 1 hold start": "late", "--user nobody --job j2 --timeout 1 hold start": "slow"}
    ended, asked = hooks.run("qemu-ga", "freeze", codes=codes, OTHERS="j2 nobody\n")
    end = f"--user nobody --job j2 --timeout 1 hold end --id {_drawn('nobody', asked)}\n"
    check(ended == 1 and "taken back\n" in asked, f"a hold went on after a freeze that failed: {ended} {asked}")
    wait_until("that hold to be ended, too", lambda: end in hooks.said().partition("taken back")[2], 30)
    wait_until("the notes to go", lambda: not os.listdir(hooks.state), 30)
    ended, asked = hooks.run("qemu-ga", "freeze", codes={"--user nobody --job": "slow"}, OTHERS="j2 nobody\n")
    check(ended == 0, f"a hold that takes long stopped a freeze: {asked}")
    wait_until("a hold that takes too long to be taken back", lambda: "taken back" in hooks.said(), 30)
    check("held\n" not in hooks.said(), "a hold was not taken back")
    check(hooks.run("qemu-ga", "freeze", OTHERS="j2 nobody\n")[0] == 0, "a freeze failed")
    codes = {"--user root --job j1 --timeout 1 hold renew": "late", "--user root --job j1 --timeout 1 hold start": 5,
             "--user nobody --job j2 --timeout 1 hold renew": "slow"}
    ended, asked = hooks.run("qemu-ga", "freeze", codes=codes, OTHERS="j2 nobody\n")
    check(ended == 1 and "taken back\n" in asked and "held\n" not in asked, f"another user's renewal held a failing freeze up: {asked}")
    check(hooks.run("qemu-ga", "thaw", OTHERS="j2 nobody\n")[0] == 0, "a thaw failed")
    wait_until("the last notes to go", lambda: not os.listdir(hooks.state), 30)


def _goes_on_only_without_a_job(hooks):
    """btlctl's code 2 means that the job has ended, or that it does not know the node or transport."""
    call = ("libvirt", GUEST, "migrate", "begin", "-")
    check(hooks.run(*call, codes={"prepare": 2})[0] == 2, "a guest that the job does not know was migrated")
    check(hooks.run(*call, codes={"prepare": 2, "jobs": 2})[0] == 0, "a job that has ended keeps its guest")
    code, asked = hooks.run(*call)
    check(code == 0 and "prepare sm verbs --scope" in asked, f"the settings in the file are not in force: {asked}")
    before = {"CRTOOLS_SCRIPT_ACTION": "pre-dump"}
    check(hooks.run("criu", codes={"prepare": 2}, **before)[0] == 2, "a node that the job does not know was dumped")
    check(hooks.run("criu", codes={"prepare": 2, "list": 2}, **before)[0] == 0, "nothing can be dumped without a job")


def _returns_where_it_is_not_moved(hooks):
    """Set aside, but not released by all (6), or held by another process (7): the guest stays, and its devices are used again."""
    for prepared in (6, 7):
        code, asked = hooks.run("libvirt", GUEST, "migrate", "begin", "-", codes={"prepare": prepared})
        check(code == prepared and "checkpoint return --scope" in asked, f"code {code} after {prepared}: {asked}")
        code, _ = hooks.run("criu", codes={"prepare": prepared}, CRTOOLS_SCRIPT_ACTION="pre-dump")
        check(code == prepared, f"code {code} after {prepared}")
        wait_until("the return", lambda: "checkpoint return --scope" in hooks.said(), 30)
    code, asked = hooks.run("libvirt", GUEST, "migrate", "begin", "-", codes={"prepare": 5})  # btlctl took it back
    check(code == 5 and "checkpoint return" not in asked, f"code {code}: {asked}")


def _takes_on_what_the_last_dump_owes(hooks):
    """The next dump ends the last one's return. If it then dumps nothing, that return is still due."""
    hooks.run("criu", codes={"return": 10}, CRTOOLS_SCRIPT_ACTION="post-dump")
    wait_until("the return", lambda: "checkpoint return" in hooks.said(), 30)
    code, _ = hooks.run("criu", codes={"prepare": 10, "return": 10}, CRTOOLS_SCRIPT_ACTION="pre-dump")
    check(code == 10, f"code {code}")
    wait_until("the return, again and again", lambda: hooks.said().count("checkpoint return") > 2, 60)
    hooks.set({})
    wait_until("its end", lambda: not os.path.exists("/run/livebtl-criu/all"), 30)


def _returns_later(hooks):
    """The dumped processes are frozen until the script has ended: the return must outlive it."""
    code, _ = hooks.run("criu", codes={"return": 5}, CRTOOLS_SCRIPT_ACTION="post-dump")
    check(code == 0, "CRIU was told of a failure after the dump")
    wait_until("the return to be tried again", lambda: hooks.said().count("return") > 1, 30)
    hooks.set({})
    wait_until("the last return", lambda: "return" in hooks.said(), 30)


@scenario("hooks-alone")
def hooks_alone(context):
    directory = os.path.join(os.path.abspath(context.logs), "stubbed")
    shutil.rmtree(directory, ignore_errors=True)
    stubbed = StubbedHooks(directory)
    _goes_on_only_without_a_job(stubbed)
    _returns_where_it_is_not_moved(stubbed)
    _takes_on_what_the_last_dump_owes(stubbed)
    _returns_later(stubbed)
    _moves_and_dumps_nothing_by_settings_that_are_wrong(stubbed)
    _freezes_whatever_others_do(stubbed)
    _ends_what_a_failed_freeze_began(stubbed)
    _freezes_nothing_unheld(stubbed)
    return "every code of btlctl, and none"
