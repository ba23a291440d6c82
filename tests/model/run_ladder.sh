#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks tests/model/ladder.pml exhaustively with spin, that "all at NEW" can be reached, and that spin
# catches each mutant.
# Usage: run_ladder.sh [big]   (big: larger jobs too; by hand, it may take hours and 16 GB)
set -euo pipefail

model=$(cd "$(dirname "$0")" && pwd)/ladder.pml
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
  ./pan -E -m200000 >pan.log || { cat pan.log; exit 1; }
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

# caught NAME DEFINES...: spin must find a violated assertion.
caught() {
  local name=$1 report
  shift
  report=$(check "$@")
  grep -q 'assertion violated' <<<"$report" || { echo "$report"; echo "FAILED: $name was not caught"; exit 1; }
  echo "$name: found, $(grep -o 'at depth [0-9]*' <<<"$report" | head -1)"
}

pair=(-DN=2 -DJOINERS=0)                                     # two members, two coordinators, all faults
joining=(-DN=3 -DJOINERS=1 -DT=1 -DS=3 -DLOSSES=0 -DSENDERS=1)  # a third joins during one ladder

sound "two members" "${pair[@]}"
sound "a member joins" "${joining[@]}"
caught "all at NEW" "${pair[@]}" -DREACH
for mutant in FENCE=0 PROMISE=0 DRAIN=0 ACKALL=0 RETRACT=2 COMMIT=0 FAILOVER=1 REFUSAL=0; do
  caught "mutant $mutant" "${pair[@]}" "-D$mutant"
done
for mutant in JOIN=0 RESCAN=0; do
  caught "mutant $mutant" "${joining[@]}" "-D$mutant"
done
if [ "${1:-}" = big ]; then
  memory_mb=16000
  sound "three members" -DN=3 -DJOINERS=0 -DREFUSALS=0 -DLOSSES=0 -DSENDERS=1
  sound "a member joins, two coordinators" -DN=3 -DJOINERS=1 -DS=3 -DREFUSALS=0 -DLOSSES=0 -DSENDERS=1
fi
