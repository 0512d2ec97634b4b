"""One program takes all memory: the others, the engine and the keeper keep running."""
from vm import check, scenario


def run(m):
    m.root.must("dpkg -i /opt/tandem.deb", 300)
    m.login()
    if m.u.run("tandem new --help | grep -q -- --memory", 120)[0]:
        return "left out: this version has no limits of memory (tandem new --memory)"
    m.u.must("tandem new --name a; tandem start --name p -- sleep 7012", 240)
    pids = m.u.must("pgrep -u u -f 'tandem (engine|keeper)'")
    said = []
    for name, flags in (("limited", "--memory 100M "), ("unlimited", "")):
        m.u.must("cat >~/hog.py <<'END'\na = []\nwhile True: a.append(bytearray(b'x') * (16 << 20))\nEND\ntandem new --name %s %s-- python3 ~/hog.py" % (name, flags), 240)
        m.u.run("tandem wait %s --exit --timeout 300s" % name, 400)
        said.append("%s: %s" % (name, m.u.must("tandem ls --all | grep ' %s '" % name, 240)))
        m.u.must("tandem send a --enter 'echo alive-%s'; tandem wait a --screen alive-%s --timeout 120s; tandem ps | grep -q '^running *p '" % (name, name), 300)
        check(m.u.must("pgrep -u u -f 'tandem (engine|keeper)'") == pids, "engine or keeper was killed")
    return "; ".join(said)


scenario("memory", run)
