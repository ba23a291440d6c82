# SPDX-License-Identifier: BSD-3-Clause
pytest_plugins = ["tests.harness.plugin"]
