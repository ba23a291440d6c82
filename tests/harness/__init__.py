# SPDX-License-Identifier: BSD-3-Clause
"""What the tests with real jobs share, and demo and bench with them: tests/README.md says which module does what."""
