#!/bin/sh
# Kills what can be killed, fills what can be filled, and prints what was lost.
# ENGINE_KILLS, KEEPER_KILLS and BOTH_KILLS say how often (300, 50 and 30).
cd "$(dirname "$0")/.." || exit 1
exec go test -count=1 -run xxx -bench Faults -benchtime 1x -timeout 120m ./bench
