"""The package is installed while the previous release runs."""
import re

from vm import check, scenario


def run(m):
    m.root.must("install -m 755 /opt/tandem-old /usr/bin/tandem")
    m.login()
    old = m.u.must("tandem --version").split("\n")[0]
    m.u.must("tandem new --name a -- sh -c 'i=0; while :; do i=$((i+1)); echo line $i; sleep 0.05; done'; tandem start --name p -- sleep 7009", 240)
    m.u.must("tandem wait a --output 'line 50' --timeout 120s", 240)
    before = m.u.must("pgrep -u u -f 'sleep 7009|line [$]i'")
    m.root.must("dpkg -i /opt/tandem.deb", 300)
    new = m.u.must("tandem --version").split("\n")[0]
    check(old != new, "the version is still " + new)
    info = m.u.must("tandem info", 240)
    check(new.split()[1] in info, "the engine was not replaced: " + info)
    check(m.u.must("pgrep -u u -f 'sleep 7009|line [$]i'") == before, "not the same processes run")
    m.u.must("tandem ps | grep -q '^running *p '; sleep 3", 240)
    lines = [int(n) for n in re.findall(r"line (\d+)", m.u.must("tandem logs a -n 100000", 240))]
    check(lines and lines == list(range(lines[0], lines[0] + len(lines))), "lines are missing or repeated around %r" % lines[:3])
    return "%s became %s under a running session and process; %d lines of output without a gap" % (old, new, len(lines))


scenario("upgrade", run)
