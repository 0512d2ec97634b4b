package project

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tandem/engine/api"

	"github.com/goccy/go-yaml/ast"
	"golang.org/x/sys/unix"
)

// A take reads the value of one key.
type take func(f field) error

// each gives every field to what reads it; an unknown key is a mistake.
func (r *reader) each(fields []field, what string, takes map[string]take) error {
	for _, f := range fields {
		take, known := takes[f.key]
		if !known {
			return r.unknown(f, what, slices.Sorted(maps.Keys(takes)))
		}
		if err := take(f); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) unknown(f field, what string, keys []string) error {
	e := r.wrong(f.at, "%s has no key %q", what, f.key)
	if like := closest(f.key, keys); like != "" {
		return e.hint("did you mean %s?", like)
	}
	return e.hint("it can have %s", strings.Join(keys, ", "))
}

// tandem reads a tandem.yaml. What all entries share comes first, wherever it
// stands.
func (r *reader) tandem(fields []field) error {
	later := func(field) error { return nil }
	fields = slices.DeleteFunc(fields, func(f field) bool { return strings.HasPrefix(f.key, "x-") }) // holds anchors
	shared := map[string]take{"name": r.takeName, "env": later, "env_file": later, "sessions": later, "processes": later, "layout": later}
	if err := r.each(fields, "a project file", shared); err != nil {
		return err
	}
	steps := []map[string]take{
		{"env_file": r.takeSharedFiles}, {"env": r.takeSharedEnv},
		{"sessions": r.takeSessions, "processes": r.takeProcesses}, {"layout": r.takeLayout},
	}
	for _, step := range steps {
		for _, f := range fields {
			if take, ok := step[f.key]; ok {
				if err := take(f); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (r *reader) takeName(f field) error {
	s, err := r.text(f)
	if err == nil && !goodName(s) {
		err = r.wrong(f.at, "name: %q is not a valid name", s)
	}
	r.file.Name = s
	return err
}

func (r *reader) takeSharedFiles(f field) error {
	vars, err := r.envFiles(f)
	r.env = append(r.env, vars...)
	return err
}

func (r *reader) takeSharedEnv(f field) error {
	vars, err := r.variables(f)
	r.env = append(r.env, vars...)
	return err
}

func (r *reader) takeSessions(f field) error  { return r.takeEntries(f, true) }
func (r *reader) takeProcesses(f field) error { return r.takeEntries(f, false) }

func (r *reader) takeEntries(f field, tty bool) error {
	fields, err := r.fields(f, f.key)
	if err != nil {
		return err
	}
	for _, entry := range fields {
		if !goodName(entry.key) {
			return r.wrong(entry.at, "%q is not a valid name", entry.key)
		}
		e := &draft{reader: r, Entry: Entry{Name: entry.key, At: entry.at}}
		e.Start.Name, e.Start.TTY, e.Start.CWD = entry.key, tty, filepath.Dir(r.file.Path)
		if err := e.read(entry, tty); err != nil {
			return err
		}
		r.file.Entries = append(r.file.Entries, e.finish())
	}
	return nil
}

// A draft is an entry that is being read.
type draft struct {
	Entry
	reader *reader
	files  []Variable // of its environment files
	own    []Variable
}

// read reads one entry: its keys, or, short, its command alone.
func (d *draft) read(f field, session bool) error {
	what := "a process"
	if session {
		what = "a session"
	}
	_, list := f.node.(*ast.SequenceNode)
	if _, short := scalar(f.node); short || list {
		if _, none := f.node.(*ast.NullNode); none && session {
			return nil
		}
		return d.command(f)
	}
	fields, err := d.reader.fields(f, what)
	if err != nil {
		return err
	}
	takes := d.takes()
	if session {
		delete(takes, "tty")
		delete(takes, "split_log")
	}
	if err := d.reader.each(fields, what, takes); err != nil {
		return err
	}
	return d.check(f.at)
}

func (d *draft) check(at Position) error {
	s := &d.Start
	switch {
	case len(s.Command) == 0 && !s.TTY:
		return d.reader.wrong(at, "process %s has no command", d.Name)
	case s.KeepAlive && s.Restart != nil && s.Restart.Policy != api.PolicyAlways && s.Restart.Policy != "":
		return d.reader.wrong(at, "%s: keep_alive is short for restart: always; give one of the two", d.Name)
	case s.TTY && s.SplitLog:
		return d.reader.wrong(at, "%s: a terminal has one output; split_log does not go with tty", d.Name)
	}
	return nil
}

func (d *draft) takes() map[string]take {
	r, s := d.reader, &d.Start
	return map[string]take{
		"command":      d.command,
		"cwd":          d.cwd,
		"env":          func(f field) (err error) { d.own, err = r.variables(f); return },
		"env_file":     func(f field) (err error) { d.files, err = r.envFiles(f); return },
		"depends_on":   d.dependsOn,
		"keep_alive":   func(f field) (err error) { s.KeepAlive, err = r.boolean(f); return },
		"restart":      d.restart,
		"ready":        d.ready,
		"stop_signal":  d.stopSignal,
		"stop_timeout": func(f field) (err error) { s.StopTimeoutMS, err = r.duration(f); return },
		"log_limit":    func(f field) (err error) { s.LogLimit, err = r.size(f); return },
		"split_log":    func(f field) (err error) { s.SplitLog, err = r.boolean(f); return },
		"tty":          func(f field) (err error) { s.TTY, err = r.boolean(f); return },
		"autostart":    func(f field) error { on, err := r.boolean(f); d.Manual = !on; return err },
	}
}

// finish puts the environment together: what is more special counts more.
func (d *draft) finish() Entry {
	d.Env = slices.Concat(d.reader.env, d.files, d.own)
	return d.Entry
}

// command reads a line for the shell, or a program and its arguments.
func (d *draft) command(f field) error {
	if _, list := f.node.(*ast.SequenceNode); list {
		argv, err := d.reader.texts(f, d.reader.filled)
		if err == nil && (len(argv) == 0 || argv[0] == "") {
			err = d.reader.wrong(f.at, "%s: the command names no program", d.Name)
		}
		d.Start.Command = argv
		return err
	}
	line, err := d.reader.text(f)
	if err == nil && strings.TrimSpace(line) == "" {
		err = d.reader.wrong(f.at, "%s: the command is empty", d.Name)
	}
	d.Start.Command = shell(strings.TrimRight(line, "\n"))
	return err
}

// shell runs a line.
func shell(line string) []string { return []string{"/bin/sh", "-c", line} }

func (d *draft) cwd(f field) error {
	s, err := d.reader.filled(f)
	if err == nil {
		d.Start.CWD = d.reader.path(s)
	}
	return err
}

// dependsOn reads a name, names, or names with conditions.
func (d *draft) dependsOn(f field) error {
	if name, plain := scalar(f.node); plain && name != "" {
		d.After = append(d.After, Dependency{Name: name, At: f.at})
		return nil
	}
	if _, list := f.node.(*ast.SequenceNode); list {
		items, err := d.reader.items(f)
		if err != nil {
			return err
		}
		for _, item := range items {
			name, err := d.reader.text(item)
			if err != nil {
				return err
			}
			d.After = append(d.After, Dependency{name, "", item.at})
		}
		return nil
	}
	fields, err := d.reader.fields(f, "depends_on")
	if err != nil {
		return err
	}
	for _, dep := range fields {
		condition, err := d.reader.condition(dep)
		if err != nil {
			return err
		}
		d.After = append(d.After, Dependency{dep.key, condition, dep.at})
	}
	return nil
}

// condition reads "ready", or a mapping with a condition.
func (r *reader) condition(f field) (Condition, error) {
	if _, plain := scalar(f.node); !plain {
		fields, err := r.fields(f, "a dependency")
		if err != nil {
			return "", err
		}
		word := field{at: f.at}
		if err := r.each(fields, "a dependency", map[string]take{"condition": func(c field) error { word = c; return nil }}); err != nil {
			return "", err
		}
		if f = word; f.node == nil {
			return "", nil
		}
	}
	word, err := r.text(f)
	if err != nil {
		return "", err
	}
	switch c := Condition(strings.TrimPrefix(word, "process_")); c {
	case "", Started, Ready, Completed, Succeeded:
		return c, nil
	case "healthy", "log_ready":
		return Ready, nil
	}
	return "", r.wrong(f.at, "unknown condition %q", word).
		hint("it is started, ready, completed or completed_successfully")
}

// restart reads a policy, or a mapping with one.
func (d *draft) restart(f field) error {
	r := d.reader
	d.Start.Restart = &api.Restart{}
	into := d.Start.Restart
	policy := func(f field) error {
		s, err := r.text(f)
		into.Policy = api.Policy(strings.ReplaceAll(s, "_", "-"))
		return err
	}
	at := f
	if _, plain := scalar(f.node); plain {
		if err := policy(f); err != nil {
			return err
		}
	} else {
		fields, err := r.fields(f, "restart")
		if err != nil {
			return err
		}
		into.Policy = api.PolicyOnFailure
		err = r.each(fields, "restart", map[string]take{
			"policy":        func(f field) error { at = f; return policy(f) },
			"max":           func(f field) (err error) { into.Max, err = r.number(f, 1_000_000); return },
			"delay":         func(f field) (err error) { into.DelayMS, err = r.duration(f); return },
			"success_codes": func(f field) (err error) { into.SuccessCodes, err = r.codes(f); return },
		})
		if err != nil {
			return err
		}
	}
	switch into.Policy {
	case "false": // YAML writes no so
		into.Policy = api.PolicyNo
	case api.PolicyNo, api.PolicyOnFailure, api.PolicyAlways, api.PolicyUnlessStopped:
	default:
		return r.wrong(at.at, "unknown restart policy %q", string(into.Policy)).hint("it is no, on-failure, always or unless-stopped")
	}
	return nil
}

func (r *reader) codes(f field) ([]int, error) {
	all := []field{f}
	if _, list := f.node.(*ast.SequenceNode); list {
		var err error
		if all, err = r.items(f); err != nil {
			return nil, err
		}
	}
	codes := make([]int, len(all))
	for i, item := range all {
		n, err := r.number(item, 255)
		if err != nil {
			return nil, err
		}
		codes[i] = n
	}
	return codes, nil
}

func (d *draft) stopSignal(f field) error {
	s, err := d.reader.text(f)
	if err == nil && !goodSignal(s) {
		err = d.reader.wrong(f.at, "%s: unknown signal %q", f.key, s).hint("a name such as TERM or INT, or a number")
	}
	d.Start.StopSignal = s
	return err
}

// goodSignal reports whether s names a signal of this system: TERM, SIGTERM or
// 15.
func goodSignal(s string) bool {
	if n, err := strconv.Atoi(s); err == nil {
		return n >= 1 && n <= 64
	}
	return unix.SignalNum("SIG"+strings.TrimPrefix(strings.ToUpper(s), "SIG")) != 0
}
