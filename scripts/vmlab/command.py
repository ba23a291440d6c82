# SPDX-License-Identifier: BSD-3-Clause
"""scripts/vmlab/lab -- QEMU guests with Soft-RoCE on this machine. docs/VMLAB.md

usage: scripts/vmlab/lab COMMAND ...   (lab COMMAND --help)
"""
import argparse
import os
import subprocess
import sys

from tests.harness.processes import exit_on_sigterm
from tests.harness.waiting import Failed

from . import lab
from .arrival import arriving, set_up_cards
from .hardware import BLOCKER, RDMA
from .lab import say
from .places import RUN, locked


STEPS_ARE_LEFT = 6  # of btlctl's exit codes: the guest has moved, not all is done there


def build(options):
    made, disk, accelerator = lab.prepare(options.build)
    say(f"image {made.directory}, products {disk}, {accelerator}")


def up(options):
    with lab.new(options.guests, options.build, keep=True) as made:
        if options.blocker:
            for guest in made.guests:
                guest.plug(BLOCKER)
        made.store()
    status(options)


def status(_):
    """What is there, as QEMU and the guests say."""
    for guest in lab.running().guests:
        if not guest.alive():
            print(f"{guest.name}  gone")
            continue
        state = guest.query("query-status")["status"]
        blocked = guest.query("query-migrate").get("blocked-reasons", [])
        links = guest.output("rdma link show").split() if state == "running" else []
        rdma = f"rdma {links[1]} {links[3]}" if len(links) > 3 else "no rdma link"
        print(f"{guest.name}  {state}  pid {guest.process.pid}  {rdma}  {'migration blocked' if blocked else 'can be migrated'}")


def execute(options):
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    code, output, errors = lab.running().guest(options.guest).run(" ".join(command), options.seconds)
    sys.stdout.write(output)
    sys.stderr.write(errors)
    return code


def migrate(options):
    made = lab.running()
    figures = made.guest(options.guest).migrate(made.machine)
    made.store()
    say(f"{options.guest} migrated in {figures['total-time']} ms, stood still for {figures['downtime']} ms")


def receive(options):
    """A QEMU waits for the guest while COMMAND is to migrate it there, with $FROM and $TO in its environment: the beginnings of
    the names of the sockets of both. Afterwards the one in which the guest is goes on."""
    made = lab.running()
    guest = made.guest(options.guest)
    set_up_cards(guest)
    arrives = arriving(guest, made.machine)
    names = {"FROM": guest.instance_name(), "TO": arrives.instance_name()}
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    try:
        code = subprocess.run(" ".join(command), shell=True, cwd=RUN, env=os.environ | names, check=False).returncode
    except BaseException:
        arrives.stop()
        raise
    if code not in (0, STEPS_ARE_LEFT):
        arrives.stop()
        return code
    guest.become(arrives)
    guest.look()
    made.store()
    return code


def unplug(options):
    made = lab.running()
    made.guest(options.guest).let_go_for_migration(options.seconds)
    made.store()
    say(f"{options.guest} has no RDMA card and can be migrated")


def plug(options):
    made = lab.running()
    guest = made.guest(options.guest)
    for name in (RDMA, BLOCKER):
        if name not in guest.plugged:
            guest.plug(name)
    made.store()
    status(options)


def snapshot(options):
    made = lab.running()
    apart = made.snapshot(options.name)
    made.go_on()
    say(f"snapshot {options.name}: {len(made.guests)} guests, paused within {1000 * apart:.0f} ms of each other; they go on")


def restore(options):
    lab.running().restore(options.name)
    say(f"the guests go on from snapshot {options.name}")


def down(_):
    lab.running().down()


def arguments():
    parser = argparse.ArgumentParser(prog="lab", description="QEMU guests with Soft-RoCE on this machine.")
    commands = parser.add_subparsers(dest="command_name", required=True, metavar="COMMAND")

    def add(name, action, text, *positional):
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(action=action)
        for each in positional:
            command.add_argument(each)
        return command
    add("build", build, "make the guests' image and the disk with what this checkout has built")
    command = add("up", up, "start guests (builds what is missing)")
    command.add_argument("--guests", type=int, default=2, help="how many: 1 to 3 (default: 2)")
    command.add_argument("--no-blocker", dest="blocker", action="store_false", help="leave out the device that bars migrations")
    add("status", status, "show guests, their RDMA links, and whether they can be migrated")
    command = add("exec", execute, "run a shell command in a guest: exec GUEST -- COMMAND", "guest")
    command.add_argument("--seconds", type=float, default=600, help="end it after so long (default: 600)")
    add("migrate", migrate, "live-migrate a guest to a second QEMU", "guest")
    add("receive", receive, "run btlctl vm migrate here while a QEMU waits: receive GUEST -- COMMAND", "guest")
    add("unplug", unplug, "pull the RDMA card, once every process has closed it, and the blocker",
        "guest").add_argument("--seconds", type=float, default=600, help="give up after so long (default: 600)")
    add("plug", plug, "plug RDMA card and blocker in again", "guest")
    add("snapshot", snapshot, "write the state of all guests to disk at one moment; they go on", "name")
    add("restore", restore, "end all guests and go on from a snapshot", "name")
    add("down", down, "end all guests")
    for name in ("exec", "receive"):
        commands.choices[name].add_argument("command", nargs=argparse.REMAINDER)
    for name in ("build", "up"):
        lab.add_build_option(commands.choices[name].add_argument)
    return parser.parse_args()


CHANGES_THE_LAB = (migrate, receive, unplug, plug, snapshot, restore, down)


def main():
    exit_on_sigterm()
    options = arguments()
    try:
        if options.action in CHANGES_THE_LAB:
            with locked("command", "another command is changing the lab: wait for it"):
                return options.action(options)
        return options.action(options)
    except Failed as failure:
        print(f"lab: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
