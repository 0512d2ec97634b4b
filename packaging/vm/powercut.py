"""The power is cut twenty times under load, or $CUTS times; then README's table is compared with what is there."""
import json, os, random, time

from vm import check, scenario

CUTS = int(os.environ.get("CUTS", "20"))


def inspect(m, kept):
    """Returns the promises that do not hold for what was answered more than two seconds before the cut."""
    broken = []
    records = {p["name"]: p for p in json.loads(m.u.must("tandem ls --all --json", 300))}
    for name, status in kept:
        record = records.get(name)
        if record is None:
            broken.append("no record of " + name)
        elif status is not None and record.get("exit_code") != status:
            broken.append("%s exited with %r, not %d" % (name, record.get("exit_code"), status))
    damaged = m.u.must("find ~/.local/state/tandem -name '*.bad*' | wc -l")
    if damaged != "0":
        broken.append(damaged + " damaged files")
    return broken


def run(m):
    m.root.must("dpkg -i /opt/tandem.deb; sync", 300)
    random.seed(1)
    kept, broken = [], []
    for k in range(CUTS):
        m.login()
        if k:
            broken += ["cut %d: %s" % (k, b) for b in inspect(m, kept)]
        m.u.must("tandem new --name a%d && tandem start --name n%d -- sleep 5000 && tandem start --name e%d -- sh -c 'exit 7' && tandem wait e%d --exit --timeout 60s; true" % (k, k, k, k), 300)
        m.u.must("tandem start --name flood%d -- sh -c 'i=0; while :; do i=$((i+1)); echo line $i; done'" % k, 240)
        time.sleep(2.5)
        kept += [("a%d" % k, None), ("n%d" % k, None), ("e%d" % k, 7), ("flood%d" % k, None)]
        m.u.send("while :; do tandem start -- sleep 4000; done\n")
        time.sleep(1 + 3 * random.random())  # cut while one starts
        m.cut()
        m.boot()
    m.login()
    broken += ["cut %d: %s" % (CUTS, b) for b in inspect(m, kept)]
    check(m.u.run("tandem doctor", 300)[0] == 0, "doctor finds a failure")
    check(not broken, "; ".join(broken))
    return "%d cuts while processes started and one flooded its log; all %d records answered more than 2 s before are there, with their exit statuses; nothing is damaged" % (CUTS, len(kept))


scenario("powercut", run)
