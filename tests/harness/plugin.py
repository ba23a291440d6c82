# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios as pytest items: collected under their names, retried when Open MPI's launcher fails, skipped without root."""
import os

import pytest

from .waiting import Failed, LauncherFault

LAUNCHES = 4  # of one scenario, if Open MPI's launcher fails


def is_scenario(obj):
    return isinstance(getattr(obj, "scenario", None), str)


def pytest_pycollect_makeitem(collector, obj):
    """Collects scenarios, and module-level tuples of them, from the module that defines them, not from those that import them."""
    found = obj if isinstance(obj, tuple) else (obj,)
    if not found or not all(map(is_scenario, found)):
        return None
    return [pytest.Function.from_parent(collector, name=each.scenario, callobj=each) for each in found
            if each.__module__ == collector.obj.__name__]


def pytest_runtest_setup(item):
    if item.get_closest_marker("root") and os.geteuid() != 0:
        pytest.skip("needs root")


def pytest_pyfunc_call(pyfuncitem):
    if not is_scenario(pyfuncitem.obj):
        return None
    figures = _with_a_launcher(pyfuncitem, pyfuncitem.funcargs["context"])
    pyfuncitem.user_properties.append(("figures", figures))
    return True


def _with_a_launcher(item, context):
    """Tries again, and says so, if Open MPI failed to start all processes."""
    for _ in range(LAUNCHES - 1):
        try:
            return item.obj(context)
        except LauncherFault as fault:
            print(f"again {item.name}: {fault}", flush=True)
    return item.obj(context)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """What a scenario found wrong is reported in a sentence; tracebacks are for bugs of the harness."""
    outcome = yield
    report = outcome.get_result()
    if report.failed and call.excinfo and isinstance(call.excinfo.value, Failed):
        report.longrepr = str(call.excinfo.value)
