# SPDX-License-Identifier: BSD-3-Clause
"""Waits for conditions, never for times: each wait names what it waits for, and has a deadline."""
import time


# Deadlines only end what has already failed, so they are generous: a shared machine may be several times slower.
PATIENCE = 4


class Failed(Exception):
    """A scenario found something wrong. The text says what."""


class LauncherFault(Failed):
    """Open MPI's launcher failed before our library was even loaded: nothing was tested, so try again."""


def wait_until(what, condition, seconds, interval=0.02):
    """Returns the first true value of condition(); raises Failed after PATIENCE times `seconds`."""
    deadline = time.monotonic() + PATIENCE * seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Failed(f"waited {PATIENCE * seconds} s in vain for: {what}")
        time.sleep(interval)


def check(good, text):
    if not good:
        raise Failed(text)
