# SPDX-License-Identifier: BSD-3-Clause
"""How a scenario is written: a function of a context that returns a line of figures, or raises Failed.

    @scenario("two-nodes", NEEDS_ROOT)
    def two_nodes(context): ...

pytest collects it by that name (plugin.py). `context` is a fixture of the folder's conftest.py.
"""
import pytest

NEEDS_ROOT = pytest.mark.root
ON_STOCK_TOO = pytest.mark.stock


def slow(nearest):
    """Left out by --short. `nearest`: the scenario that comes closest to it, and is not."""
    return pytest.mark.slow(nearest)


def does_not_pass(reason):
    """Written before what it asks for: expected to fail, and reported as a failure once it passes."""
    return pytest.mark.xfail(reason=reason, strict=True)


def scenario(name, *marks):
    def named(function):
        function.scenario = name
        for mark in marks:
            function = mark(function)
        return function
    return named
