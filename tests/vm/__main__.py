# SPDX-License-Identifier: BSD-3-Clause
"""scripts/vmlab/test"""
import sys

from tests.harness import runner

from .conftest import add_options


def main():
    parser = runner.parser("scripts/vmlab/test", "Tests in virtual machines. Builds what is missing of the lab (docs/VMLAB.md). "
                           "Logs: build/vmlab/logs.")
    add_options(parser.add_argument)
    parser.add_argument("names", nargs="*", default=[], metavar="NAME", help="the same as --only NAME")
    options = parser.parse_args()
    options.only += options.names
    return runner.run("vm", options)


if __name__ == "__main__":
    sys.exit(main())
