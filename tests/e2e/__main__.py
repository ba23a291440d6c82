# SPDX-License-Identifier: BSD-3-Clause
"""tests/e2e/run"""
import sys

from tests.harness import runner

from .conftest import add_options


def main():
    parser = runner.parser("tests/e2e/run", "End-to-end scenarios: real MPI jobs, switched while they run.")
    add_options(parser.add_argument)
    return runner.run("e2e", parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
