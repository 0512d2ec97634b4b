#!/bin/sh
# Runs sessions, processes, dashboards and agents together for an hour (or 10m,
# 8h: ./soak.sh 10m) and kills the engine every ten seconds. Prints the resource
# use of engine and keeper, and fails if it grows.
cd "$(dirname "$0")/.." || exit 1
SOAK=${1:-1h} exec go test -count=1 -run xxx -bench Soak -benchtime 1x -timeout 0 -v ./bench
