# SPDX-License-Identifier: BSD-3-Clause
"""Running commands that must succeed, and bringing the release build up to date."""
import os
import subprocess

from .waiting import Failed

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RELEASE = os.path.join(ROOT, "build", "release")


def run(command, what, **options):
    """Runs a command and returns its standard output; raises Failed with the end of its output unless it exits with 0."""
    options.setdefault("text", True)
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **options)
    if done.returncode != 0:
        said = done.stderr or done.stdout
        said = said if isinstance(said, str) else said.decode(errors="replace")
        raise Failed(f"{what}: {command[0]} gave {done.returncode}: {said.strip()[-800:]}")
    return done.stdout


def run_logged(command, what, log, **options):
    """The same for a long command, whose output is appended to a file."""
    with open(log, "a", encoding="utf-8") as file:
        code = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False,
                              **options).returncode
    if code != 0:
        with open(log, encoding="utf-8", errors="replace") as file:
            tail = "".join(file.readlines()[-20:])
        raise Failed(f"{what}: {command[0]} gave {code}; {log} ends with:\n{tail}")


def build_release(targets, say):
    """Brings these targets of build/release up to date."""
    if not os.path.exists(os.path.join(RELEASE, "build.ninja")):
        say("configuring build/release")
        run(["cmake", "--preset", "release"], "configuring", cwd=ROOT)
    build = ["cmake", "--build", "--preset", "release", "--target", *targets]
    if "no work to do" not in run([*build, "--", "-n"], "building", cwd=ROOT):
        say("building build/release (a few minutes the first time)")
        run(build, "building", cwd=ROOT)
