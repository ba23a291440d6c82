# SPDX-License-Identifier: BSD-3-Clause
"""Python of the tests. It is imported from the root of the repository, as C++ includes are: tests.harness, scripts.vmlab."""
