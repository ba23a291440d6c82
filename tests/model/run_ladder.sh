#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks tests/model/ladder.pml exhaustively with spin, that "all at NEW" can be reached, and that spin
# catches each mutant.
# Usage: run_ladder.sh [big]   (big: larger jobs too; by hand, it may take hours and 16 GB)
set -euo pipefail

# shellcheck source=tests/model/search.sh
source "$(dirname "$0")/search.sh" ladder

pan_options=(-E -m200000)
pair=(-DN=2 -DJOINERS=0)                                     # two members, two coordinators, all faults
joining=(-DN=3 -DJOINERS=1 -DT=1 -DS=3 -DLOSSES=0 -DSENDERS=1)  # a third joins during one ladder

sound "two members" "${pair[@]}"
sound "a member joins" "${joining[@]}"
caught "all at NEW" "${pair[@]}" -DREACH
for each in FENCE=0 PROMISE=0 DRAIN=0 ACKALL=0 RETRACT=2 COMMIT=0 FAILOVER=1 REFUSAL=0; do
  mutant "$each" "${pair[@]}"
done
for each in JOIN=0 RESCAN=0; do
  mutant "$each" "${joining[@]}"
done
if [ "${1:-}" = big ]; then
  memory_mb=16000
  sound "three members" -DN=3 -DJOINERS=0 -DREFUSALS=0 -DLOSSES=0 -DSENDERS=1
  sound "a member joins, two coordinators" -DN=3 -DJOINERS=1 -DS=3 -DREFUSALS=0 -DLOSSES=0 -DSENDERS=1
fi
