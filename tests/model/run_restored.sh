#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks tests/model/restored.pml exhaustively with spin, and that spin finds each mutant's fault.
set -euo pipefail

model=$(cd "$(dirname "$0")" && pwd)/restored.pml
for tool in spin gcc; do
  command -v "$tool" >/dev/null || { echo "$tool is missing: apt-get install $tool"; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# check DEFINES...: prints pan's report.
check() {
  spin "$@" -a "$model" >spin.log || { cat spin.log; exit 1; }
  gcc -w -O1 -DSAFETY -DCOLLAPSE -o pan pan.c
  ./pan -m100000 >pan.log || { cat pan.log; exit 1; }
  cat pan.log
}

# sound NAME DEFINES...: searched to the end, without an error.
sound() {
  local name=$1 report
  shift
  report=$(check "$@")
  if ! grep -q 'errors: 0' <<<"$report" || grep -q 'max search depth too small' <<<"$report"; then
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

leases=(-DLEASES=1 -DENDER=0)
ended=(-DLEASES=0 -DENDER=1)

sound "a restore is killed, and leases run out" "${leases[@]}"
sound "hold end at the same time" "${ended[@]}"
sound "hold end, and leases run out" -DLEASES=1 -DENDER=1
caught NO_CLAIM "${ended[@]}"
caught ENDS_CLAIMED "${ended[@]}"
caught HALF_CLAIMED "${ended[@]}"
caught NEW_NUMBER "${leases[@]}"
caught KEEPS_OUT "${leases[@]}"
caught WANTS_ALL_PARKED "${leases[@]}"
caught LATE_BINDS "${leases[@]}"
caught ENDS_ONE "${leases[@]}"
