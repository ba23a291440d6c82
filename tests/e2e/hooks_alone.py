# SPDX-License-Identifier: BSD-3-Clause
"""The hooks of scripts/hooks alone: what they make of every exit code of btlctl. No job runs."""
import os
import shutil
import subprocess

from tests.harness.scenario import scenario
from tests.harness.waiting import check, wait_until

from .hooks import DOMAIN, GUEST, HOOKS


class StubbedHooks:
    """The hooks with a stub of btlctl that records its arguments, and exits as told: {part of its arguments: code}."""

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
                       "LIVEBTL_HOOK_USERS=\"${USERS:-root}\"\nLIVEBTL_HOOK_TIMEOUT=1\nLIVEBTL_HOOK_TRANSPORTS='sm verbs'\n")
        with open(self.stub, "w") as file:
            file.write(f"""#!/bin/sh
echo "$*" >>{self.asked}
while read -r code words; do
  case "$*" in *"$words"*) [ "$code" = hang ] && exec sleep 60; exit "$code" ;; esac
done <{self.codes}
case "$*" in
*"--user root jobs") printf 'JOB USER\nj1 root\n' ;;
*"--user mallory jobs") printf 'JOB USER\nj2 mallory\n' ;;
*jobs) printf 'JOB USER\nj1 root\n%s' "${{OTHERS-}}" ;;
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
        """Returns (exit code, what btlctl was asked)."""
        self.set(codes or {})
        environment = {"PATH": "/usr/bin:/bin", "LIVEBTL_HOOK_SETTINGS": self.conf, **variables}
        end = subprocess.run([os.path.join(HOOKS, hook), *words], input=DOMAIN, env=environment, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120, check=False)
        check(end.stdout == "" or hook == "criu", f"{hook} {words} printed {end.stdout!r}")
        return end.returncode, self.said()

    def said(self):
        with open(self.asked) as file:
            return file.read()


def _freezes_nothing_unheld(hooks):
    """freeze fails if the jobs cannot be listed, or if a job is held neither by the hook nor by another command."""
    code, _ = hooks.run("qemu-ga", "freeze", codes={"jobs": 9})
    check(code == 1, "a freeze went on although the jobs could not be listed")
    code, asked = hooks.run("qemu-ga", "freeze", codes={"hold start": 4, "hold check": 8})
    check(code == 1 and asked.count("hold start") > 1, f"a freeze went on, or was not tried again, while a switch was at work: {asked}")
    check(hooks.run("qemu-ga", "freeze", codes={"hold start": 4})[0] == 0, "what another holds is not left to him")
    check(hooks.run("qemu-ga", "freeze")[0] == 0, "a freeze failed")
    code, asked = hooks.run("qemu-ga", "freeze", codes={"hold renew": 8})  # the thaw of the last one never came
    check(code == 0 and "hold end --id 0x1f" in asked and "hold start" in asked, f"a hold that is over was taken for one: {asked}")
    code, asked = hooks.run("qemu-ga", "freeze")  # once more: the lease begins anew
    check(code == 0 and "hold renew --id 0x1f" in asked and "hold start" not in asked, f"a hold was not renewed: {asked}")
    check(hooks.run("qemu-ga", "thaw", codes={"hold end": 5})[0] == 1, "a thaw that not all have answered is said to be well")
    check("hold end --id 0x1f" in hooks.run("qemu-ga", "thaw")[1], "thaw has not ended what freeze began, or what was left")
    os.remove(hooks.stub)
    check(hooks.run("qemu-ga", "freeze")[0] == 1, "a freeze went on without btlctl")


def _freezes_whatever_others_do(hooks):
    """A user who is not named neither stops a freeze nor holds it up, with jobs that are silent, busy or never answer."""
    mallory = {"OTHERS": "j2 mallory\n"}
    for code in (5, 4, 10, "hang"):
        ended, asked = hooks.run("qemu-ga", "freeze", codes={"--user mallory": code}, **mallory)
        check(ended == 0, f"another user's {code} stopped a freeze")
        check("--user root --job j1" in asked and "--user mallory --job j2" in asked, f"not all were asked: {asked}")
        ended, asked = hooks.run("qemu-ga", "thaw", codes={"--user mallory": code}, **mallory)
        check(ended == 0, f"another user's {code} made a thaw fail")
    ended, asked = hooks.run("qemu-ga", "freeze", codes={"--user mallory --job": 5}, USERS="root mallory", **mallory)
    check(ended == 1 and "--user root --job j1 --timeout 1 hold end" in asked, f"one who is named could not be held: {ended} {asked}")
    check(hooks.run("qemu-ga", "freeze", **mallory)[0] == 0, "a freeze failed")
    _, asked = hooks.run("qemu-ga", "thaw", **mallory)
    wait_until("the other user's hold to be ended", lambda: "--user mallory --job j2 --timeout 1 hold end --id 0x1f" in hooks.said(), 30)


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
    code, asked = hooks.run("libvirt", GUEST, "migrate", "begin", "-", codes={"prepare": 5})  # btlctl took it back itself
    check(code == 5 and "checkpoint return" not in asked, f"code {code}: {asked}")


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
    _returns_later(stubbed)
    _freezes_whatever_others_do(stubbed)
    _freezes_nothing_unheld(stubbed)
    return "every code of btlctl, and none"
