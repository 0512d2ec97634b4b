"""A real reboot with sessions, processes and `tandem service`."""
import time

from vm import check, scenario


def run(m):
    m.root.must("dpkg -i /opt/tandem.deb", 300)
    m.root.must("loginctl enable-linger u")
    m.login()
    m.u.must("tandem new --name a --cwd /tmp; tandem send a --enter 'echo before-$((40+2))'; tandem wait a --screen before-42 --timeout 60s", 240)
    m.u.must("tandem start --name kept --keep-alive -- sleep 7002; tandem start --name once -- sleep 7003", 240)
    m.u.must("tandem service install", 240)
    time.sleep(40)  # the last half minute of a screen may be missing
    m.reboot()
    for _ in range(60):  # before any login
        status, _ = m.root.run("pgrep -u u -fx 'sleep 7002'")
        if status == 0:
            break
        time.sleep(2)
    check(status == 0, "the kept process does not start at boot: " + m.root.run("systemctl status user@1000 | tail -20")[1])
    check(m.root.run("pgrep -u u -fx 'sleep 7003'")[0], "the other process started, too")
    m.login()
    check("a" in m.u.must("tandem restore --list", 240).split(), "the session is not offered")
    check("before-42" in m.u.must("tandem screen a", 240), "its screen is not kept")
    m.u.must("tandem restore a && tandem wait a --prompt --timeout 120s", 300)
    m.u.must("tandem send a --enter 'echo in-$PWD'; tandem wait a --screen in-/tmp --timeout 60s", 240)
    return "the kept process ran before the login, the other did not; the session came back in its folder with its screen"


scenario("reboot", run)
