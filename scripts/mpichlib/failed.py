# SPDX-License-Identifier: BSD-3-Clause
"""What ends scripts/mpich with a text for people."""


class Failed(Exception):
    pass
