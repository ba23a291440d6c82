# SPDX-License-Identifier: BSD-3-Clause
"""Tests in the VM lab (scripts/vmlab/test). Each has a lab of its own, fresh from the golden state."""
