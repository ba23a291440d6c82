# SPDX-License-Identifier: BSD-3-Clause
"""livebtl-watchd beside a job: a cloud announces that a node will freeze, and its processes let go before. sm stands in
for a transport that is bound to a device, and the cloud is played."""
import json
import os
import signal
import subprocess
import time

from tests.harness import processes
from tests.harness.notices import MetadataPlayer
from tests.harness.scenario import scenario
from tests.harness.waiting import check, wait_until

from .departures import SM_MEMORY
from .scopes import TwoNames


class Watchd:
    """livebtl-watchd on node east of the job, with its journal."""

    def __init__(self, job, azure):
        self.journal = os.path.join(job.shared, "journal")
        settings = {"SOURCES": "azure", "AZURE_URL": azure.url, "NODE": "east", "TRANSPORTS": "sm", "BTLCTL": job.build.btlctl,
                    "JOURNAL": self.journal, "POLL_S": "1", "RETURN_TIMEOUT_S": "60", "PREPARE_TIMEOUT_S": "60"}
        config = os.path.join(job.shared, "watchd.conf")
        with open(config, "w", encoding="utf-8") as file:
            file.writelines(f"{name}={value}\n" for name, value in settings.items())
        self.command = [os.path.join(os.path.dirname(job.build.btlctl), "livebtl-watchd"), "--config", config]
        self.environment, self.logs = job.environment, job.logs
        self.process = None

    def __enter__(self):
        with open(os.path.join(self.logs, "watchd.log"), "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(self.command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def states(self, event):
        try:
            with open(self.journal, encoding="utf-8") as file:
                return [line["state"] for line in map(json.loads, file.read().splitlines()) if line["event"] == event]
        except FileNotFoundError:
            return []

    def wait_for(self, what, condition):
        def is_true():
            check(self.process.poll() is None, f"livebtl-watchd ended with {self.process.returncode}, waited for: {what}")
            return condition()

        wait_until(what, is_true, 30)

    def wait_state(self, event, state):
        self.wait_for(f"{event} to be {state}", lambda: self.states(event)[-1:] == [state])

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        check(self.process.wait(120) == 0, f"livebtl-watchd ended with {self.process.returncode}")


def _holders(job):
    return {rank for rank, pid in job.rank_pids().items() if processes.mappings(pid, SM_MEMORY)}


def _freeze(job, azure, watchd, event):
    """Announces an event ten seconds ahead, lets it begin as soon as the node is ready, and ends it."""
    azure.azure = [azure.azure_event(event, 10)]
    begins = time.monotonic() + 10
    watchd.wait_for("the event to be let begin", lambda: azure.started[-1:] == [event])
    check(_holders(job) == {2, 3}, f"it was let begin while sm is open in {_holders(job)}")
    spare = begins - time.monotonic()
    watchd.wait_state(event, "acknowledged")
    azure.azure = []
    watchd.wait_state(event, "returned")
    check(_holders(job) == {0, 1, 2, 3}, f"the job has returned to sm in {_holders(job)} alone")
    return spare


@scenario("notices")
def notices(context):
    """A played Azure announces freezes of one of two nodes, under a stream; livebtl-watchd is killed in the last."""
    with MetadataPlayer() as azure, TwoNames(context, "collectives") as job:
        job.wait_ready()
        with Watchd(job, azure) as watchd:
            rounds = max(1, min(10, context.switches // 20))
            spare = min(_freeze(job, azure, watchd, f"freeze-{number}") for number in range(rounds))
            azure.azure = [azure.azure_event("last", 600)]
            watchd.wait_state("last", "acknowledged")
            watchd.process.kill()
        azure.azure = []
        with Watchd(job, azure) as watchd:
            watchd.wait_state("last", "returned")
            check(_holders(job) == {0, 1, 2, 3}, f"the job has returned to sm in {_holders(job)} alone")
            watchd.end()
        check(len(azure.started) == rounds + 1, f"let begin: {azure.started}")
        totals = job.finish(60)
    return f"{rounds + 1} events, ready at least {spare:.1f} s ahead; {totals['received']} messages"
