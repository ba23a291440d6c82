# SPDX-License-Identifier: BSD-3-Clause
"""Waiting for conditions, never for times: every wait names what it waits for and has a deadline."""
import time


# Limits only end what has failed already: they are long enough for a machine that is shared with others and runs
# everything several times slower now and then.
PATIENCE = 4


class Failed(Exception):
    """A scenario found something wrong. The text says what."""


class LauncherFault(Failed):
    """Open MPI's launcher failed before our library was even loaded: nothing was tested, so try again."""


def wait_until(what, condition, seconds, interval=0.02):
    """Returns the first true value of condition(); Failed after `seconds`, as a machine of its own would take them."""
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
