# SPDX-License-Identifier: BSD-3-Clause
"""scripts/lint-ratchet.json: counts that may only go down.

A count above the file's is a violation. --update writes those that are below it, and adds missing ones; to raise
one is an edit by hand, which a review sees.
"""
import json
import os

from lintlib import sizes

NAME = "scripts/lint-ratchet.json"


def _load(files):
    return json.loads(files.text(NAME)) if NAME in files else {}


def check(files):
    held = _load(files)
    violations = []
    for kind, values in sizes.counts(files).items():
        for key, value in values.items():
            limit = held.get(kind, {}).get(key)
            if limit is None:
                violations.append(f"{NAME}:1: {kind}.{key} is missing: scripts/lint --update")
            elif value > limit:
                violations.append(
                    f"{NAME}:1: {kind}.{key} has gone up from {limit} to {value}: scripts/lint --sizes shows where"
                )
    return violations


def lowered(held, counted):
    """The new content: never above what it was."""
    return {
        kind: {key: min(value, held.get(kind, {}).get(key, value)) for key, value in values.items()}
        for kind, values in counted.items()
    }


def lower(files):
    text = json.dumps(lowered(_load(files), sizes.counts(files)), indent=2) + "\n"
    with open(os.path.join(files.root, NAME), "w", encoding="utf-8") as file:
        file.write(text)
