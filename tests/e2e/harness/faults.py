# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios with a course of events of their own: (name, function(context) -> line of figures). See scenarios.py for
the others."""
from . import coordinators, departures, guests, paths

CASES = (*coordinators.CASES, *departures.CASES, *paths.CASES, *guests.CASES)
NEEDS_ROOT = paths.NEEDS_ROOT
