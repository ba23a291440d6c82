# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios with a course of events of their own: (name, function(context) -> line of figures). See scenarios.py for
the others."""
from . import (acceptance, coordinators, departures, fetch_adds, guests, holds, hooks, outside, paths, promises, scopes, starved,
               tuning, verbs, virsh_hook)

CASES = (*coordinators.CASES, *departures.CASES, *paths.CASES, *fetch_adds.CASES, *promises.CASES, *acceptance.CASES, *guests.CASES,
         *starved.CASES, *tuning.CASES, *verbs.CASES, *outside.CASES, *holds.CASES, *scopes.CASES, *hooks.CASES, *virsh_hook.CASES)
NEEDS_ROOT = (*outside.NEEDS_ROOT, *paths.NEEDS_ROOT, *acceptance.NEEDS_ROOT)
