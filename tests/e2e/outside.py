# SPDX-License-Identifier: BSD-3-Clause
"""btlctl --connect: controlling a job from another network, through the relay of one of its nodes, with the job's secret."""
import json
import os
import secrets

from tests.harness.control import DONE, NOT_FOUND, NOT_PERMITTED, USAGE, btlctl
from tests.harness.nodes import job_on_two_nodes
from tests.harness.scenario import NEEDS_ROOT, scenario
from tests.harness.waiting import check, wait_until


def _file(job, name, text, mode):
    path = os.path.join(job.shared, name)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


@scenario("connected-from-outside", NEEDS_ROOT)
def connected_from_outside(context):
    """From another network, without the job's files: every verb works with the secret, and none without."""
    with job_on_two_nodes(context, "stream", 2) as (job, (one, two)):
        relay = wait_until("the relay's address", lambda: _relay(job), 20)
        check(relay.startswith(one.address + ":"), f"the relay is {relay}")
        secret = os.path.join(job.shared, "secret")
        btlctl(job, "secret", secret).expect(DONE)
        job.enter = ["nsenter", "-t", str(two.holder.pid), "--net", "--"]  # only the network: none of the job's files
        here = ("--connect", relay, "--secret-file", secret)
        btlctl(job, "status").expect(NOT_FOUND)
        _lead(job, here, max(4, context.switches // 10))
        _refused(job, relay, here)
        job.enter = one.enter()
        totals = job.finish(60)
    return f"led by {relay}; {totals['received']} messages"


def _relay(job):
    job.check_running()
    relays = btlctl(job, "jobs").expect(DONE).json["jobs"][0]["relays"]
    return relays[0] if relays else None


def _lead(job, here, switches):
    found = btlctl(job, *here, "jobs").expect(DONE).json["jobs"][0]
    check(len(found["members"]) == 4, f"not all members are found: {found}")
    for i in range(switches):
        answer = btlctl(job, *here, "switch", *(("sm", "tcp") if i % 2 == 0 else ("tcp", "sm"))).expect(DONE)
        check(answer.json["members"] == 4, f"only {answer.json['members']} members took part: {answer}")
    members = btlctl(job, *here, "status", "--peers").expect(DONE).json["members"]
    check(len(members) == 4 and all(member["engine"]["peers"] for member in members), f"status of {len(members)} members")
    check(len(btlctl(job, *here, "list").expect(DONE).json["members"]) == 4, "list does not show all members")
    check(btlctl(job, *here, "--dry-run", "remove", "sm").expect(DONE).json["plans"], "no plan")
    for words in (("remove", "sm"), ("add", "sm"), ("quiesce", "sm"), ("add", "sm"), ("set", "tcp", "weight=2"), ("resume",),
                  ("abort",), ("--job", found["job"], "add", "sm")):
        btlctl(job, *here, *words).expect(DONE)
    lines = btlctl(job, *here, "watch", "--once").expect(DONE).output.splitlines()
    check(any(json.loads(line)["kind"] == "joined" for line in lines), f"watch said {lines}")


def _refused(job, relay, here):
    wrong = _file(job, "wrong-secret", secrets.token_hex(32), 0o600)
    open_to_all = _file(job, "open-secret", secrets.token_hex(32), 0o644)
    for file in (wrong, open_to_all, "/nowhere/secret"):
        for verb in (("status",), ("switch", "sm", "tcp")):
            answer = btlctl(job, "--connect", relay, "--secret-file", file, *verb).expect(NOT_PERMITTED)
            check(answer.json["exit_code"] == NOT_PERMITTED and answer.errors, f"no document, or no words: {answer}")
    btlctl(job, "--connect", relay, "status").expect(NOT_PERMITTED)
    btlctl(job, *here, "--job", "another", "status").expect(NOT_FOUND)
    nobody = relay.rpartition(":")[0] + ":9"
    # A port at which nothing listens, and an address that never answers.
    for place in (nobody, "10.77.0.99:9"):
        answer = btlctl(job, "--timeout", "1", "--connect", place, *here[2:], "switch", "sm", "tcp").expect(NOT_FOUND)
        check("btlctl jobs" in answer.errors, f"no advice: {answer}")
    btlctl(job, "--secret-file", here[3], "status").expect(USAGE)
    btlctl(job, "--connect", "nonsense", "status").expect(USAGE)
