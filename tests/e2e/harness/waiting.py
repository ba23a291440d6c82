# SPDX-License-Identifier: BSD-3-Clause
"""Waiting for conditions, never for times: every wait names what it waits for and has a deadline."""
import time


class Failed(Exception):
    """A scenario found something wrong. The text says what."""


def wait_until(what, condition, seconds, interval=0.02):
    """Returns the first true value of condition(); Failed after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Failed(f"waited {seconds} s in vain for: {what}")
        time.sleep(interval)


def check(good, text):
    if not good:
        raise Failed(text)
