#!/bin/sh
# Runs everything at once for an hour (or 10m, 8h: ./soak.sh 10m), kills the
# engine every ten seconds, prints what engine and keeper need, and fails when
# that grows.
cd "$(dirname "$0")/.." || exit 1
SOAK=${1:-1h} exec go test -count=1 -run xxx -bench Soak -benchtime 1x -timeout 0 -v ./bench
