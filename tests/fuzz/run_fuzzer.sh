#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs one libFuzzer program from its committed corpus, and fails unless it both accepted and rejected inputs.
# Usage: run_fuzzer.sh PROGRAM CORPUS [SECONDS]   (default LIVEBTL_FUZZ_SECONDS or 30)
# What it finds (crash-*, timeout-*) is kept in the current folder; the committed corpus is not changed.
set -euo pipefail

program=$1 corpus=$2 seconds=${3:-${LIVEBTL_FUZZ_SECONDS:-30}}
[ -n "$(ls -A "$corpus" 2>/dev/null)" ] || { echo "no corpus in $corpus"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/found"

"$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=8192 -print_final_stats=1 \
  "$work/found" "$corpus" >"$work/log" 2>&1 || { tail -60 "$work/log"; echo "FAILED: $program"; exit 1; }

reached=$(grep '^reached: ' "$work/log") || { tail -20 "$work/log"; echo "FAILED: no counts of what was reached"; exit 1; }
grep 'number_of_executed_units' "$work/log"
echo "$reached"
if ! grep -Eq 'accepted=[1-9][0-9]* rejected=[1-9][0-9]*$' <<<"$reached"; then
  echo "FAILED: both accepted and rejected inputs must be reached"
  exit 1
fi
