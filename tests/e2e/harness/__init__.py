# SPDX-License-Identifier: BSD-3-Clause
"""Runs real MPI jobs over the provider, switches their transport while they run, and judges what they prove."""
