"""Removing the package stops and deletes nothing; `tandem uninstall` before it leaves nothing."""
from vm import check, scenario


def run(m):
    before = m.root.must("find / -xdev -iname '*tandem*' | sort | grep -v '^/opt/'; true", 240)
    m.root.must("dpkg -i /opt/tandem.deb", 300)
    m.login()
    m.u.must("tandem new --name a -- sleep 7010; tandem start --name p -- sleep 7011; tandem config init; tandem service install; true", 300)
    m.root.must("dpkg -r tandem", 300)
    m.root.must("pgrep -u u -fx 'sleep 7010' && pgrep -u u -fx 'sleep 7011' && test -e /home/u/.config/tandem/config.toml && test -d /home/u/.local/state/tandem/processes")
    m.root.must("dpkg -i /opt/tandem.deb", 300)
    m.u.must("tandem ps | grep -q '^running *p '", 240)
    m.u.must("tandem uninstall --yes", 300)
    check(m.root.run("pgrep -u u -f 'tandem|sleep 701'")[0], "something still runs")
    m.root.must("dpkg -P tandem", 300)
    left = m.root.must("find / -xdev -iname '*tandem*' | sort | grep -v -e '^/opt/' -e '^/var/lib/systemd'; true", 240)
    check(left == before, "left: " + left)
    return "removing the package stopped and deleted nothing; tandem uninstall, then removing it, left no file and no process"


scenario("removal", run)
