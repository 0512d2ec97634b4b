"""The disk is full while sessions run, and then has room again."""
from vm import check, scenario


def run(m):
    m.root.must("dpkg -i /opt/tandem.deb", 300)
    m.login()
    m.u.must("tandem new --name a; tandem start --name p -- sleep 7006; tandem wait a --prompt --timeout 120s", 300)
    m.u.run("cat /dev/zero >~/fill", 600)
    m.u.run("cat /dev/zero >~/fill2", 60)
    m.u.must("tandem send a --enter 'echo full-$((40+2))'; tandem wait a --screen full-42 --timeout 60s", 240)
    m.u.must("tandem ps | grep -q '^running *p '", 240)
    status, said = m.u.run("tandem start --name late -- sleep 7007", 240)
    check(status != 0 and "no space" in said.lower(), "a start on a full disk: status %d: %s" % (status, said))
    check(m.root.run("pgrep -u u -fx 'sleep 7007'")[0], "the refused process runs")
    m.u.must("rm -f ~/fill ~/fill2; tandem start --name after -- sleep 7008", 240)
    m.u.must("tandem send a --enter 'echo room-$((40+2))'; tandem wait a --screen room-42 --timeout 60s", 240)
    status, doctor = m.u.run("tandem doctor", 240)
    check(status == 0, "doctor: " + doctor)
    return "session and process keep running, a start fails and says why; with room again, everything works"


scenario("fulldisk", run)
