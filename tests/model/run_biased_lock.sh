#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks tests/model/biased_lock.pml exhaustively with spin, and that spin finds each mutant's fault.
# Usage: run_biased_lock.sh [ROUNDS]   (locks a thread takes; default 3: about 2 million states, some seconds)
set -euo pipefail

# shellcheck source=tests/model/search.sh
source "$(dirname "$0")/search.sh" biased_lock
rounds=${1:-3}

# check MUTANT PAN_OPTIONS...: prints pan's report.
check() {
  local mutant=$1
  shift
  spin -a "-DROUNDS=$rounds" "$mutant" "$model" >spin.log || { cat spin.log; exit 1; }
  gcc -O2 -DSAFETY -o pan pan.c
  ./pan -m1000000 "$@" >pan.log || { cat pan.log; exit 1; }
  cat pan.log
}

report=$(check -DMODEL)
if ! grep -q 'errors: 0' <<<"$report" || grep -q 'max search depth too small' <<<"$report"; then
  echo "$report"
  echo "FAILED: the lock's model has an error, or was not searched to the end"
  exit 1
fi
echo "model: no error in $(grep -o '[0-9]* states, stored' <<<"$report")"

# expect MUTANT WHAT PAN_OPTIONS...: the mutant must end in WHAT.
expect() {
  local mutant=$1 what=$2
  shift 2
  report=$(check "-D$mutant" "$@")
  grep -q "^pan:1: $what" <<<"$report" || { echo "$report"; echo "FAILED: mutant $mutant was not caught"; exit 1; }
  echo "mutant $mutant: caught, $(grep -o "pan:1: .*" <<<"$report")"
}
expect NO_MEMBARRIER 'assertion violated (holders==1)' -E
expect NO_WAKE 'invalid end state'
expect NO_TURN_RESET 'invalid end state'
expect KEPT_OUT 'assertion violated (holders==1)' -E
expect WATCH_UNSEEN 'assertion violated.*watched' -E
