# SPDX-License-Identifier: BSD-3-Clause
"""The VM lab: QEMU guests with Soft-RoCE in which real MPI jobs run, are switched and migrated. docs/VMLAB.md."""
