# SPDX-License-Identifier: BSD-3-Clause
"""Belongs to the sample that runner_test.py runs."""
import os

import pytest


def pytest_sessionstart():
    os.geteuid = lambda: 1  # not root


@pytest.fixture
def context():
    return "a context"
