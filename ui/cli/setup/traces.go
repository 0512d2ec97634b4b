package setup

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"tandem/persist/regular"
)

// A Trace is an addition of Tandem to this machine outside its data directory and configuration.
type Trace struct {
	Text   string                          // says what it is, and where
	Remove func(ctx context.Context) error // nil if removing it needs the user's judgement
}

// startupFiles are the shells' files in the home directory that may load Tandem.
var startupFiles = []string{".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile", ".config/fish/config.fish"}

// plainLine matches a line as docs/shells.md has it, which does nothing but load Tandem. Another line
// with the same command may be part of a condition, and the file would break without it.
const plainLine = `^(eval "\$\(tandem init \w+\)"|tandem (init|completion) \w+ \| source|(source|\.) <\(tandem completion \w+\))[ \t]*(#.*)?$`

// Traces lists Tandem's additions to this machine outside its data directory and configuration,
// except the unit of systemd.
func (m Machine) Traces() []Trace {
	all := slices.Concat(m.serverTraces(), m.hookTraces(), m.copyTraces())
	for _, name := range startupFiles {
		all = append(all, lineTraces(filepath.Join(m.Home, name))...)
	}
	data := cmp.Or(m.Env("XDG_DATA_HOME"), filepath.Join(m.Home, ".local", "share"))
	all = append(all, fileTrace("completions", filepath.Join(m.Home, ".config/fish/completions/tandem.fish"))...)
	return append(all, fileTrace("manual pages", filepath.Join(data, "man/man1/tandem.1"), filepath.Join(data, "man/man1/tandem-*.1"))...)
}

func (m Machine) serverTraces() (all []Trace) {
	clients := Clients()
	for i, state := range m.States() {
		add := func(path string, project bool) {
			all = append(all, Trace{fmt.Sprintf("server for %s in %s", state.Title, path), func(ctx context.Context) error {
				plan, err := m.Remove(clients[i], project)
				return writePlan(ctx, plan, err)
			}})
		}
		if state.SetUp {
			add(state.User, false)
		}
		if state.SetUpInProject {
			add(state.Project, true)
		}
	}
	return all
}

func (m Machine) hookTraces() (all []Trace) {
	hooks := AllHooks()
	for i, state := range m.HookStates() {
		if state.Hooks == HooksInstalled || state.Hooks == HooksOutdated {
			all = append(all, Trace{fmt.Sprintf("hooks of %s in %s", state.Title, state.Path), func(ctx context.Context) error {
				plan, err := m.RemoveHooks(hooks[i])
				return writePlan(ctx, plan, err)
			}})
		}
	}
	return all
}

func writePlan(ctx context.Context, p *Plan, err error) error {
	if err != nil || !p.Changed() {
		return err
	}
	return p.Write(ctx)
}

// copyTraces finds the copies of the user's files from before setup changed them.
func (m Machine) copyTraces() (all []Trace) {
	var settings []string
	for _, client := range m.States() {
		settings = append(settings, client.User, client.Project)
	}
	for _, hooks := range m.HookStates() {
		settings = append(settings, hooks.Path)
	}
	slices.Sort(settings)
	for _, path := range slices.Compact(settings) {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			all = append(all, fileTrace("copy", target+backupSuffix)...)
		}
	}
	return all
}

// lineTraces finds the lines of a startup file that load Tandem.
func lineTraces(path string) (all []Trace) {
	text, err := regular.ReadFile(path)
	if err != nil {
		return nil
	}
	plain := regexp.MustCompile(plainLine)
	for i, line := range bytes.Split(text, []byte{'\n'}) {
		if !bytes.Contains(line, []byte("tandem init")) && !bytes.Contains(line, []byte("tandem completion")) {
			continue
		}
		trace := Trace{Text: fmt.Sprintf("%s, line %d", path, i+1)}
		if plain.Match(line) {
			trace.Remove = func(context.Context) error { return deleteLine(path, line) }
		}
		all = append(all, trace)
	}
	return all
}

// deleteLine deletes the first line with this text from a file of the user's.
func deleteLine(path string, line []byte) error {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	text, err := regular.ReadFile(target)
	if err != nil {
		return err
	}
	lines := bytes.SplitAfter(text, []byte{'\n'})
	i := slices.IndexFunc(lines, func(l []byte) bool { return bytes.Equal(bytes.TrimSuffix(l, []byte{'\n'}), line) })
	if i < 0 {
		return nil
	}
	return writeLike(target, bytes.Join(slices.Delete(lines, i, i+1), nil), target)
}

// fileTrace returns a trace for the file at path, if it exists. Files that match the patterns in more
// are removed with it.
func fileTrace(what, path string, more ...string) []Trace {
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	return []Trace{{what + " " + path, func(context.Context) error {
		err := os.Remove(path)
		for _, pattern := range more {
			found, _ := filepath.Glob(pattern) // fails only for an invalid pattern
			for _, name := range found {
				err = errors.Join(err, os.Remove(name))
			}
		}
		return err
	}}}
}

// UnitPath returns the path of the systemd unit for the engine of this data directory.
func (m Machine) UnitPath() string {
	name := "tandem.service"
	if m.DataDir != filepath.Join(m.Home, ".local/state/tandem") {
		name = fmt.Sprintf("tandem-%.4x.service", sha256.Sum256([]byte(m.DataDir)))
	}
	return filepath.Join(cmp.Or(m.Env("XDG_CONFIG_HOME"), filepath.Join(m.Home, ".config")), "systemd/user", name)
}
