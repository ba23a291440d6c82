# SPDX-License-Identifier: BSD-3-Clause
"""Runs btlctl and the switch driver against one job."""
import json
import os
import subprocess

from .waiting import PATIENCE, Failed, check, wait_until

# btlctl's exit codes (btlctl(1)).
DONE, USAGE, NOT_FOUND, REFUSED, BUSY, RETRACTED, NOT_RELEASED, FOREIGN = range(8)
INCONSISTENT, NOT_PERMITTED, MISSING = 8, 9, 10

# Given to btlctl unless a scenario is about its time-out: no switch may be retracted because the machine is slow.
TIMEOUT = ("--timeout", "120")

ROUNDS_MAX = 100  # in drive_until()


class Answer:
    """What btlctl answered: exit code, JSON document (or None), plain text."""

    def __init__(self, arguments, code, output, errors):
        self.arguments, self.code, self.output, self.errors = arguments, code, output, errors
        try:
            self.json = json.loads(output)
        except ValueError:
            self.json = None

    def __str__(self):
        return f"btlctl {' '.join(self.arguments)}: code {self.code}: {(self.output + self.errors).strip()[-500:]}"

    def expect(self, *codes):
        check(self.code in codes, f"expected code {codes}, got {self}")
        return self


def command_line(job, *arguments):
    timeout = () if "--timeout" in arguments else TIMEOUT
    return [*job.enter, job.build.btlctl, "--json", *timeout, *arguments]


def start_btlctl(job, *arguments):
    """Starts btlctl without waiting for it, for scenarios with several of them."""
    return subprocess.Popen(command_line(job, *arguments), env=job.environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def btlctl(job, *arguments):
    process = start_btlctl(job, *arguments)
    seconds = 60 * PATIENCE
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        output, errors = process.communicate()
        raise Failed(f"btlctl {' '.join(arguments)} did not end within {seconds} s: {output + errors}") from None
    return Answer(arguments, process.returncode, output, errors)


def order(job, *arguments, also=()):
    """A command that must succeed at once, or end with a code in `also`."""
    return btlctl(job, *arguments).expect(DONE, *also)


def counted(job, transport, name):
    """A counter of that transport, summed over all members."""
    return sum(each[name] for member in btlctl(job, "status").expect(DONE).json["members"]
               for each in member["engine"]["transports"] if each["name"] == transport)


def drive(job, switches, seconds, transports="sm,tcp", rest_ms=0, options=()):
    """Runs the switch driver: one switch after another, every tenth through btlctl. Returns its summary; driver.log
    in the job's logs has a line for each switch. options: the driver's own, in addition."""
    path = os.path.join(job.logs, "driver.log")
    command = [*job.enter, job.build.driver, "--count", str(switches), "--transports", transports, "--btlctl", job.build.btlctl,
               "--rest-ms", str(rest_ms), "--timeout-s", str(PATIENCE * seconds), *options]
    with open(path, "w") as log:
        driver = subprocess.Popen(command, env=job.environment, stdin=subprocess.DEVNULL, stdout=log,
                                  stderr=subprocess.STDOUT)

    def ended():
        job.check_running()
        return driver.poll() is not None
    try:
        wait_until("the switch driver to end", ended, seconds + 10, interval=0.05)
    finally:
        if driver.poll() is None:
            driver.kill()
        driver.wait()
    with open(path, errors="replace") as log:
        lines = log.read().splitlines()
    job.check_running()
    check(driver.returncode == 0, f"the switch driver ended with {driver.returncode}: {' | '.join(lines[-3:])}")
    summary = json.loads(lines[-1])
    check(summary["switches"] == switches, f"only {summary['switches']} of {switches} switches")
    return summary


def drive_until(what, enough, job, switches, seconds, transports):
    """Drives rounds of `switches` until enough() is true. Returns the driver's summary over all rounds."""
    switches += -switches % len(transports.split(","))  # each round ends where it began
    summaries = [drive(job, switches, seconds, transports)]
    while not enough():
        check(len(summaries) < ROUNDS_MAX, f"{ROUNDS_MAX * switches} switches have not brought: {what}")
        summaries.append(drive(job, switches, seconds, transports))
    slowest = max(summaries, key=lambda each: each["max_ms"])
    return {**slowest, "switches": sum(each["switches"] for each in summaries),
            "lost": sum(each["lost"] for each in summaries)}
