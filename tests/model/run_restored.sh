#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks tests/model/restored.pml exhaustively with spin, and that spin finds each mutant's fault.
set -euo pipefail

# shellcheck source=tests/model/search.sh
source "$(dirname "$0")/search.sh" restored

leases=(-DLEASES=1 -DENDER=0)
ended=(-DLEASES=0 -DENDER=1)

sound "two restores at once, one is killed, and leases run out" "${leases[@]}"
sound "hold end at the same time" "${ended[@]}"
sound "hold end, leases run out, and one restore after the other" -DLEASES=1 -DENDER=1 -DAT_ONCE=0
mutant NO_CLAIM "${ended[@]}"
mutant ENDS_CLAIMED "${ended[@]}"
mutant HALF_CLAIMED "${ended[@]}"
mutant NEW_INCARNATION "${leases[@]}"
mutant KEEPS_OUT "${leases[@]}"
mutant WANTS_ALL_PARKED "${leases[@]}"
mutant LATE_BINDS "${leases[@]}"
mutant ENDS_ONE "${leases[@]}"
mutant ONE_CLAIM "${leases[@]}"
mutant OLD_LOOK "${leases[@]}"
