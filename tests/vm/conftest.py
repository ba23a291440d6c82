# SPDX-License-Identifier: BSD-3-Clause
"""Options of the tests in virtual machines, what each test gets, and what --resume remembers."""
import hashlib
import json
import os
import shutil

import pytest

from scripts.vmlab import lab
from scripts.vmlab.places import HERE, LOGS, RUN, STATE
from tests.harness.commands import ROOT

PASSED = os.path.join(STATE, "passed.json")


def add_options(add):
    add("--short", action="store_true", help="fewer repetitions; without tests to which another one comes close, unless they are "
        "named")
    add("--resume", action="store_true", help="do not run again what has passed already with these products, guests and tests")
    lab.add_build_option(add)


def pytest_addoption(parser):
    add_options(parser.getgroup("vm").addoption)


def pytest_collection_modifyitems(config, items):
    if config.option.short and not config.option.keyword:
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


class Context:
    def __init__(self, options, name):
        self.short, self.build = options.short, options.build
        self.logs = os.path.join(LOGS, name)
        shutil.rmtree(self.logs, ignore_errors=True)
        os.makedirs(self.logs)

    def lab(self, guests_wanted):
        return lab.new(guests_wanted, self.build, with_parent=True)

    def bring_consoles(self):
        for file in os.listdir(RUN) if os.path.isdir(RUN) else ():
            if file.endswith((".console", ".qemu", ".log")):
                shutil.copy(os.path.join(RUN, file), self.logs)


class Record:
    """The tests that have passed with the current products, guests and tests."""

    def __init__(self, options):
        made, disk, accelerator = lab.prepare(options.build)
        content = hashlib.sha256(repr((made.key, disk, accelerator, options.short)).encode())
        for directory in (HERE, *(os.path.join(ROOT, "tests", each) for each in ("vm", "harness"))):
            for name in sorted(name for name in os.listdir(directory) if os.path.isfile(os.path.join(directory, name))):
                with open(os.path.join(directory, name), "rb") as file:
                    content.update(file.read())
        self.key = content.hexdigest()
        self.names = set()
        if options.resume and os.path.exists(PASSED):
            with open(PASSED, encoding="utf-8") as file:
                record = json.load(file)
            self.names = set(record["names"]) if record["key"] == self.key else set()

    def add(self, name):
        self.names.add(name)
        with open(PASSED, "w", encoding="utf-8") as file:
            json.dump({"key": self.key, "names": sorted(self.names)}, file)


@pytest.fixture(scope="session")
def record(request):
    return Record(request.config.option)


@pytest.fixture
def context(request, record):
    made = Context(request.config.option, request.node.name)
    yield made
    made.bring_consoles()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Does not repeat what has already passed: True stands for a call."""
    if pyfuncitem.name not in pyfuncitem.funcargs["record"].names:
        return None
    pyfuncitem.user_properties.append(("figures", "passed before"))
    return True


def pytest_runtest_makereport(item, call):
    if call.when == "call" and call.excinfo is None:
        item.funcargs["record"].add(item.name)
