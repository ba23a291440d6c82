# SPDX-License-Identifier: BSD-3-Clause
"""How a scenario is written: a function that takes a context and returns a line of figures, or raises Failed.

    @scenario("two-nodes", NEEDS_ROOT)
    def two_nodes(context): ...

pytest collects it under that name (plugin.py). `context` is a fixture from the folder's conftest.py.
"""
import pytest

NEEDS_ROOT = pytest.mark.root
ON_STOCK_TOO = pytest.mark.stock


def slow(nearest):
    """Left out by --short. `nearest`: a scenario that is not, and comes closest to it."""
    return pytest.mark.slow(nearest)


def does_not_pass(reason):
    """For a scenario written ahead of the product: it is expected to fail, and counts as failed once it passes."""
    return pytest.mark.xfail(reason=reason, strict=True)


def scenario(name, *marks):
    def named(function):
        function.scenario = name
        for mark in marks:
            function = mark(function)
        return function
    return named
