# SPDX-License-Identifier: BSD-3-Clause
"""Runs btlctl and the switch driver against one job."""
import json
import os
import subprocess

from .waiting import Failed, check, wait_until

# btlctl's exit codes (btlctl(1)).
DONE, USAGE, NOT_FOUND, REFUSED, BUSY, RETRACTED, NOT_RELEASED, FOREIGN = range(8)
NOT_PERMITTED, MISSING = 9, 10


class Answer:
    """What btlctl said: exit code, JSON document (or None), plain text."""

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


def start_btlctl(job, *arguments, json_output=True):
    """btlctl as a process of its own, for scenarios that kill it."""
    command = [*job.enter, job.build.btlctl, *(["--json"] if json_output else []), *arguments]
    return subprocess.Popen(command, env=job.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def btlctl(job, *arguments, seconds=60):
    process = start_btlctl(job, *arguments)
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        output, errors = process.communicate()
        raise Failed(f"btlctl {' '.join(arguments)} did not end within {seconds} s: {output + errors}") from None
    return Answer(arguments, process.returncode, output, errors)


def order(job, *arguments, seconds=60, also=()):
    """A command that must succeed, or end with a code in `also`; asked again while another coordinator is at work or
    has just been killed."""
    def attempt():
        answer = btlctl(job, *arguments)
        answer.expect(DONE, BUSY, *also)
        return answer if answer.code != BUSY else None
    return wait_until(f"btlctl {' '.join(arguments)} to be done", attempt, seconds, interval=0.2)


def drive(job, switches, seconds, transports="sm,tcp", rest_ms=0):
    """The switch driver: one switch after the other, every tenth through btlctl. Returns its summary; driver.log in
    the job's logs has a line a switch."""
    path = os.path.join(job.logs, "driver.log")
    command = [*job.enter, job.build.driver, "--count", str(switches), "--transports", transports, "--btlctl", job.build.btlctl,
               "--rest-ms", str(rest_ms), "--timeout-s", str(seconds)]
    with open(path, "w") as log:
        try:
            code = subprocess.run(command, env=job.environment, stdin=subprocess.DEVNULL, stdout=log,
                                  stderr=subprocess.STDOUT, timeout=seconds + 10, check=False).returncode
        except subprocess.TimeoutExpired:
            code = "time-out"
    with open(path, errors="replace") as log:
        lines = log.read().splitlines()
    job.check_running()
    check(code == 0, f"the switch driver ended with {code}: {' | '.join(lines[-3:])}")
    summary = json.loads(lines[-1])
    check(summary["switches"] == switches, f"only {summary['switches']} of {switches} switches")
    return summary
