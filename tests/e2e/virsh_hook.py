# SPDX-License-Identifier: BSD-3-Clause
"""livebtl-virsh with a stub of virsh that records its arguments: how it handles every outcome of virsh, of the guest
agent, and of btlctl in the guest."""
import base64
import json
import os
import shutil
import signal
import subprocess

from tests.harness.scenario import scenario
from tests.harness.waiting import check, wait_until

from .hooks import GUEST, HOOKS

DOMAIN = "domain-1"
THERE = "qemu+ssh://host-2/system"
VIRSH = """#!/usr/bin/env python3
import json, os, sys, time
directory, words = os.path.dirname(sys.argv[0]), sys.argv[1:]
where = words[1] + " " if words[:1] == ["-c"] else ""
words = words[2:] if where else words
with open(directory + "/plan") as file:
    plan = json.load(file)
def note(text):
    with open(directory + "/asked", "a") as file:
        file.write(where + text + "\\n")
def code_of(text):
    found = next((part for part in plan if part in text), None)
    if found in plan.get("once", ()):
        with open(directory + "/asked") as file:
            if file.read().count(text + "\\n") > 1:
                return 0
    return plan.get(found, 0)
if words[0] != "qemu-agent-command":
    note("virsh " + " ".join(words))
    while code_of("stay") and not os.path.exists(directory + "/go"):
        time.sleep(0.05)
    sys.exit(code_of("virsh " + words[0]))
if code_of("agent") or (code_of("exec") and "guest-exec" in words[2]):
    print("error: Guest agent is not responding", file=sys.stderr)
    sys.exit(1)
assert words[1].startswith("domain-"), words
asked = json.loads(words[2])
given = asked.get("arguments", {})
last = directory + "/last"
if asked["execute"] == "guest-get-host-name":
    answer = {"host-name": plan.get("name", "GUEST")}
elif asked["execute"] == "guest-exec":
    assert given["capture-output"] and given["path"] == "btlctl" and given["arg"][:2] == ["--timeout", plan["timeout"]], given
    text = "btlctl " + " ".join(given["arg"][2:])
    note(text)
    with open(last, "w") as file:
        json.dump([text, 2], file)
    answer = {"pid": 4711}
else:
    assert asked["execute"] == "guest-exec-status" and given["pid"] == 4711, asked
    with open(last) as file:
        text, looks = json.load(file)
    with open(last, "w") as file:
        json.dump([text, looks - 1], file)
    answer = {"exited": looks < 2}
    if answer["exited"]:
        answer |= {"exitcode": code_of(text), "err-data": "SAID", "out-data": ""}
print(json.dumps({"return": answer}), end="\\n\\n")
"""
SAID = "held by rank 3"
# From a guest that would command the terminal: by bytes, UTF-8, and what some shells' echo makes of backslashes.
HARMFUL = "\033]0;owned\007\r\u009b2J\u202e\\033[2J\n"


class FakeVirsh:
    """plan: {part of what is asked: exit code}. Special keys: "agent" (it does not answer), "exec" (it starts no programs), "name" (of the guest), "stay"
    (virsh waits), and "once": parts whose code is given the first time only."""

    def __init__(self, directory):
        self.directory = directory
        os.makedirs(directory)
        self.path = os.path.join(directory, "virsh")
        with open(self.path, "w") as file:
            file.write(VIRSH.replace("GUEST", GUEST).replace("SAID", base64.b64encode((HARMFUL + SAID + HARMFUL).encode()).decode()))
        os.chmod(self.path, 0o755)

    def start(self, *words, plan=None, seconds=300, **variables):
        """seconds: how long the hook retries; 0: it retries no return, and the rest for the shortest time-out, a second."""
        timeout = seconds or 1
        conf = f"LIVEBTL_HOOK_VIRSH={self.path}\nLIVEBTL_HOOK_TIMEOUT={timeout}\nLIVEBTL_HOOK_PATIENCE={seconds}\n"
        for name, text in (("plan", json.dumps({"timeout": str(timeout)} | (plan or {}))), ("asked", ""), ("conf", conf)):
            with open(os.path.join(self.directory, name), "w") as file:
                file.write(text)
        environment = {"PATH": "/usr/bin:/bin", "LIVEBTL_HOOK_SETTINGS": os.path.join(self.directory, "conf"), **variables}
        return subprocess.Popen([os.path.join(HOOKS, "virsh"), *words], env=environment, stdin=subprocess.DEVNULL, text=True,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)

    def run(self, *words, **options):
        """Returns (exit code, what virsh was asked, by line, standard error)."""
        process = self.start(*words, **options)
        said = process.communicate(timeout=1000)[1]
        return process.returncode, self.asked(), said

    def asked(self):
        with open(os.path.join(self.directory, "asked")) as file:
            return file.read().splitlines()


PREPARE, RETURN = f"btlctl checkpoint prepare --scope node:{GUEST}", f"btlctl checkpoint return --scope node:{GUEST}"
MIGRATE = ("migrate", DOMAIN, THERE, "--live", "--persistent")


def _goes_there_and_back(virsh):
    code, asked, _ = virsh.run(*MIGRATE)
    check(code == 0 and asked == [PREPARE, "virsh " + " ".join(MIGRATE), f"{THERE} {RETURN}"], f"migrate: {code} {asked}")
    code, asked, _ = virsh.run("-c", "qemu:///system", *MIGRATE, LIVEBTL_HOOK_DESTINATION="qemu+tls://host-2/system")
    check(code == 0 and asked == [f"qemu:///system {PREPARE}", "qemu:///system virsh " + " ".join(MIGRATE),
                                  f"qemu+tls://host-2/system {RETURN}"], f"with hosts: {code} {asked}")
    for each in ("-cqemu:///system", "--connect=qemu:///system"):
        code, asked, _ = virsh.run(each, "migrate", DOMAIN, f"--desturi={THERE}")
        check(code == 0 and asked == [f"qemu:///system {PREPARE}", f"qemu:///system virsh migrate {DOMAIN} --desturi={THERE}",
                                      f"{THERE} {RETURN}"], f"with hosts in words of their own, {each}: {code} {asked}")
    code, asked, _ = virsh.run(*MIGRATE, plan={"virsh migrate": 1})
    check(code == 1 and asked[-1] == RETURN, f"a migration that failed: {code} {asked}")
    for each in ("snapshot-create", "snapshot-create-as"):
        code, asked, _ = virsh.run(each, DOMAIN, "--name", "two words")
        check(code == 0 and asked == [PREPARE, f"virsh {each} {DOMAIN} --name two words", RETURN], f"{each}: {code} {asked}")
    code, asked, said = virsh.run("save", DOMAIN, "/tmp/state")
    check(code == 0 and asked == [PREPARE, f"virsh save {DOMAIN} /tmp/state"] and "return" in said, f"save: {code} {asked} {said}")
    code, asked, _ = virsh.run("managedsave", DOMAIN, plan={"virsh managedsave": 1})
    check(code == 1 and asked[-1] == RETURN, f"a save that failed: {code} {asked}")
    check(virsh.run("return", DOMAIN)[:2] == (0, [RETURN]), "return")


def _leaves_alone_what_is_not_prepared(virsh):
    code, asked, said = virsh.run(*MIGRATE, plan={"prepare": 7})
    check(code == 7 and asked == [PREPARE, RETURN] and SAID in said, f"a device that is held: {code} {asked} {said}")
    check(said.endswith("\n") and said[:-1].isascii() and said[:-1].isprintable(), f"the guest commands the terminal: {said!r}")
    code, asked, _ = virsh.run(*MIGRATE, plan={"prepare": 10, "return": 10}, seconds=120)
    check(code == 10 and asked == [PREPARE], f"a process that does not answer, where nothing was begun: {code} {asked}")
    code, asked, said = virsh.run(*MIGRATE, plan={"exec": 1}, seconds=120)
    check(code == 5 and asked == [] and "has not returned" not in said, f"an agent that starts no programs: {code} {asked} {said}")
    code, asked, _ = virsh.run(*MIGRATE, LIVEBTL_HOOK_TRANSPORTS="ofi:tcp;ofi_rxm")
    check(code == 0 and asked[0] == f"btlctl checkpoint prepare ofi:tcp;ofi_rxm --scope node:{GUEST}", f"a provider's name: {code} {asked}")
    code, asked, _ = virsh.run(*MIGRATE, plan={"prepare": 4}, seconds=0)
    check(code == 4 and set(asked) == {PREPARE}, f"busy: {code} {asked}")
    for wrong in ("0.5", "08", "0x10", "ten"):
        code, asked, said = virsh.run(*MIGRATE, seconds=wrong)
        check(code == 1 and asked == [] and "whole seconds" in said, f"a time-out of {wrong}: {code} {asked} {said}")
    code, asked, _ = virsh.run(*MIGRATE, plan={"prepare": 4, "once": ["prepare"]})
    check(code == 0 and asked[:3] == [PREPARE, PREPARE, "virsh " + " ".join(MIGRATE)], f"busy at first: {code} {asked}")
    code, asked, said = virsh.run(*MIGRATE, plan={"prepare": 2})
    check(code == 2 and asked == [PREPARE, "btlctl list"] and SAID in said, f"a node that the job does not know: {code} {asked} {said}")
    code, asked, _ = virsh.run(*MIGRATE, plan={"prepare": 2, "list": 2})
    check(code == 0 and asked[2:] == ["virsh " + " ".join(MIGRATE)], f"a guest without a job: {code} {asked}")
    code, asked, said = virsh.run(*MIGRATE, plan={"agent": 1})
    check(code == 5 and not asked and "not responding" in said, f"no agent: {code} {asked} {said}")
    code, asked, _ = virsh.run(*MIGRATE, plan={"name": 'a","b'})
    check(code == 1 and not asked, f"a name that is none: {code} {asked}")
    for words in ((), ("-c",), ("migrate", DOMAIN), ("migrate", DOMAIN, "--live", THERE),
                  ("migrate", DOMAIN, f"--migrateuri={THERE}"), ("destroy", DOMAIN), ("save", "--verbose", DOMAIN)):
        code, asked, said = virsh.run(*words)
        check(code == 1 and not asked and said.count("livebtl-virsh") == 2, f"{words}: {code} {asked} {said}")


def _tells_a_return_that_failed(virsh):
    code, asked, _ = virsh.run(*MIGRATE, plan={"return": 3, "once": ["return"]})
    check(code == 0 and asked.count(f"{THERE} {RETURN}") == 2, f"a card that comes later: {code} {asked}")
    code, asked, said = virsh.run(*MIGRATE, plan={"return": 3}, seconds=0)
    check(code == 6 and asked.count(f"{THERE} {RETURN}") == 1, f"a card that never comes: {code} {asked}")
    check(f"livebtl-virsh -c {THERE} return {DOMAIN}" in said and SAID in said, f"what is left is not said: {said}")
    for renamed in (("--dname", "domain-2"), ("--dname=domain-2",)):
        code, asked, said = virsh.run(*MIGRATE, *renamed, plan={"return": 9})
        check(code == 6 and asked.count(f"{THERE} {RETURN}") == 1 and "return domain-2" in said, f"{renamed}: {code} {asked} {said}")


def _is_interrupted(virsh):
    """Interrupted while virsh is at work: virsh decides, and the job returns to where the guest is then."""
    process = virsh.start(*MIGRATE, plan={"stay": 1, "virsh migrate": 1})
    wait_until("virsh to be called", lambda: len(virsh.asked()) == 2, 30)
    process.send_signal(signal.SIGTERM)
    with open(os.path.join(virsh.directory, "go"), "w"):
        pass
    process.communicate(timeout=1000)
    check(process.returncode == 1 and virsh.asked()[-1] == RETURN, f"{process.returncode} {virsh.asked()}")


@scenario("hooks-virsh")
def virsh_alone(context):
    """How livebtl-virsh handles every answer of virsh, agent and btlctl; no job runs."""
    directory = os.path.join(os.path.abspath(context.logs), "virsh")
    shutil.rmtree(directory, ignore_errors=True)
    virsh = FakeVirsh(directory)
    _goes_there_and_back(virsh)
    _leaves_alone_what_is_not_prepared(virsh)
    _tells_a_return_that_failed(virsh)
    _is_interrupted(virsh)
    return "each end of virsh, of the guest's agent and of btlctl in the guest"
