# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's own tests over livebtl (scripts/mpich)."""
