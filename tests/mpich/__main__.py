# SPDX-License-Identifier: BSD-3-Clause
"""scripts/mpich: builds what is missing, and runs MPICH's suites with pytest."""
import argparse
import os
import subprocess
import sys

from tests.harness import runner
from tests.harness.commands import ROOT, build_release
from tests.harness.waiting import Failed

from .conftest import add_options
from .source import MPICH
from .suite import SUITES


def say(text):
    print(f"== {text}", flush=True)


def parse():
    parser = runner.parser(
        "scripts/mpich", "MPICH's own tests over livebtl, switched from sm to tcp and back, on and on; each begins after its first "
        "switch.", formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Debian's MPICH is built without libfabric: this builds Debian's source of it with ch4:ofi, once, in\n"
               "build/mpich (some 20 minutes). Each suite takes up to an hour: MPICH's own runner runs its programs, and\n"
               "what came of each is told when it has ended. The last line is 'mpich: N passed, M failed'.")
    add_options(parser.add_argument)
    parser.add_argument("--install", metavar="DIR",
                        help="no tests: builds MPICH with ch4:ofi and installs it in DIR, for programs that Debian's mpicc has linked")
    parser.add_argument("suites", nargs="*", metavar="build|" + "|".join(SUITES), help="suites (all), or build alone")
    options = parser.parse_args()
    unknown = [each for each in options.suites if each not in ("build", *SUITES)]
    if unknown:
        parser.error(f"no such suite: {', '.join(unknown)} (there are {', '.join(SUITES)})")
    return options


def packages():
    say("packages")
    if subprocess.run([os.path.join(ROOT, "scripts", "setup"), "mpich"], check=False).returncode != 0:
        raise Failed("packages are missing")


def install(directory):
    packages()
    MPICH.install(directory, say)
    say(f"done. Over livebtl run programs by {directory}/bin/mpiexec with LD_LIBRARY_PATH={directory}/lib, FI_PROVIDER=livebtl, "
        "FI_PROVIDER_PATH and MPIR_CVAR_NOLOCAL=1: docs/PROVIDER.md")


def build():
    packages()
    build_release(("livebtl-fi", "btlctl"), say)
    MPICH.build(say)


def main():
    options = parse()
    try:
        if options.install:
            install(os.path.abspath(options.install))
            return 0
        if options.list and not MPICH.is_built():
            raise Failed("MPICH, whose lists these are, is not built yet: scripts/mpich build")
        if not options.list:
            build()
    except Failed as failure:
        print(f"{failure}\nmpich: 0 passed, 1 failed")
        return 1
    return 0 if "build" in options.suites else runner.run("mpich", options)


if __name__ == "__main__":
    sys.exit(main())
