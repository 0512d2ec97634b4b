#!/usr/bin/env bash
# Measures how fast output passes through a terminal: streams through a bare PTY
# reader, a Tandem session and tmux (if installed) in turn, at two sizes: first
# without a client, then with Tandem's dashboard and a tmux client attached.
# Prints the best of ROUNDS in MB/s, and the ratios.
#
# The terminal's output processing is off, and lines end with CR LF, because
# otherwise the kernel dominates the result: it passes short lines at 11 MB/s and
# log lines at 100. OPOST=1 turns it on.
#
#   bench/pty.sh [STREAM…]          by default: yes log color utf8 redraw region
#   SIZES="80x24" ROUNDS=5 MB=32 bench/pty.sh log
#   VIEWS=attached bench/pty.sh classes    those of kitty and vtebench
#
# Needs Bash and Go. The programs it starts use their own folder and tmux socket,
# and are stopped on exit.
set -euo pipefail

# Runs in the measured terminal: prints a stream, and queries the cursor position.
# The answer proves that everything before the query has been interpreted.
if [[ ${1-} == --print ]]; then
	stty -echo -icanon min 1 "$5"
	printf 'ready' >"$4"
	read -r _ <"$3"
	start=$EPOCHREALTIME
	cat -- "$2"
	printf '\e[6n'
	IFS= read -r -s -d R _
	end=$EPOCHREALTIME
	printf '%s\n' $((${end/./} - ${start/./})) >"$4"
	read -r _ <"$3"
	exit
fi

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
self=$root/bench/pty.sh
dir=$(mktemp -d "${TMPDIR:-/tmp}/tdXXXXXX")
sizes=${SIZES:-80x24 200x60}
rounds=${ROUNDS:-5}
streams=("$@")
((${#streams[@]})) || streams=(yes log color utf8 redraw region)
[[ ${streams[*]} != classes ]] ||
	streams=(ascii unicode csi images escapes dense_cells light_cells cursor_motion scrolling_{fullscreen,top_region,bottom_region})

export TANDEM_DATA_DIR=$dir/d XDG_CONFIG_HOME=$dir/config TERM=xterm-256color LANG=C.UTF-8 SHELL=/bin/sh
unset TMUX
tandem=$dir/tandem
terminal=$dir/bench.test
tmux() { command tmux -u -S "$dir/tmux" -f /dev/null "$@"; }

viewer=
finish() {
	[[ -z $viewer ]] || kill "$viewer" 2>/dev/null || true
	"$tandem" shutdown --all --yes >/dev/null 2>&1 || true
	tmux kill-server >/dev/null 2>&1 || true
	rm -rf -- "$dir"
}
trap finish EXIT

cd "$root"
CGO_ENABLED=0 go build -o "$tandem" .
go test -c -o "$terminal" ./bench
mkdir "$dir/streams"
go test ./engine/screen/vt -run '^TestStreamsAreDeterministic$' -count 1 -streams "$dir/streams" -stream-size $((${MB:-16} << 20)) >/dev/null
for stream in "${streams[@]}"; do
	[[ -f $dir/streams/$stream-80x24 ]] || { echo "no stream is called $stream" >&2; exit 2; }
done
opost=-opost
if [[ ${OPOST-} ]]; then
	opost=opost
	for file in "$dir"/streams/*; do
		tr -d '\r' <"$file" >"$file.lf" && mv "$file.lf" "$file"
	done
fi
peers=(tandem)
! type -P tmux >/dev/null || peers+=(tmux)

# begin PEER SIZE NAME runs the measured program in a terminal.
begin() {
	local command=(bash "$self" --print "$dir/streams/$3-$2" "$dir/go" "$dir/told" "$opost")
	case $1 in
	bare) "$terminal" terminal "$2" "${command[@]}" & ;;
	tandem) session=$("$tandem" new --size "$2" -- "${command[@]}") ;;
	tmux) tmux new-session -d -x "${2%x*}" -y "${2#*x}" "$(printf '%q ' "${command[@]}")" ;;
	esac
}

# attach PEER SIZE attaches a client in a terminal that leaves the program that size: the dashboard
# has four rows of its own, and tmux one.
attach() {
	local cols=${2%x*} rows=${2#*x}
	case $1 in
	tandem) "$terminal" terminal "${cols}x$((rows + 4))" "$tandem" & ;;
	tmux) "$terminal" terminal "${cols}x$((rows + 1))" tmux -u -S "$dir/tmux" attach-session & ;;
	esac
	viewer=$!
	until attached "$1"; do sleep 0.05; done
	sleep 0.5 # until its first frames are drawn
}

attached() {
	case $1 in
	tandem) [[ $("$tandem" ls --json) =~ \"viewers\":\ *[1-9] ]] ;;
	tmux) [[ -n $(tmux list-clients) ]] ;;
	esac
}

# measure PEER SIZE NAME VIEW sets rate to bytes per microsecond, in hundredths.
measure() {
	local file=$dir/streams/$3-$2 took _
	rm -f "$dir/go" "$dir/told"
	mkfifo "$dir/go" "$dir/told"
	begin "$1" "$2" "$3"
	read -r -t 20 _ <"$dir/told" || [[ $_ ]] || true
	[[ $4 == alone || $1 == bare ]] || attach "$1" "$2"
	echo go >"$dir/go"
	read -r -t 300 took <"$dir/told"
	rate=$((100 * $(stat -c %s "$file") / took))
	if [[ $viewer ]]; then
		kill "$viewer"
		wait "$viewer" 2>/dev/null || true
		viewer=
	fi
	echo end >"$dir/go"
	case $1 in
	bare) wait ;;
	tandem) until "$tandem" rm "$session" >/dev/null 2>&1; do sleep 0.05; done ;; # until it has exited
	esac
}

# shown HUNDREDTHS prints a figure with two decimals.
shown() { printf '%10d.%02d' $(($1 / 100)) $(($1 % 100)); }

# best RATE… prints the highest one: other work on the machine only takes away.
best() { printf '%s\n' "$@" | sort -n | tail -1; }

# table VIEW PEER… prints a row for each stream and size.
table() {
	local view=$1 size name peer i
	shift
	printf '\n%-7s %-23s' size stream
	printf '%13s' "$@"
	for peer in bare tmux; do
		[[ " $* " != *" $peer "* ]] || printf '%13s' "tandem/$peer"
	done
	printf '\n'
	for size in $sizes; do
		for name in "${streams[@]}"; do
			declare -A rates=()
			for ((i = 0; i < rounds; i++)); do
				for peer in "$@"; do
					measure "$peer" "$size" "$name" "$view"
					rates[$peer]+="$rate "
				done
			done
			printf '%-7s %-23s' "$size" "$name"
			for peer in "$@"; do
				rates[$peer]=$(best ${rates[$peer]})
				shown "${rates[$peer]}"
			done
			for peer in bare tmux; do
				[[ -z ${rates[$peer]-} ]] || shown $((100 * rates[tandem] / rates[$peer]))
			done
			printf '\n'
		done
	done
}

for view in ${VIEWS:-alone attached}; do
	printf '\nMB/s, best of %d; dashboard and tmux client: %s\n' "$rounds" "$view"
	table "$view" bare "${peers[@]}"
done
