# SPDX-License-Identifier: BSD-3-Clause
"""Runs the scenarios of one folder with pytest: one line for each as it ends; the last is "SUITE: N passed, N failed".

The exit code is 0 if none failed and at least one passed. JUnit XML goes to build/test-logs/SUITE.xml.
"""
import argparse
import os
import signal

import pytest

from .commands import ROOT


class Reporter:
    """Reports in place of pytest's terminal plugin. `options`: of the suite; its conftest.py also declares them to pytest."""

    def __init__(self, options):
        self.options = options
        self.passed = self.failed = 0

    def pytest_cmdline_main(self, config):
        vars(config.option).update(self.options)

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config):
        config.pluginmanager.unregister(name="terminalreporter")

    def pytest_sessionstart(self):
        # Scenarios end their jobs and guests on the way out.
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, _: pytest.exit("ended by a signal", returncode=128 + number))

    def pytest_keyboard_interrupt(self, excinfo):
        print(f"cut off: {str(excinfo.value) or 'Ctrl-C'}", flush=True)

    def pytest_collectreport(self, report):
        if report.failed:
            print(report.longreprtext, flush=True)

    def pytest_collection_finish(self, session):
        if session.config.option.collectonly:
            print("\n".join(item.name for item in session.items))

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.rpartition("::")[2]
        took = f"{name} ({report.duration:.1f} s)"
        if report.failed:
            self.failed += 1
            print(f"FAIL {took}: {report.longreprtext}", flush=True)
        elif hasattr(report, "wasxfail"):
            print(f"open {took}: {report.wasxfail}", flush=True)
        elif report.skipped:
            print(f"skip {name}: {report.longrepr[2].removeprefix('Skipped: ')}", flush=True)
        elif report.when == "call":
            self.passed += 1
            print(f"ok   {took}: {dict(report.user_properties).get('figures')}", flush=True)


def parser(prog, description, **more):
    """The options that all suites have; most are pytest's own."""
    made = argparse.ArgumentParser(prog=prog, description=description, **more)
    made.add_argument("--list", action="store_true", help="name the scenarios and end")
    made.add_argument("--only", nargs="+", default=[], metavar="PART",
                      help="scenarios whose name, or module's name, contains one of these")
    made.add_argument("-k", metavar="EXPRESSION", help="scenarios by an expression of parts of names (pytest -k)")
    made.add_argument("-m", metavar="EXPRESSION", help="scenarios by mark: root, slow (pytest -m)")
    made.add_argument("--lf", action="store_true", help="those that failed the last time; all if none did (pytest --lf)")
    made.add_argument("-x", action="store_true", help="end at the first failure (pytest -x)")
    return made


def _pytest_arguments(suite, options):
    arguments = [os.path.join(ROOT, "tests", suite)]
    expression = options.k or " or ".join(options.only)
    for flag, value in (("-k", expression), ("-m", options.m)):
        arguments += [flag, value] if value else []
    for flag, wanted in (("--collect-only", options.list), ("--lf", options.lf), ("-x", options.x)):
        arguments += [flag] if wanted else []
    if not options.list:
        arguments += ["--junitxml", os.path.join(ROOT, "build", "test-logs", f"{suite}.xml"), "-o", f"junit_suite_name={suite}"]
    return arguments


def run(suite, options):
    """suite: a folder of tests/. Returns the exit code."""
    reporter = Reporter(vars(options))
    code = pytest.main(_pytest_arguments(suite, options), plugins=[reporter])
    if options.list or code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED):
        return int(code)  # cut off, or not begun: no summary, as what has passed so far says nothing about the rest
    print(f"{suite}: {reporter.passed} passed, {reporter.failed} failed", flush=True)
    return 0 if reporter.passed and not reporter.failed else 1
