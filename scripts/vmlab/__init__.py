# SPDX-License-Identifier: BSD-3-Clause
"""The VM lab: QEMU guests with Soft-RoCE in which real MPI jobs run, are switched and migrated. docs/VMLAB.md."""
import os
import sys

# Waiting, and looking into /proc, are the end-to-end harness's.
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "e2e"))
