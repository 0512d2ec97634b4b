"""A login that ends, without and with lingering."""
import time

from vm import check, scenario


def run(m):
    m.root.must("dpkg -i /opt/tandem.deb", 300)
    seen = []
    for linger in ("disable-linger", "enable-linger"):
        m.root.must("loginctl %s u" % linger)
        m.login()
        m.u.must("tandem new --name s-%s -- sleep 7004; tandem start --name p-%s -- sleep 7005" % (linger, linger), 240)
        m.logout()
        time.sleep(20)  # the user manager stops ten seconds after the last logout
        left = {what: m.root.run("pgrep -u u -f %s" % pattern)[0] == 0 for what, pattern in
                (("session", "'^sleep 7004'"), ("process", "'^sleep 7005'"), ("engine", "'tandem engine'"), ("keeper", "'tandem keeper'"))}
        gone = [what for what, alive in left.items() if not alive]
        seen.append("%s lingering: %s" % ("with" if linger.startswith("en") else "without", "gone: " + ", ".join(gone) if gone else "everything keeps running"))
        m.login()
        m.u.must("tandem shutdown --all --yes", 240)
        m.logout()
    check(not any("gone" in s for s in seen), "; ".join(seen))
    return "; ".join(seen)


scenario("login", run)
