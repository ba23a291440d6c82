#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks tests/model/hold.pml exhaustively with spin, and that spin finds each mutant's fault.
# Usage: run_hold.sh [MESSAGES]   (of each member; default 2)
set -euo pipefail

# shellcheck source=tests/model/search.sh
source "$(dirname "$0")/search.sh" hold
messages=${1:-2}

# check MUTANT: prints pan's report.
check() {
  spin -a "-DMESSAGES=$messages" "$1" "$model" >spin.log || { cat spin.log; exit 1; }
  gcc -w -O2 -DSAFETY -DCOLLAPSE -o pan pan.c
  ./pan -m1000000 -w24 >pan.log || { cat pan.log; exit 1; }
  cat pan.log
}

report=$(check -DMODEL)
if ! grep -q 'errors: 0' <<<"$report" || grep -q 'max search depth too small' <<<"$report"; then
  echo "$report"
  echo "FAILED: the model has an error, or was not searched to the end"
  exit 1
fi
echo "model: no error in $(grep -o '[0-9.e+]* states, stored' <<<"$report")"

for mutant in UNPROVED RENEWS_BROKEN FORGETS NO_COUNT LOOKS_LATE NO_LEASE; do
  report=$(check "-D$mutant")
  grep -Eq '^pan:1: (assertion violated|invalid end state)' <<<"$report" || { echo "$report"; echo "FAILED: mutant $mutant was not caught"; exit 1; }
  echo "mutant $mutant: caught, $(grep -o "pan:1: .*" <<<"$report")"
done
