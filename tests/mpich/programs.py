# SPDX-License-Identifier: BSD-3-Clause
"""A scenario for each line of MPICH's lists. They are there once MPICH is built; until then there are none."""
from tests.harness.scenario import scenario

from .suite import SUITES, lines_of


def _scenario_of(suite, line):
    @scenario(f"{suite}/{line}")
    def run(context):
        return context.judge(line)
    run.line = line
    return run


def _under_way(suite):
    @scenario(f"{suite}/switched-under-way")
    def run(context):
        return context.judge_switches()
    return run


PROGRAMS = tuple(each for suite in SUITES
                 for each in (*(_scenario_of(suite, line) for line in lines_of(suite)), _under_way(suite)))
