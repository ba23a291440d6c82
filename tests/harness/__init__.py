# SPDX-License-Identifier: BSD-3-Clause
"""What the tests with real jobs, the demo and the bench share; tests/README.md says which module does what."""
