# SPDX-License-Identifier: BSD-3-Clause
"""The phases of btlctl vm in which it is killed: all of them (tests/unit/vmlab/phases_test.py), and those of --short."""
from tests.harness.waiting import check

TRIES = 5

# vm migrate: on the way there, and on the way back. The last one lets a paused guest go on.
THERE = ("look", "prepare", "unplug", "begin", "migrate", "arrive", "plug_there", "return_there")
BACK = ("cancel", "look_back", "plug", "return", "go_on")
SNAPSHOT = ("look", "claim", "prepare", "discard", "unplug", "hold", "save", "go_on", "renew", "check", "end_hold", "seal", "plug",
            "return", "forget")
RESTORE = ("look", "load", "go_on", "restored", "plug", "return")
RESTORE_REFUSED = ("halt",)  # only of a set that does not fit together

SHORT_THERE = ("prepare", "migrate", "plug_there")
SHORT_BACK = ("cancel", "go_on")
SHORT_SNAPSHOT = ("claim", "prepare", "discard", "unplug", "hold", "save", "go_on", "check", "end_hold", "seal", "plug", "return")
SHORT_RESTORE = ("go_on", "return")  # while the job is held, and after


def killed_in_each(wanted, attempt):
    """attempt(phase): True if btlctl was killed there. A phase, and all that follow, may be over before its beginning
    is seen; then it is tried again. Returns the phases."""
    seen = [phase for phase in wanted if any(attempt(phase) for _ in range(TRIES))]
    check(seen == list(wanted), f"killed in {seen} alone, of {wanted}")
    return seen
