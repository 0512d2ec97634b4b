package doctor

import (
	"context"
	"fmt"
	"os/exec"
	"os/user"
	"strconv"
	"strings"

	"tandem/engine/base/scope"
)

// examineScope reports which systemd unit the keeper runs in. It returns nothing if that is
// unknown, for example in a container.
func (o Options) examineScope(ctx context.Context, dataDir string, keeper int) []Finding {
	login := scope.Current()
	login.Cgroup = scope.Of(strconv.Itoa(keeper))
	unit := scope.Unit(login.Cgroup)
	if unit == "" {
		return nil
	}
	args := []string{"show", "--property=OOMPolicy", unit}
	if login.IsManaged() {
		args = append([]string{"--user"}, args...)
	}
	cmd := exec.CommandContext(ctx, "systemctl", args...)
	cmd.Env = o.Environ
	shown, _ := cmd.Output() // empty before systemd 253, where a scope's other programs keep running
	return []Finding{assessScope(login, dataDir, strings.TrimSpace(string(shown)))}
}

// assessScope reports whether a keeper can be killed when another program in its systemd unit runs
// out of memory. login has the keeper's cgroup; policy is the unit's setting, such as
// "OOMPolicy=stop".
func assessScope(login scope.Login, dataDir, policy string) Finding {
	const check = "scope"
	unit := scope.Unit(login.Cgroup)
	if scope.IsOwn(unit, dataDir) {
		return Finding{check, OK, fmt.Sprintf("the keeper has a scope of its own, %s; a program killed for lack of memory does not take others with it", unit), ""}
	}
	fix := "the next keeper gets a scope of its own; this one stays where it is until `tandem shutdown --all`"
	if !login.Lingering && !login.IsManaged() {
		fix = "run `loginctl enable-linger " + userName() + "`; then the next keeper gets a scope of its own"
	}
	switch policy {
	case "OOMPolicy=stop", "OOMPolicy=kill":
		return Finding{check, Warn, fmt.Sprintf("the keeper runs in %s; if any program in it is killed for lack of memory, systemd kills everything in it", unit), fix}
	}
	return Finding{check, OK, fmt.Sprintf("the keeper runs in %s; a program killed for lack of memory does not take others with it", unit), ""}
}

// userName returns this user's name for logind.
func userName() string {
	u, err := user.Current()
	if err != nil {
		return "$USER"
	}
	return u.Username
}
