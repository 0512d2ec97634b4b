#!/usr/bin/env bash
# Draws the pictures of the README from the running program: the dashboard runs
# in a session of a second Tandem, is driven by keys, and that session's screen
# is drawn. Needs Go, git and python3; run it anywhere.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d /tmp/tdpic.XXXX)
trap 'cleanup' EXIT
tandem=$work/bin/tandem
mkdir -p "$work/bin" "$work/home" "$work/config/tandem"
if [ -n "${TANDEM:-}" ]; then cp "$TANDEM" "$tandem"; else (cd "$here/../.." && go build -o "$tandem" .); fi

# What is shown, and what shows it.
export HOME=$work/home XDG_CONFIG_HOME=$work/config PATH=$work/bin:$PATH SHELL=/bin/bash
export TERM=xterm-256color COLORTERM=truecolor LANG=C.UTF-8 GIT_CONFIG_GLOBAL=/dev/null
shown() { TANDEM_DATA_DIR=$work/shown "$tandem" "$@"; }
outer() { TANDEM_DATA_DIR=$work/outer "$tandem" "$@"; }
cleanup() {
	kill "${looking:-}" 2>"$work/log" || true
	outer shutdown --all --yes >"$work/log" 2>&1 || true
	shown shutdown --all --yes >>"$work/log" 2>&1 || true
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

# await NAME REGEXP waits for what a screen has to show.
await() {
	if ! outer wait "$1" --screen "$2" --timeout 20s >"$work/log"; then
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
	outer new --name "$name" --size "$size" -- env TANDEM_DATA_DIR="$work/shown" "$tandem" >"$work/log"
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
	outer screen "$name" --svg "$here/$name.svg"
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
draw 116x30 processes 'packed' 'alt+2' '?worker' g j j i '?memory' '?order 474[5-9]'
