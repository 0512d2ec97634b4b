#!/bin/sh
# readme.sh README: puts the install line into the README once HOSTS ($HOSTS for tests) names a host.
# Until then, and if the line is there, it changes nothing. The README then has to be committed.
set -eu
# shellcheck source=packaging/HOSTS
. "${HOSTS:-$(dirname "$0")/HOSTS}"
case $INSTALL in
https://*.example/*) exit 0 ;;
esac
line="curl -fsSL $INSTALL | sh"
if grep -qxF "$line" "$1"; then
	exit 0
elif grep -q '^curl -fsSL .* | sh$' "$1"; then
	sed -i "s@^curl -fsSL .* | sh\$@$line@" "$1"
else
	sed -i -e "/^## Install\$/a\\
\\
\`\`\`sh\\
$line\\
\`\`\`" -e 's/^With Go installed, two commands do all the setup\. The first build/Or with Go. The first build/' \
		-e 's/^- Linux only, built from source\./- Linux only./' "$1"
fi
echo "readme.sh: commit $1, which now has the install line" >&2
