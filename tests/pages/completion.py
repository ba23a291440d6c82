# SPDX-License-Identifier: BSD-3-Clause
"""Completion in bash, zsh and fish: each shell, given the script that is installed, offers what btlctl says.

usage: scripts/python -m tests.pages.completion --build DIR
A shell that is not there is left out, and named. Exit code 77: none is there.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time

from tests.harness.waiting import Failed, check

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What is typed, and some of what is to be offered.
LINES = [("btlctl sw", ["switch"]), ("btlctl hold ", ["start", "end"]), ("btlctl -o ", ["json", "wide"]),
         ("btlctl hooks install q", ["qemu-ga"]), ("btlctl switch --sc", ["--scope"])]


def bash(environment, program, script, line):
    code = f'''source "{script}"
COMP_LINE={line!r} COMP_POINT=${{#COMP_LINE}}
read -ra COMP_WORDS <<<"$COMP_LINE"; [[ $COMP_LINE == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
compopt() {{ :; }}
{"_" + program.replace("-", "_")}
printf '%s\\n' "${{COMPREPLY[@]}}"'''
    return run(environment, ["bash", "--norc", "-c", code])


def zsh(environment, program, script, line):
    # In a terminal of its own, as zsh completes there alone; by a function of the installed file's name.
    functions = os.path.join(environment["HOME"], "functions")
    os.makedirs(functions, exist_ok=True)
    shutil.copy(script, os.path.join(functions, f"_{program}"))
    setup = f"fpath=({functions} $fpath); autoload -Uz compinit; compinit -u -D"
    return run(environment, ["zsh", "-f", os.path.join(ROOT, "tests", "pages", "capture.zsh"), setup, line])


def fish(environment, program, script, line):
    return run(environment, ["fish", "--no-config", "-c", f'source "{script}"; complete --do-complete {line!r}'])


def run(environment, command):
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60)
    return done.stdout, done.stderr


SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}


def check_shell(shell, environment, scripts):
    for line, wanted in LINES + [("livebtl-run --sh", ["--show"]), ("btlperf la", ["latency"]), ("btlperf latency --tr", ["--transport"])]:
        program = line.split()[0]
        script = os.path.join(scripts, f"{program}.{shell}")
        told, errors = SHELLS[shell](environment, program, script, line)
        missing = [word for word in wanted if word not in told]
        check(not missing, f"{shell}: '{line}' offers no {', '.join(missing)}, but: {told!r} {errors[-500:]!r}")


def check_program(btlctl, environment):
    """Never slow, and silent, also where nothing can be found out."""
    for words in ([], [""], ["--job"], ["--user", "nobody-of-that-name", "switch", ""], ["\x1b", "--=", ""], ["-"] * 500):
        began = time.monotonic()
        done = subprocess.run([btlctl, "__complete", *words], env=dict(environment, LIVEBTL_RUNDIR="/proc/none"),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        check(done.returncode == 0 and not done.stderr, f"__complete {words[:3]}: {done.returncode} {done.stderr!r}")
        check(time.monotonic() - began < 30, f"__complete {words[:3]} took too long")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    build = os.path.abspath(parser.parse_args().build)
    programs, scripts = os.path.join(build, "bin"), os.path.join(build, "ctl-tool", "completion")
    there = [shell for shell in SHELLS if shutil.which(shell)]
    with tempfile.TemporaryDirectory() as home:
        environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}", HOME=home, LIVEBTL_RUNDIR=home, TERM="xterm")
        check_program(os.path.join(programs, "btlctl"), environment)
        for shell in there:
            check_shell(shell, environment, scripts)
    print(f"completion: {', '.join(there)}; not here: {', '.join(set(SHELLS) - set(there)) or 'none'}")
    return 0 if there else 77


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(f"completion: {failure}")
