# SPDX-License-Identifier: BSD-3-Clause
"""Options of the end-to-end scenarios, and the context that each of them gets."""
import os

import pytest

from tests.harness.job import DOORS, Build


def ranks_and_times(text):
    ranks, _, times = text.partition("x")
    return int(ranks), int(times)


def add_options(add):
    add("--build", metavar="DIR", default="build/release", help="build directory (default: build/release)")
    add("--door", choices=DOORS, default=DOORS[0],
        help="how the programs reach livebtl: by the libfabric provider, or by the component of Open MPI")
    add("--switches", metavar="N", type=int, default=100, help="switches a scenario (default: 100)")
    add("--comings", metavar="RANKSxTIMES", type=ranks_and_times, default=(16, 5),
        help="comings-and-goings: so many ranks, started and ended so often (default: 16x5; the full measure: 64x100)")
    add("--stock", action="store_true", help="run the programs over stock Open MPI, without livebtl")
    add("--logs", metavar="DIR", default="build/e2e-logs", help="directory for logs (default: build/e2e-logs)")


def pytest_addoption(parser):
    add_options(parser.getgroup("e2e").addoption)


def pytest_collection_modifyitems(config, items):
    if config.option.stock:
        items[:] = [item for item in items if item.get_closest_marker("stock")]


class Context:
    """Where things are, and how much to do."""

    def __init__(self, options, name):
        self.build = Build(options.build, options.door)
        self.switches, self.stock = options.switches, options.stock
        self.comings = options.comings
        self.logs = os.path.join(os.path.abspath(options.logs), name)
        os.makedirs(self.logs, exist_ok=True)


@pytest.fixture
def context(request):
    return Context(request.config.option, request.node.name)
