# SPDX-License-Identifier: BSD-3-Clause
"""A scenario for each way in which one can end."""
from tests.harness.scenario import NEEDS_ROOT, does_not_pass, scenario
from tests.harness.waiting import Failed, LauncherFault

launches = []


@scenario("passes")
def passes(context):
    return f"given {context}"


@scenario("fails")
def fails(context):
    raise Failed("it is wrong")


@scenario("breaks")
def breaks(context):
    return context.no_such_thing


@scenario("starts-late")
def starts_late(context):
    launches.append(context)
    if len(launches) < 3:
        raise LauncherFault("not all are there")
    return f"launch {len(launches)}"


@scenario("never-starts")
def never_starts(context):
    raise LauncherFault("none is there")


@scenario("needs-root", NEEDS_ROOT)
def needs_root(context):
    return "was run"


@scenario("open", does_not_pass("not written yet"))
def is_open(context):
    raise Failed("as expected")


@scenario("open-but-passes", does_not_pass("is written by now"))
def is_open_but_passes(context):
    return "passes"


def _one_of(name):
    @scenario(f"made-{name}")
    def run(context):
        return name
    return run


SCENARIOS = tuple(map(_one_of, ("here", "there")))
