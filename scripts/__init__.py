# SPDX-License-Identifier: BSD-3-Clause
"""Modules that scripts/python runs by name: scripts.demo, scripts.vmlab."""
