# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# tests/model/search.sh -- what the run_*.sh share: models searched exhaustively with spin, in a directory that goes at
# the end. To be sourced, with the model's name.
set -euo pipefail

model=$(cd "$(dirname "$0")" && pwd)/$1.pml
for tool in spin gcc; do
  command -v "$tool" >/dev/null || { echo "$tool is missing: apt-get install $tool"; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
memory_mb=1900 pan_options=(-m500000)
compressed=(-DCOLLAPSE)  # states: up to three times the time, for a fifth to half of the memory

# search DEFINES...: prints pan's report. An error ends the search.
search() {
  spin "$@" -a "$model" >spin.log || { cat spin.log >&2; exit 1; }
  gcc -w -O2 -DSAFETY "${compressed[@]}" -DMEMLIM="$memory_mb" -o pan pan.c
  ./pan "${pan_options[@]}" >pan.log || { cat pan.log >&2; exit 1; }
  cat pan.log
}

# sound NAME DEFINES...: searched to the end, without an error.
sound() {
  local name=$1 report
  shift
  report=$(search "$@")
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
  report=$(search "$@")
  grep -q 'assertion violated' <<<"$report" || { echo "$report"; echo "FAILED: $name was not caught"; exit 1; }
  echo "$name: caught, $(grep -o 'at depth [0-9]*' <<<"$report" | head -1)"
}

# mutant NAME DEFINES...
mutant() { caught "mutant $1" "-D$1" "${@:2}"; }
