# SPDX-License-Identifier: BSD-3-Clause
"""Options of MPICH's tests, and the context of each program: its suite's run."""
import pytest

from .suite import Suite


def add_options(add):
    add("--bare", metavar="PROVIDER", help="over another provider of libfabric's, without livebtl: is a failure MPICH's own?")


def pytest_addoption(parser):
    add_options(parser.getgroup("mpich").addoption)


def suite_of(item):
    return item.name.partition("/")[0]


def pytest_collection_modifyitems(config, items):
    wanted = getattr(config.option, "suites", [])
    items[:] = [item for item in items if suite_of(item) in (wanted or suite_of(item))]


@pytest.fixture(scope="session")
def suites(request):
    """{name: Suite}, each with the selected programs."""
    chosen = {}
    for item in request.session.items:
        lines = chosen.setdefault(suite_of(item), [])
        if hasattr(item.obj, "line"):
            lines.append(item.obj.line)
    return {name: Suite(name, lines, request.config.option.bare) for name, lines in chosen.items()}


@pytest.fixture
def context(request, suites):
    return suites[suite_of(request.node)]
