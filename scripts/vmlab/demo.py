# SPDX-License-Identifier: BSD-3-Clause
"""scripts/vmlab/demo -- a guest with an RDMA card is migrated live under a running MPI job, and the result is shown as a page.

usage: scripts/vmlab/demo [--report FILE] [--build DIR]
Two guests, four ranks of stock Open MPI whose messages go over the card. `btlctl vm migrate` has the job leave the card,
pulls it, moves the guest to another QEMU, plugs a card in there, and the job returns to it. The page (build/vmlab/report.html)
stands alone: throughput, rungs, blackout, transports, phases. The last line is "demo passed: ..." or "demo failed: ...".
"""
import argparse
import json
import os
import sys
import time

from tests.harness.processes import exit_on_sigterm
from tests.harness.waiting import Failed
from tests.vm import migrations
from tests.vm.job import StandaloneContext
from tests.vm.verbs import VerbsJob

from . import lab, recording, report
from .hardware import BLOCKER
from .lab import say
from .places import STATE

CALM_SECONDS = 8  # shown before and after


def flow():
    """Lets the job run, so that the page shows the undisturbed rate."""
    time.sleep(CALM_SECONDS)


def move(job, guest, log):
    """Migrates it. The pairs' transports meanwhile are asked for in the other guest, as this one's agent is busy."""
    guest.plug(BLOCKER)
    migrations.set_up_cards(guest)
    log.look(job, "before")
    return migrations.migrate_there(job, guest, lambda: log.look(job, "during"))


def show(document):
    for phase in document["phases"]:
        say(f"  {phase['phase'] + ' ' + phase.get('card', ''):24}{phase['milliseconds']:8.0f} ms")
    say(f"  of these the guest stood still {document['migration'].get('downtime-ms', 0):8} ms")


def run(options):
    context = StandaloneContext("demo")
    with lab.new(2, options.build, with_parent=True) as made, VerbsJob(made, context) as job:
        guest, other = made.guests
        job.wait_ready()
        say("four ranks exchange messages over tcp; `btlctl add verbs`")
        job.order("add", "verbs")
        job.wait_across("verbs")
        log = recording.Log(made, other)
        flow()
        say(f"btlctl vm migrate: {guest.name} moves to another QEMU")
        began, document = move(job, guest, log)
        show(document)
        job.wait_across("verbs")
        log.look(job, "after")
        flow()
        log.stop(job)
        totals = job.finish()
    title = f"{guest.name} is migrated under a running MPI job"
    record = log.record(title, began, document, totals, context.logs)
    with open(options.report, "w", encoding="utf-8") as file:
        file.write(report.page(record))
    with open(os.path.splitext(options.report)[0] + ".json", "w", encoding="utf-8") as file:
        json.dump(record, file)
    say(f"the page: {options.report}")
    return f"{totals['received']} messages, lost 0, repeated 0, out of order 0, while {guest.name} moved"


def main():
    parser = argparse.ArgumentParser(prog="scripts/vmlab/demo", description="A live migration under a running MPI job, as a page.")
    parser.add_argument("--report", metavar="FILE", default=os.path.join(STATE, "report.html"), help="default: %(default)s")
    lab.add_build_option(parser.add_argument)
    options = parser.parse_args()
    exit_on_sigterm()
    try:
        print(f"demo passed: {run(options)}")
        return 0
    except Failed as failure:
        print(f"demo failed: {failure}")
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
