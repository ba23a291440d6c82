# SPDX-License-Identifier: BSD-3-Clause
"""scripts/vmlab/demo -- what a running MPI job does while its machines move beneath it, as a page.

usage: scripts/vmlab/demo [--report FILE] [--build DIR] [ACT...]
Two guests, four ranks of stock Open MPI whose messages go over RDMA cards. An ACT is one chart of the page; without any, all:
  migrate   `btlctl vm migrate` moves a guest between two QEMUs: the job leaves the card, it is pulled, the guest goes, another
            is plugged in there, the job returns to it
  libvirt   the same with --domain, between two hosts with a daemon of libvirt each; takes root
  criu      `btlctl checkpoint run --criu` dumps and ends the job on both guests, `checkpoint restore` goes on from there
The page (build/vmlab/report.html) stands alone: throughput, rungs, blackout, transports, phases. The last line is "demo passed:
..." or "demo failed: ...".
"""
import argparse
import json
import os
import sys
import time

from tests.harness.control import DONE
from tests.harness.processes import exit_on_sigterm
from tests.harness.waiting import Failed
from tests.vm import libvirt as domains
from tests.vm import migrations
from tests.vm.criu_nodes import NodesJob
from tests.vm.job import StandaloneContext
from tests.vm.verbs import VerbsJob, add_verbs

from . import lab, libvirt, recording, report
from .hardware import BLOCKER
from .lab import say
from .places import STATE

CALM_SECONDS = 8  # shown before and after


def flow():
    """Lets the job run, so that the page shows the undisturbed rate."""
    time.sleep(CALM_SECONDS)


def show(phases):
    for phase in phases:
        say(f"  {phase['name']:24}{report.milliseconds(phase):>8} ms")


def moved(made, job, guest, migrate, title):
    """The record of a migration: migrate(meanwhile) has it done, and returns (when it began, what btlctl has answered)."""
    log = recording.Log(made, next(each for each in made.guests if each is not guest))
    log.watch()
    flow()
    log.wait_look(job, "before")
    # The pairs' transports are asked for in the other guest meanwhile, as this one's agent is busy.
    began, document = migrate(lambda: log.look(job, "during"))
    job.wait_across("verbs")
    log.wait_look(job, "after")
    flow()
    log.stop()
    spans = recording.phases(began, document)
    show(spans)
    return log.record(title, spans, recording.blackout(spans, document), job.finish(), job.logs)


def migrate(options):
    context = StandaloneContext("demo")
    with lab.new(2, options.build, with_parent=True) as made, VerbsJob(made, context) as job:
        guest = made.guests[0]
        job.wait_ready()
        add_verbs(job)
        guest.plug(BLOCKER)
        migrations.set_up_cards(guest)
        say(f"btlctl vm migrate: {guest.name} moves to another QEMU")
        return moved(made, job, guest, lambda meanwhile: migrations.migrate_there(job, guest, meanwhile),
                     f"{guest.name} moves to another QEMU")


def over_libvirt(options):
    context = StandaloneContext("demo-libvirt")
    with libvirt.new(options.build) as made, VerbsJob(made, context) as job:
        guest = made.guests[0]
        domains.begin(made, job)
        say(f"btlctl vm migrate --domain: {guest.name} moves to another host with libvirt")
        return moved(made, job, guest, lambda meanwhile: domains.migrate_there(job, guest, meanwhile),
                     f"{guest.name} moves to another host with libvirt")


def by_criu(options):
    context = StandaloneContext("demo-criu")
    with lab.new(2, options.build, with_parent=True) as made, NodesJob(made, context.logs) as job:
        job.wait_ready()
        job.wait_over_verbs()
        log = recording.Log(made, job.head)
        say("btlctl checkpoint run --criu: the job is dumped and ended on two nodes; btlctl checkpoint restore")
        flow()
        log.wait_look(job, "before")
        spans = recording.phases(time.time(), job.dump("first").json, "dump")
        time.sleep(CALM_SECONDS / 2)
        spans += recording.phases(time.time(), job.checkpoint("restore", "first").expect(DONE).json, "restore")
        job.wait_over_verbs()
        log.wait_look(job, "after")
        flow()
        log.stop()
        show(spans)
        return log.record("All processes are dumped and ended, and restored", spans, recording.not_running(spans), job.finish(),
                          context.logs)


ACTS = {"migrate": migrate, "libvirt": over_libvirt, "criu": by_criu}


def run(options):
    records = [ACTS[act](options) for act in options.acts or ACTS]
    with open(options.report, "w", encoding="utf-8") as file:
        file.write(report.page(records))
    with open(os.path.splitext(options.report)[0] + ".json", "w", encoding="utf-8") as file:
        json.dump(records, file)
    say(f"the page: {options.report}")
    received = sum(record["proof"]["received"] for record in records)
    return f"{received} messages, lost 0, repeated 0, out of order 0"


def act(word):
    if word not in ACTS:
        raise argparse.ArgumentTypeError(f"there is no {word}: {', '.join(ACTS)}")
    return word


def main():
    parser = argparse.ArgumentParser(prog="scripts/vmlab/demo", description="A job under migrations and a restart, as a page.")
    parser.add_argument("acts", metavar="ACT", nargs="*", type=act, help=f"{', '.join(ACTS)}; default: all")
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
