# SPDX-License-Identifier: BSD-3-Clause
"""Tests in the VM lab (scripts/vmlab/test). Each has its own lab, fresh from the golden state."""
