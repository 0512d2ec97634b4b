#!/usr/bin/env bash
# Draws the pictures of the README from the running program: the dashboard runs
# in a session of a second Tandem, is driven by keys, and that session's screen
# is drawn. Needs Go, git and python3; run it anywhere. Names of pictures as
# arguments draw these alone. TANDEM is another program to show, OUT the folder
# of the pictures, THEME a theme; with BEFORE=1 only what an old one can show too.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$(cd "${OUT:-$here}" && pwd)
work=$(mktemp -d /tmp/tdpic.XXXX)
trap 'cleanup' EXIT
tandem=$work/bin/tandem drawer=$work/drawer
mkdir -p "$work/bin" "$work/home" "$work/config/tandem"
(cd "$here/../.." && CGO_ENABLED=0 go build -o "$drawer" .)
cp "${TANDEM:-$drawer}" "$tandem"

# The page, in a real browser.
if [ $# = 0 ] || [[ " $* " == *" page "* ]]; then
	(cd "$here/../.." && go test ./engine/page/browsertest -run Pictures -count=1 -args -pictures "$here")
fi

# What is shown, and what shows it.
export HOME=$work/home XDG_CONFIG_HOME=$work/config PATH=$work/bin:$PATH SHELL=/bin/bash
export TERM=xterm-256color COLORTERM=truecolor LANG=C.UTF-8 GIT_CONFIG_GLOBAL=/dev/null
data=$work/shown
shown() { TANDEM_DATA_DIR=$data "$tandem" "$@"; }
outer() { TANDEM_DATA_DIR=$work/outer "$drawer" "$@"; }
cleanup() {
	kill "${looking:-}" "${visiting:-}" 2>"$work/log" || true
	outer shutdown --all --yes >"$work/log" 2>&1 || true
	shown shutdown --all --yes >>"$work/log" 2>&1 || true
	data=$work/agents shown shutdown --all --yes >>"$work/log" 2>&1 || true
	rm -rf "$work"
}

printf 'theme = "%s"\ntips = false\n' "${THEME:-catppuccin-mocha}" >"$XDG_CONFIG_HOME/tandem/config.toml"
echo "PS1='\[\e[32m\]\w\[\e[0m\] \$ '; alias ls='ls --color'" >"$HOME/.bashrc"
tar -C "$here/demo" -c . | tar -C "$HOME" -x
cd "$HOME/shop"
mv server.go.txt server.go
git init -q -b main . && git add . && git -c user.name=me -c user.email=me@example.org commit -qm 'Serve the shop'
echo '// TODO: a cart' >>web/cart.js
sed -i 's/8080/8081/' server.go

# Processes: one that serves, one that works, one that failed, one that waits.
shown start --name web --keep-alive -- python3 -u -m http.server 0 --bind 127.0.0.1 >"$work/log"
shown start --name worker --keep-alive -- bash ../worker.sh >"$work/log"
shown start --name tests -- bash ../tests.sh >"$work/log"
shown start --name deploy -- sh -c 'echo "deploying to staging"; echo "error: no route to host" >&2; exit 7' >"$work/log" || true
port=$(shown wait web --log 'port [0-9]+' --timeout 20s | sed 's/.*port \([0-9]*\).*/\1/')
for page in / /web/ /web/cart.js /server.go; do
	python3 -c "import urllib.request as u; u.urlopen('http://127.0.0.1:$port$page').read()"
done

# Charts and sparklines have what somebody has looked at.
(while sleep 1; do shown ps >"$work/ps" 2>&1; done) &
looking=$!

# Commands of other days.
old() { shown history add --cwd "$HOME/shop" --exit "$1" --took "$2" --at "$3" -- "$4" >"$work/log"; }
old 0 3s 26h 'git clone git@example.org:shop.git'
old 0 41s 25h 'go build ./...'
old 2 900ms 25h 'go vet ./...'
old 0 800ms 24h 'go vet ./...'
old 1 12s 3h 'docker compose up -d db'
old 0 15s 3h 'docker compose up -d db'
old 0 2s 2h 'psql shop -c "select count(*) from orders"'

names=" $* "
wanted() { [[ $names == "  " || $names == *" $1 "* ]]; }

# await NAME REGEXP waits for what a screen has to show.
await() {
	if ! outer wait "$1" --screen "$2" --timeout 60s >"$work/log"; then
		echo "$1 does not show $2:"
		outer screen "$1"
		exit 1
	fi
}

# draw COLUMNSxROWS NAME REGEXP KEYS… opens the dashboard, presses keys, waits
# for what the screen has to show, and draws it. A key that begins with a colon
# is text; one that begins with a question mark waits.
draw() {
	local size=$1 name=$2 expect=$3 key
	shift 3
	wanted "$name" || return 0
	outer new --name "$name" --size "$size" -- env -u TANDEM_SESSION_ID TANDEM_DATA_DIR="$data" "$tandem" >"$work/log"
	await "$name" '1 Sessions'
	for key in "$@"; do
		case $key in
		:*) outer send "$name" -- "${key#:}" ;;
		\?*) await "$name" "${key#\?}" ;;
		*) outer send "$name" --keys "$key" ;;
		esac
	done
	await "$name" "$expect"
	outer wait "$name" --idle 700ms --timeout 5s >"$work/log" || true
	outer screen "$name" --svg "$out/$name.svg"
	[ -z "${TEXT:-}" ] || outer screen "$name"
	outer kill "$name" >"$work/log"
}

prompt='?(?m)\$ *$'
shown new --name shop --cwd . -- bash >"$work/log"
draw 116x30 dashboard 'ok +shop/cart' \
	"$prompt" ':git --no-pager diff --color' enter '?a cart' \
	'ctrl+b %' '?│~/shop \$' ':curl -si localhost:'"$port"'/web/ | head -5' enter '?Content' \
	'ctrl+b ,' 'ctrl+u' ':http' enter \
	'ctrl+b "' "$prompt" ':make test' enter '?ok +shop/cart' 'ctrl+b ,' 'ctrl+u' ':tests' enter
draw 116x30 history 'git' 'alt+3' '?git'
draw 116x30 files 'ListenAndServe' 'alt+4' '?server.go' j j j
draw 116x30 processes 'packed' 'alt+2' '?worker' g j j i '?memory' '?order 47[3-9]'
draw 116x30 which-key 'find anything|d leave' "$prompt" 'ctrl+b'
draw 116x30 palette 'split' "$prompt" 'ctrl+b' '::' '?Find anything' :split
draw 116x30 help "esc" "$prompt" "ctrl+b" ":?" 
draw 116x30 start-form 'ommand' 'alt+2' '?worker' n
draw 116x30 log-search 'order 47[0-9]' 'alt+2' '?worker' g j j '?order 47' tab / ':order' enter
draw 80x24 narrow 'order 47[0-9]' 'alt+2' '?worker' g j j
if [ -n "${BEFORE:-}" ]; then exit; fi # the rest came later
if wanted merged-logs; then
	(while sleep 0.7; do python3 -c "import urllib.request as u; u.urlopen('http://127.0.0.1:$port/web/cart.js').read()"; done) &
	visiting=$!
fi
draw 116x30 merged-logs 'web +│.*GET' 'alt+2' '?worker' g j space space m '?worker +│' '?web +│.*GET(.*\n)+.*web +│.*GET'
kill "${visiting:-}" 2>"$work/log" || true

# Coding agents on one repository, each in a worktree of its own: one works, one asks, one is done.
if wanted agents || wanted inbox; then
	data=$work/agents
	shown new --name shop --cwd . -- bash >"$work/log"
	for agent in cart:working prices:blocked docs:done; do
		shown new --worktree "${agent%:*}" -- "$HOME/agents/claude" "${agent#*:}" >"$work/log" 2>&1
	done
	shown wait prices --blocked --timeout 20s >"$work/log"
	shown wait docs --done --timeout 20s >"$work/log"
	shown wait cart --working --timeout 20s >"$work/log"
	draw 116x30 agents 'proceed' '?1 blocked' 'ctrl+b' tab '?proceed'
	draw 116x30 inbox 'answer' '?1 blocked' 'ctrl+b u' '?Inbox'
	data=$work/shown
fi

# The moving picture: a shell in which somebody opens the dashboard, works, leaves
# and comes back. A key that begins with a slash is typed letter by letter, a
# number is a pause.
printf '%s\n' '. ~/.bashrc' 'cd ~/shop' "tandem() { TANDEM_DATA_DIR=$work/shown command tandem --nested; }" >"$work/rc"
film() {
	local size=$1 name=$2 key i
	shift 2
	wanted "$name" || return 0
	outer new --name "$name" --size "$size" -- bash --rcfile "$work/rc" >"$work/log"
	await "$name" '\$'
	set -m # so that the recorder can be interrupted
	outer rec "$name" -o "$work/$name.cast" >"$work/log" 2>&1 &
	set +m
	local recording=$!
	sleep 1
	for key in "$@"; do
		case $key in
		/?*) for ((i = 1; i < ${#key}; i++)); do
			outer send "$name" -- "${key:i:1}"
			sleep 0.04
		done ;;
		\?*) await "$name" "${key#\?}" ;;
		[0-9]*) sleep "$key" ;;
		*) outer send "$name" --keys "$key" ;;
		esac
	done
	kill -INT -- -$recording
	wait $recording || true
	outer kill "$name" >"$work/log"
	outer play "$work/$name.cast" --svg "$out/$name.svg"
}
film 104x28 tour \
	/tandem enter '?1 Sessions' 1 \
	'ctrl+b %' '?│~/shop \$' 0.5 '/make test' enter '?ok +shop/cart' 1.2 \
	'ctrl+b r' '?commands' 0.6 /vet 1.2 enter '?go vet' 0.8 ctrl+c \
	'/bash ../worker.sh' enter '?order 4714' 0.5 \
	alt+2 '?worker' 1.5 j j 0.8 tab / 0.3 /473 '?473' 1.5 esc esc \
	alt+4 '?server.go' 0.6 j 0.4 j 0.4 j 1.5 \
	alt+1 '?order' 0.8 'ctrl+b d' '?(?m)\$ *$' 1.5 \
	/tandem enter '?order' 2.5
