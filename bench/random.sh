#!/usr/bin/env bash
# Repeats the tests that choose at random, each round with another seed, for an hour (or 10m, 8h:
# bench/random.sh 10m). The last round is finished. Keeps the output of failures in a folder, and at
# the end names the seeds that failed and how to repeat each failure.
set -euo pipefail
duration=${1:-1h}
case $duration in
*[0-9]h) limit=$((${duration%h} * 3600)) ;;
*[0-9]m) limit=$((${duration%m} * 60)) ;;
*[0-9]s) limit=${duration%s} ;;
*) echo "$duration: must be a number with h, m or s" >&2 && exit 2 ;;
esac
cd "$(dirname "$0")/.."
export CGO_ENABLED=0
kept=$(mktemp -d "${TMPDIR:-/tmp}/random-XXXXXX") # failures
binaries=$(mktemp -d "${TMPDIR:-/tmp}/tdXXXXXX")
rounds=0

# report lists the failures, also after ctrl+c.
report() {
	rm -rf "$binaries" "$kept"/*.running
	echo "$rounds rounds in $((SECONDS / 60)) minutes"
	local failures=("$kept"/*.txt)
	if [ ! -e "${failures[0]}" ]; then
		rmdir "$kept"
		return
	fi
	echo "${#failures[@]} failures, kept in $kept:"
	head -qn 1 "${failures[@]}"
	exit 1
}

# build NAME FLAGS PACKAGE [TEST…] compiles the tests of a package, and notes how to run them.
build() {
	local name=$1 flags=$2 package=$3
	shift 3
	# shellcheck disable=SC2086 # flags are words
	go test $flags -c -o "$binaries/$name.test" "$package"
	[ -e "$binaries/$name.test" ] || return 0 # no tests
	local tests="$*"
	echo "${tests:+^(${tests// /|})$}" >"$binaries/$name.pattern"
	echo "go test -count=1 -timeout 30m${flags:+ $flags} $package" >"$binaries/$name.command"
	echo "$package" >"$binaries/$name.package"
}

# run NAME runs compiled tests with the round's seed, and keeps their output if they fail.
run() {
	local pattern command package out=$kept/$TANDEM_SEED-$1
	pattern=$(<"$binaries/$1.pattern") command=$(<"$binaries/$1.command") package=$(<"$binaries/$1.package")
	echo "TANDEM_SEED=$TANDEM_SEED $command${pattern:+ -run '$pattern'}" >"$out.running"
	if (cd "$package" && "$binaries/$1.test" -test.run "$pattern" -test.timeout 30m) >>"$out.running" 2>&1; then
		rm "$out.running"
	else
		mv "$out.running" "$out.txt"
		echo "failed: $out.txt"
	fi
}
export -f run
export kept binaries

# The packages with invariants, with all their tests, as in .ci/run.
invariants=$(sed -n 's/.* go test -tags invariants //p' .ci/run)
for package in $(go list -tags invariants -f '{{.Dir}}' ${invariants:?not found in .ci/run}); do
	package=.${package#"$PWD"}
	name=${package#./}
	build "${name//\//-}-invariants" '-tags invariants' "$package"
done
# In other packages, the tests of files that use the seed.
for package in $(git grep -l '"tandem/tests/seed"' -- '*_test.go' | xargs dirname | sort -u); do
	mapfile -t tests < <(grep -l '"tandem/tests/seed"' "$package"/*_test.go | xargs sed -n 's/^func \(Test[A-Za-z0-9_]*\)(t .*/\1/p')
	build "${package//\//-}" '' "./$package" "${tests[@]}"
done

trap report EXIT
while ((SECONDS < limit)); do
	export TANDEM_SEED=$SRANDOM
	echo "$(date +%T) TANDEM_SEED=$TANDEM_SEED"
	find "$binaries" -name '*.test' -printf '%f\n' | sed 's/\.test$//' | sort | xargs -P "$(nproc)" -I{} bash -c 'run {}'
	rounds=$((rounds + 1))
done
