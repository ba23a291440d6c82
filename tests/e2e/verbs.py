# SPDX-License-Identifier: BSD-3-Clause
"""Every verb of btlctl with every option, against one job: exit code, which stream says what, the document's schema."""
import json
import os
import pty
import subprocess
import time

from tests.harness.control import BUSY, DONE, NOT_FOUND, REFUSED, TIMEOUT, USAGE
from tests.harness.job import MpiJob
from tests.harness.scenario import scenario
from tests.harness.waiting import PATIENCE, check, wait_until

OUTCOME = "livebtl.outcome/1"
CHANGES = (("switch", "sm", "tcp"), ("switch", "tcp", "sm"), ("quiesce", "tcp"), ("add", "tcp"), ("remove", "sm"),
           ("add", "sm"), ("set", "tcp", "weight=3"), ("set", "tcp", "weight=default"), ("resume",), ("abort",))
VIEWS = {"jobs": "livebtl.jobs/1", "list": "livebtl.list/1", "status": "livebtl.status/1"}
# Wrong command lines, and the exit code of each.
WRONG = (
    (("fly",), USAGE), ((), USAGE), (("switch", "sm"), USAGE), (("switch", "sm", "sm"), USAGE), (("remove",), USAGE),
    (("set", "sm", "weight=0"), USAGE), (("--timeout", "0", "list"), USAGE), (("--timeout", "soon", "list"), USAGE),
    (("--wait", "--no-wait", "add", "sm"), USAGE), (("resume", "sm"), USAGE), (("watch", "--interval", "0"), USAGE),
    (("remove", "pigeon"), NOT_FOUND), (("switch", "sm", "pigeon"), NOT_FOUND), (("--dry-run", "add", "pigeon"), NOT_FOUND),
    (("--job", "none", "--timeout", "0.2", "add", "sm"), NOT_FOUND), (("--job", "none", "status"), NOT_FOUND),
    (("--job", "none", "jobs"), NOT_FOUND), (("--job", "none", "list"), NOT_FOUND),
    (("--job", "none", "watch", "--once"), NOT_FOUND), (("--job", "none", "secret", "s"), NOT_FOUND),
    (("secret",), USAGE), (("--secret-file", "s", "list"), USAGE), (("--connect", "nonsense", "list"), USAGE),
    (("--connect", "127.0.0.1:9", "--timeout", "0.2", "list"), NOT_FOUND),
)


class Verbs:
    """Runs btlctl with exactly these arguments, except for a generous time-out on slow machines."""

    def __init__(self, job):
        self.job, self.lines = job, 0

    def run(self, *words, code=DONE, errors=""):
        timeout = () if "--timeout" in words or code in (USAGE, NOT_FOUND) else TIMEOUT
        done = subprocess.run([*self.job.enter, self.job.build.btlctl, *timeout, *words], env=self.job.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60 * PATIENCE, check=False)
        self.said = f"btlctl {' '.join(words)}: code {done.returncode}, out {done.stdout[-400:]!r}, err {done.stderr[-400:]!r}"
        self.lines += 1
        check(done.returncode == code, f"expected code {code}: {self.said}")
        if errors is not None:
            check(bool(done.stderr) == bool(errors) and errors in done.stderr, f"wrong words on stderr: {self.said}")
        return done.stdout

    def document(self, schema, *words, code=DONE, errors=""):
        """Runs btlctl --json, and returns its document: exactly one, on one line."""
        output = self.run("--json", *words, code=code, errors=errors)
        check(output.count("\n") == 1 and output.endswith("\n"), f"not one line: {self.said}")
        found = json.loads(output)
        check(found["schema"] == schema, f"not of schema {schema}: {self.said}")
        if schema == OUTCOME:
            check(found["exit_code"] == code and found["text"], f"the document does not say what came of it: {self.said}")
        return found

    def routing(self):
        return [member["routing"] for member in self.document(VIEWS["status"], "status")["members"]]


@scenario("btlctl-verbs")
def every_verb(context):
    with MpiJob(context.build, context.logs, "stream", 3) as job:
        job.wait_ready()
        verbs = Verbs(job)
        name = _views(verbs)
        _changes(verbs, name)
        _background(verbs)
        _watch(verbs, name)
        _wrong_lines(verbs)
        _on_a_terminal(verbs)
        _completion(verbs)
        job.finish(60)
    return f"{verbs.lines} lines"


def _views(verbs):
    name = verbs.document(VIEWS["jobs"], "jobs")["jobs"][0]["job"]
    for verb, schema in VIEWS.items():
        for options in ((), ("--job", name), ("--timeout", "60"), ("--dry-run",), ("--quiet",), ("--progress",)):
            check(verbs.run(*options, verb).count("\n") > 1, f"no table: {verbs.said}")
            verbs.document(schema, *options, verb)
    members = verbs.document(VIEWS["status"], "status", "--peers")["members"]
    check([member["rank"] for member in members] == [0, 1, 2], f"not three ranks: {members}")
    check(all(member["engine"]["peers"] for member in members), "--peers shows no peers")
    check("rank 2" in verbs.run("status", "--peers"), verbs.said)
    _secret(verbs)
    verbs.document("livebtl.settings/1", "settings")
    check("LIVEBTL_TAKEOVER" in verbs.run("settings"), verbs.said)
    return name


def _secret(verbs):
    """The file that --connect needs from outside (outside.py)."""
    file = os.path.join(verbs.job.shared, "secret")
    check(file in verbs.document(OUTCOME, "secret", file)["text"], verbs.said)
    check(os.stat(file).st_mode & 0o777 == 0o600, "the secret can be read by others")
    verbs.document(OUTCOME, "secret", file, code=USAGE, errors="exists already")


def _changes(verbs, name):
    for words in CHANGES:
        before = verbs.routing()
        plan = verbs.document(OUTCOME, "--dry-run", *words)
        check(bool(plan["plans"]) or plan["already"], f"a dry run without a plan: {verbs.said}")
        check("\n" in verbs.run("--dry-run", *words), verbs.said)
        check(verbs.routing() == before, f"a dry run changed the routing: {verbs.said}")
        done = verbs.document(OUTCOME, *TIMEOUT, "--wait", "--job", name, *words)
        check(done["members"] == 3 and done["released"] == (words[0] == "remove"), verbs.said)
        changed = verbs.routing() != before
        check(changed == (not done["already"]) == (words[0] not in ("resume", "abort")), f"changed: {changed}, {verbs.said}")
        check("already" in verbs.run(*TIMEOUT, *words) or words[0] in ("resume", "abort"), verbs.said)
    verbs.run(*TIMEOUT, "--progress", "switch", "sm", "tcp", errors="newtx 3/3\n")
    verbs.run(*TIMEOUT, "--quiet", "switch", "tcp", "sm")
    verbs.document(OUTCOME, *TIMEOUT, "--progress", "remove", "sm", errors="new 0/3\n")
    plan = verbs.document(OUTCOME, "--dry-run", "remove", "tcp", code=REFUSED, errors="cut off")
    check(any(each["plan"]["cut_off"] for each in plan["plans"]), f"nobody would be cut off: {verbs.said}")
    verbs.document(OUTCOME, *TIMEOUT, "remove", "tcp", code=REFUSED, errors="last path")
    check("opens sm" in verbs.run("--dry-run", "add", "sm"), verbs.said)
    verbs.run(*TIMEOUT, "add", "sm")


def _background(verbs):
    for words, schema in ((("switch", "sm", "tcp"), OUTCOME), (("switch", "tcp", "sm"), None)):
        if schema:
            check("background" in verbs.document(schema, *TIMEOUT, "--no-wait", *words)["text"], verbs.said)
        else:
            check("background" in verbs.run(*TIMEOUT, "--no-wait", *words), verbs.said)

        def there():
            members = verbs.document(VIEWS["status"], "status")["members"]
            return all(member["rung"] == "new" and member["reached"] and not member["busy"] and
                       member["operation"]["arguments"] == list(words[1:]) for member in members)
        wait_until("the background's end", there, 60, interval=0.1)
    verbs.document(OUTCOME, "--no-wait", "remove", "pigeon", code=NOT_FOUND, errors="pigeon")


def _watch(verbs, name):
    for options in ((), ("--job", name), ("--dry-run",)):
        check("joined" in verbs.run("--timeout", "60", *options, "watch", "--once", "--interval", "0.5"), verbs.said)
    output = verbs.run("--json", "--timeout", "5", "watch", "--interval", "0.5")
    told = [document for document in map(json.loads, output.splitlines()) if document["schema"] == "livebtl.watch/1"]
    kinds = {document["kind"] for document in told}
    check({"joined", "standing"} <= kinds, f"kinds {kinds}: {verbs.said}")
    check(all(document["reached"] and document["rung"] in ("old", "new") for document in told if document["kind"] == "standing"), told)
    moments = [document["unix_ms"] for document in told]
    check(moments == sorted(moments) and moments[-1] <= 1000 * time.time(), f"moments {moments}")


def _wrong_lines(verbs):
    for words, code in WRONG:
        check(verbs.run(*words, code=code, errors="btlctl: ") == "", f"an error on stdout: {verbs.said}")
        verbs.document(OUTCOME, *words, code=code, errors="btlctl: ")
    check("Exit codes:" in verbs.run("--help") and "Example" in verbs.run("switch", "--help"), verbs.said)
    check(verbs.run("--version").startswith("btlctl "), verbs.said)
    check(BUSY == 4, "the exit codes are not those of the manual page")


def _on_a_terminal(verbs):
    """Progress is drawn on a terminal, and standard output stays clean."""
    ours, theirs = pty.openpty()
    done = subprocess.run([verbs.job.build.btlctl, *TIMEOUT, "--json", "switch", "sm", "tcp"], env=verbs.job.environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs, timeout=60 * PATIENCE, check=False)
    os.close(theirs)
    drawn = os.read(ours, 65536)
    os.close(ours)
    check(done.returncode == DONE and json.loads(done.stdout)["schema"] == OUTCOME, f"on a terminal: {done}")
    check(b"newtx" in drawn, f"no progress on a terminal: {drawn!r}")


def _completion(verbs):
    """bash completes commands, options and transports through the script, which asks the program."""
    directory = os.path.dirname(verbs.job.build.btlctl)
    with open(os.path.join(directory, "..", "ctl-tool", "completion", "btlctl.bash"), encoding="utf-8") as file:
        script = file.read()
    for words, wanted in ((("swi",), "switch"), (("switch", "t"), "tcp"), (("--time",), "--timeout"), (("q",), "quiesce")):
        ask = f"COMP_LINE='btlctl {' '.join(words)}'; COMP_POINT=${{#COMP_LINE}}; _btlctl; echo ${{COMPREPLY[@]}}"
        done = subprocess.run(["bash", "-c", f"PATH={directory}:$PATH\n{script}\n{ask}"], env=verbs.job.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60 * PATIENCE, check=False)
        check(wanted in done.stdout.split(), f"{words} is completed to {done.stdout!r} {done.stderr!r}")
