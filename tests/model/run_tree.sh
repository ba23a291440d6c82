#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks tests/model/tree.pml exhaustively with spin, that "all at NEW" can be reached through relays, and that spin
# catches each mutant.
# Usage: run_tree.sh
set -euo pipefail

# shellcheck source=tests/model/search.sh
source "$(dirname "$0")/search.sh" tree

pan_options=(-E -m200000) compressed=()  # 460 MB, not 380, in a third of the time
nodes=(-DN=6 -DNODES=3 -DT=1 -DS=3)   # three nodes of two, one coordinator that goes up, back, or stops
rivals=(-DN=3 -DNODES=3 -DT=2 -DS=2)  # three nodes, two coordinators: the second finishes or undoes
node=(-DN=2 -DNODES=1 -DT=2 -DS=3)    # one node of two, two coordinators

sound "three nodes of two" "${nodes[@]}"
sound "two coordinators, three nodes" "${rivals[@]}"
sound "two coordinators, one node" "${node[@]}"
caught "all at NEW" "${nodes[@]}" -DREACH
for each in SILENT=1 OLD=1 ACKALL=0; do mutant "$each" "${nodes[@]}"; done
for each in TERMS=1 OLD=1 SILENT=1 FENCE=0; do mutant "$each" "${node[@]}"; done
