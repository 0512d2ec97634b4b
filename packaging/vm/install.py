"""Root installs the package; the user works in it over the serial console, with the dashboard, too."""
import json

from vm import check, scenario


def run(m):
    m.root.must("dpkg -i /opt/tandem.deb", 300)
    m.login()
    version = m.u.must("tandem --version").split("\n")[0]
    m.u.must("tandem new --name a; tandem send a --enter 'echo typed-$((40+2))'; tandem wait a --screen typed-42 --timeout 60s", 240)
    m.u.must("tandem start --name p -- sleep 7001 && tandem ps | grep -q '^running *p '", 240)
    m.u.must("test -e /usr/share/man/man1/tandem.1.gz && test -e /usr/share/bash-completion/completions/tandem")
    m.u.send("tandem\n")
    check(m.u.until(rb"typed-42", 120), "the dashboard does not show the session: %r" % m.u.buffer[-300:])
    m.u.send("\x02d")
    check(m.u.until(rb"still running", 60), "the dashboard does not leave")
    m.u.must("stty sane -echo cols 100 rows 30")
    status, doctor = m.u.run("tandem doctor --json", 240)
    check(status == 0, "doctor: " + doctor)
    warned = sorted({f["check"] for f in json.loads(doctor) if f["status"] == "warn"})
    return "%s from the package; session, process and dashboard work; doctor warns of: %s" % (version, ", ".join(warned) or "nothing")


scenario("install", run)
