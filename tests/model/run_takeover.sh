#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks tests/model/takeover.pml exhaustively with spin, and that spin finds each mutant's fault.
# Usage: run_takeover.sh [big]   (big: faults together, more takers; by hand, many minutes and 8 GB)
set -euo pipefail

# shellcheck source=tests/model/search.sh
source "$(dirname "$0")/search.sh" takeover

killed=(-DFREEZE=0 -DKILLS=2 -DCUTS=1 -DIMPATIENT=0)  # any coordinators but the last
frozen=(-DFREEZE=1 -DKILLS=0 -DCUTS=0 -DIMPATIENT=0)  # any coordinator but the last
gives_up=(-DFREEZE=0 -DKILLS=0 -DCUTS=1 -DIMPATIENT=1)
all=(-DFREEZE=0 -DKILLS=1 -DCUTS=1 -DIMPATIENT=1)
operator=(-DOPERATORS=1 -DFREEZE=0 -DKILLS=1 -DCUTS=0 -DIMPATIENT=0)

sound "two coordinators are killed" "${killed[@]}"
sound "a coordinator freezes, and comes back" "${frozen[@]}"
sound "a coordinator gives up" "${gives_up[@]}"
sound "an operator resumes or aborts beside the job, and may be killed" "${operator[@]}"
sound "another command at the same time" -DRIVAL "${killed[@]}"
mutant NO_FENCE "${frozen[@]}"
mutant NO_FOLLOW "${frozen[@]}"
mutant DOWN_FROM_NEW "${operator[@]}"
mutant END_IS_REST -DBY_LOWEST "${all[@]}"
mutant REST_IS_ALL -DBY_LOWEST "${all[@]}"
mutant NO_LEFT_OPEN -DBY_LOWEST "${all[@]}"
mutant SETTLES_FIRST "${killed[@]}"
mutant NO_BUSY -DRIVAL "${killed[@]}"
mutant SAME_TERM "${killed[@]}"
mutant ONE_PROMISE "${killed[@]}"
mutant ONE_ANSWER "${killed[@]}"
mutant REPEATS "${gives_up[@]}"
mutant JOB_FORCES "${killed[@]}"
mutant ONLY_LOWEST "${all[@]}"
if [ "${1:-}" = big ]; then
  memory_mb=8000
  sound "killed, and gives up" "${all[@]}"
  sound "the lowest member alone" -DBY_LOWEST "${all[@]}"
  sound "one freezes, one is killed" -DFREEZE=1 -DKILLS=1 -DCUTS=0 -DIMPATIENT=0
  sound "three takers, two of which may be killed" -DT=4 -DFREEZE=0 -DKILLS=2 -DCUTS=0 -DIMPATIENT=0
  sound "an operator, and a coordinator that freezes" -DOPERATORS=1 "${frozen[@]}"
fi
