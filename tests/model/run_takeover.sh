#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks tests/model/takeover.pml exhaustively with spin, and that spin finds each mutant's fault.
# Usage: run_takeover.sh [big]   (big: faults together, more takers; by hand, many minutes and 8 GB)
set -euo pipefail

model=$(cd "$(dirname "$0")" && pwd)/takeover.pml
for tool in spin gcc; do
  command -v "$tool" >/dev/null || { echo "$tool is missing: apt-get install $tool"; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
memory_mb=1900

# check DEFINES...: prints pan's report. An error ends the search.
check() {
  spin "$@" -a "$model" >spin.log || { cat spin.log; exit 1; }
  gcc -w -O2 -DSAFETY -DCOLLAPSE -DMEMLIM="$memory_mb" -o pan pan.c
  ./pan -m500000 >pan.log || { cat pan.log; exit 1; }
  cat pan.log
}

# sound NAME DEFINES...: searched to the end, without an error.
sound() {
  local name=$1 report
  shift
  report=$(check "$@")
  if ! grep -q 'errors: 0' <<<"$report" || grep -Eq 'too small|out of memory|reached -DMEMLIM' <<<"$report"; then
    echo "$report"
    echo "FAILED: $name: an error, or not searched to the end"
    exit 1
  fi
  echo "$name: no error in $(grep -o '[0-9.e+]* states, stored' <<<"$report")"
}

# caught MUTANT DEFINES...: spin must find a violated assertion.
caught() {
  local mutant=$1 report
  shift
  report=$(check "-D$mutant" "$@")
  grep -q 'assertion violated' <<<"$report" || { echo "$report"; echo "FAILED: mutant $mutant was not caught"; exit 1; }
  echo "mutant $mutant: caught, $(grep -o 'at depth [0-9]*' <<<"$report" | head -1)"
}

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
caught NO_FENCE "${frozen[@]}"
caught NO_FOLLOW "${frozen[@]}"
caught DOWN_FROM_NEW "${operator[@]}"
caught END_IS_REST -DBY_LOWEST "${all[@]}"
caught REST_IS_ALL -DBY_LOWEST "${all[@]}"
caught NO_LEFT_OPEN -DBY_LOWEST "${all[@]}"
caught SETTLES_FIRST "${killed[@]}"
caught NO_BUSY -DRIVAL "${killed[@]}"
caught SAME_TERM "${killed[@]}"
caught ONE_PROMISE "${killed[@]}"
caught ONE_ANSWER "${killed[@]}"
caught REPEATS "${gives_up[@]}"
caught JOB_FORCES "${killed[@]}"
caught ONLY_LOWEST "${all[@]}"
if [ "${1:-}" = big ]; then
  memory_mb=8000
  sound "killed, and gives up" "${all[@]}"
  sound "the lowest member alone" -DBY_LOWEST "${all[@]}"
  sound "one freezes, one is killed" -DFREEZE=1 -DKILLS=1 -DCUTS=0 -DIMPATIENT=0
  sound "three takers, two of which may be killed" -DT=4 -DFREEZE=0 -DKILLS=2 -DCUTS=0 -DIMPATIENT=0
  sound "an operator, and a coordinator that freezes" -DOPERATORS=1 "${frozen[@]}"
fi
