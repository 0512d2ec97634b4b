package service

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/engine/base/shell"
	"tandem/persist/regular"
	"tandem/ui/cli/codingagents"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/setup"
)

// The unit starts the engine and is then done; it has no process of its own. The engine and
// everything it starts are in a scope beside it, so that stopping or restarting the unit, or an
// upgrade, ends nothing. Lingering makes the user's manager start at boot and stay after a logout;
// at shutdown, systemd sends SIGTERM to everything in the scope at once and waits. In the unit's own
// cgroup, the programs would survive a stop only with KillMode=process, and then get SIGKILL without
// a SIGTERM at shutdown. Without lingering, the manager would end the scope at logout, so the unit
// then starts nothing. A delegated scope has OOMPolicy=continue by default: systemd stops nothing in it
// when one of its processes is killed for lack of memory. Before systemd 253, scopes cannot set it.

// A unit is the systemd user unit for this data folder, installed or not.
type unit struct {
	f       *factory.Factory
	name    string // such as tandem.service
	path    string
	machine setup.Machine
}

func findUnit(f *factory.Factory) (unit, error) {
	m, err := codingagents.ThisMachine(f.Env)
	if err != nil {
		return unit{}, err
	}
	return unit{f, filepath.Base(m.UnitPath()), m.UnitPath(), m}, nil
}

// read returns the text of the installed unit, or "" if there is none.
func (u unit) read() (string, error) {
	text, err := regular.ReadFile(u.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read unit: %w", err)
	}
	return string(text), nil
}

// mark begins the first line of a unit written by Tandem.
const mark = "# Written by `tandem service install`"

// signed adds a first line with a checksum to a unit's text, to notice later edits.
func signed(text string) string {
	return fmt.Sprintf("%s, checksum %.8x.\n%s", mark, sha256.Sum256([]byte(text)), text)
}

// isEdited reports whether a unit is not as Tandem wrote it.
func isEdited(text string) bool {
	_, rest, _ := strings.Cut(text, "\n")
	return text != signed(rest)
}

// render returns the text to install.
func (u unit) render() (string, error) {
	program, err := u.machine.ProgramPath("set up the service")
	if err != nil {
		return "", err
	}
	var variables strings.Builder
	for _, v := range u.variables() {
		fmt.Fprintf(&variables, "Environment=%s\n", quote(v))
	}
	return signed(fmt.Sprintf(`# To change it, run: systemctl --user edit %s

[Unit]
Description=Tandem: start what has to run after a reboot
# Without lingering, everything started here would end when you log out.
ConditionPathExists=/var/lib/systemd/linger/%%u
StartLimitIntervalSec=0

[Service]
Type=oneshot
RemainAfterExit=yes
# The engine gets a scope of its own, so stopping this unit ends nothing.
ExecStart=%s --user --scope --collect --quiet --description="Tandem's engine and programs" --property=Delegate=yes --property=TasksMax=infinity -- %s info
%s
[Install]
WantedBy=default.target
`, u.name, cmp.Or(u.machine.LookPath("systemd-run"), "/usr/bin/systemd-run"), strings.ReplaceAll(quote(program), "$", "$$"), &variables)), nil
}

// variables returns the engine's variables, possibly missing from the user manager's environment.
func (u unit) variables() []string {
	return append([]string{"PATH=" + u.machine.Env("PATH")}, u.machine.Variables()...)
}

// quote quotes a word for a unit (systemd.syntax(7)). In a command, "$" must be doubled too.
func quote(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "%", "%%").Replace(word) + `"`
}

// instead describes the alternative to a unit.
func (u unit) instead() string {
	program, err := u.machine.ProgramPath("")
	if err != nil {
		return api.AsError(err).Hint
	}
	line := shell.Quote(slices.Concat([]string{"env"}, u.variables(), []string{program, "info"})...)
	return "under su or sudo, log in as the user instead; without systemd, add this line with `crontab -e`, or have runit or OpenRC run its command as you:\n" +
		"@reboot " + strings.ReplaceAll(line, "%", `\%`) // to cron, % ends the line
}
