package uninstall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tandem/engine/api/sockets"
	"tandem/persist/datadir"
	"tandem/ui/cli/codingagents"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/service"
	"tandem/ui/cli/setup"
)

// A part is something to delete.
type part struct {
	text   string // its kind and path
	remove func(context.Context) error
}

// removeAll removes parts. It continues after errors and returns them all.
func removeAll(ctx context.Context, parts []part) (failed error) {
	for _, p := range parts {
		if err := p.remove(ctx); err != nil {
			failed = errors.Join(failed, fmt.Errorf("delete %s: %w", p.text, err))
		}
	}
	return failed
}

// findParts returns the parts to delete before everything is stopped and those to delete afterwards.
// left describes everything left to the user.
func (opts flags) findParts(ctx context.Context, f *factory.Factory) (early, late []part, left []string, err error) {
	m, err := codingagents.ThisMachine(f.Env)
	if err != nil {
		return nil, nil, nil, err
	}
	main := mainDataDir(m)
	if main == "" {
		for _, trace := range m.Traces() {
			if trace.Remove == nil {
				left = append(left, trace.Text+": edit it, it may be part of more")
				continue
			}
			early = append(early, part{trace.Text, trace.Remove})
		}
	} else {
		left = append(left, "the program, and what it has in settings of shells and agents: data folder "+main+" is in use, too")
	}
	unit, remove, err := service.Installed(f)
	if err != nil {
		return nil, nil, nil, err
	}
	if unit != "" {
		early = append(early, part{"systemd unit " + unit, remove})
	}
	if _, err := os.Stat(m.DataDir); err == nil {
		late = append(late, part{"data folder " + m.DataDir + ": records, logs, kept output, history, tokens, the audit log",
			func(context.Context) error { return deleteData(m.DataDir) }})
		left = append(left, "the history: to keep it, run `tandem history save FILE` first")
	}
	if config := configFolder(f); config != "" && (main == "" || f.Env("TANDEM_CONFIG_DIR") != "") {
		late = append(late, part{"configuration " + config, func(context.Context) error { return deleteConfig(config, f) }})
	}
	if program := opts.ownProgram(m.Home, m.Program); program != "" && main == "" {
		late = append(late, part{"program " + program, func(context.Context) error { return os.Remove(program) }})
	} else if !opts.keepProgram && main == "" {
		left = append(left, "program "+m.Program+": remove it the way it was installed")
	}
	return early, late, append(left, elsewhere(f)...), nil
}

// mainDataDir returns the data directory used without TANDEM_DATA_DIR, if it is another than m's and
// exists; else "". A trial with --home must not remove the settings of the Tandem in daily use.
func mainDataDir(m setup.Machine) string {
	dir := filepath.Join(cmp.Or(m.Env("XDG_STATE_HOME"), filepath.Join(m.Home, ".local/state")), "tandem")
	if _, err := os.Stat(dir); err != nil || dir == filepath.Clean(m.DataDir) {
		return ""
	}
	return dir
}

// elsewhere lists Tandem's traces on other machines, and files of use without Tandem.
func elsewhere(f *factory.Factory) (left []string) {
	machines, _ := f.Machines.Load() // a mistake in config.toml must not keep Tandem installed
	for _, machine := range machines {
		left = append(left, "Tandem on machine "+machine.Name+": run `tandem uninstall` there")
	}
	if fleet, err := f.Fleet.Load(); err == nil && fleet.Hub != "" {
		left = append(left, "this machine's name in the fleet at "+fleet.Hub+": `tandem hub revoke` there removes it")
	}
	return append(left, "git worktrees of agents, settings of agents in other project folders, tandem.yaml files, and the trash")
}

// ownProgram returns this program's path if it is below home and no package manager's; "" if it
// should stay.
func (opts flags) ownProgram(home, program string) string {
	below, err := filepath.Rel(home, program)
	if opts.keepProgram || err != nil || strings.HasPrefix(below, "..") || strings.Contains(program, string(filepath.Separator)+"go-build") {
		return ""
	}
	for _, managed := range []string{".linuxbrew", "linuxbrew", ".nix-profile"} {
		if strings.Contains(below, managed+string(filepath.Separator)) {
			return ""
		}
	}
	return program
}

// deleteData deletes everything of Tandem in the data directory, the sockets outside it, and the
// directory unless it has anything else: TANDEM_DATA_DIR may name a directory with files of the
// user's.
func deleteData(dir string) (failed error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var foreign []string
	for _, e := range entries {
		if !datadir.Ours(e.Name()) {
			foreign = append(foreign, e.Name())
			continue
		}
		failed = errors.Join(failed, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	engine, keeper := sockets.Paths(dir)
	for _, socket := range []string{engine, keeper} {
		_ = os.Remove(socket) // usually the roles removed them when they exited
	}
	if filepath.Dir(engine) != filepath.Clean(dir) {
		_ = os.Remove(filepath.Dir(engine)) // fails while it has the sockets of another data folder
	}
	switch {
	case failed != nil:
		return failed
	case len(foreign) > 0:
		return fmt.Errorf("it has files that are not Tandem's, such as %s", foreign[0])
	}
	return os.Remove(dir)
}

// configFolder returns the configuration's folder, if it exists.
func configFolder(f *factory.Factory) string {
	if f.Config.Path == nil {
		return ""
	}
	path, err := f.Config.Path()
	if err != nil {
		return ""
	}
	if _, err := os.Lstat(filepath.Dir(path)); err != nil {
		return ""
	}
	return filepath.Dir(path)
}

// deleteConfig deletes the configuration's folder. Of one chosen with TANDEM_CONFIG_DIR it deletes
// only the files with known names: the user may have more there.
func deleteConfig(dir string, f *factory.Factory) error {
	if f.Env("TANDEM_CONFIG_DIR") == "" {
		return os.RemoveAll(dir)
	}
	path, err := f.Config.Path()
	if err != nil {
		return err
	}
	for _, name := range []string{path, cmp.Or(f.Config.Policy, path)} {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("other files are in it: %w", err)
	}
	return nil
}
