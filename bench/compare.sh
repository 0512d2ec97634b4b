#!/usr/bin/env bash
# Compares the working tree with an earlier commit: builds both, runs benchmarks of this folder
# and the emulator's streams in turns, and prints medians, ratios and noise (with benchstat).
#
#   bench/compare.sh COMMIT
#   ROUNDS=10 BENCH='Echo$|FirstFrame' STREAMS='log|color' bench/compare.sh HEAD~20
#
# BENCH and STREAMS are patterns; xxx matches nothing. Both versions are measured by the present
# benchmarks, only the emulator's by those of each version.
set -euo pipefail
commit=${1?usage: bench/compare.sh COMMIT}
bench=${BENCH:-'Echo$|FirstFrame|OneShot|Start$|Restart|AgentStart|AgentExec'}
streams=${STREAMS:-.}
root=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/tdXXXXXX")
trap 'git -C "$root" worktree remove --force "$dir/old"; rm -rf "$dir"' EXIT
git -C "$root" worktree add --quiet --detach "$dir/old" "$commit"
ln -s "$root" "$dir/new"

export CGO_ENABLED=0
GOBIN=$dir go install golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
for version in old new; do
	cd "$dir/$version/"
	go build -o "$dir/tandem-$version" .
	go test -c -o "$dir/vt-$version" ./engine/screen/vt
done
cd "$root/bench"
go test -c -o "$dir/bench" .

# measure VERSION adds one round to its results.
measure() {
	TANDEM_BENCH_PROGRAM=$dir/tandem-$1 "$dir/bench" -test.run xxx -test.bench "$bench" -test.benchtime 1x
	(cd "$dir/$1/engine/screen/vt" && "$dir/vt-$1" -test.run xxx -test.bench "Write/($streams)/.*/own" -test.benchtime 0.3s)
}
for ((i = 0; i < ${ROUNDS:-6}; i++)); do
	order=(old new)
	((i % 2)) && order=(new old)
	for version in "${order[@]}"; do
		measure "$version" >>"$dir/$version.txt"
	done
done
cd "$dir" && ./benchstat old.txt new.txt
