# SPDX-License-Identifier: BSD-3-Clause
"""The phases of btlctl vm in which it is killed: all that there are (phases_test.py), and those that are tried in short."""
from tests.harness.waiting import check

TRIES = 5

# vm migrate: on the way there, and on the way back, by what happens in them: the last lets a guest go on that stands still.
THERE = ("look", "prepare", "unplug", "begin", "migrate", "arrive", "plug_there", "return_there")
BACK = ("cancel", "look_back", "plug", "return", "go_on")
SNAPSHOT = ("look", "claim", "prepare", "discard", "unplug", "hold", "save", "go_on", "renew", "check", "end_hold", "seal", "plug",
            "return", "forget")
RESTORE = ("look", "load", "go_on", "restored", "plug", "return")
RESTORE_REFUSED = ("halt",)  # met by what does not fit together alone

SHORT_THERE = ("prepare", "unplug", "migrate", "plug_there", "return_there")
SHORT_BACK = ("cancel", "plug", "go_on")
SHORT_SNAPSHOT = ("claim", "prepare", "discard", "unplug", "hold", "save", "go_on", "check", "end_hold", "seal", "plug", "return")
SHORT_RESTORE = ("go_on", "return")  # while the job is held, and after


def killed_in_each(wanted, attempt):
    """`attempt(phase)`: was btlctl killed there? A phase may be over, and all that follows, before it is seen to have begun: then
    it is tried again. The phases."""
    seen = [phase for phase in wanted if any(attempt(phase) for _ in range(TRIES))]
    check(seen == list(wanted), f"killed in {seen} alone, of {wanted}")
    return seen
