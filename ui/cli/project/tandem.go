package project

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tandem/engine/api"
	"tandem/persist/diag"

	"github.com/goccy/go-yaml/ast"
	"golang.org/x/sys/unix"
)

// A take reads the value of one key.
type take func(f field)

// each gives every field to what reads it; an unknown key is a mistake.
func (r *reader) each(fields []field, what string, takes map[string]take) {
	for _, f := range fields {
		if take, known := takes[f.key]; known {
			take(f)
		} else {
			r.unknown(f, what, slices.Sorted(maps.Keys(takes)))
		}
	}
}

func (r *reader) unknown(f field, what string, keys []string) {
	e := r.wrong(f.at, "%s has no key %q", what, f.key)
	if like := diag.Nearest(f.key, keys); like != "" {
		e.hint("did you mean %s?", like)
	} else {
		e.hint("it can have %s", strings.Join(keys, ", "))
	}
}

// tandem reads a tandem.yaml. What all entries share comes first, wherever it
// stands.
func (r *reader) tandem(fields []field) {
	later := func(field) {}
	fields = slices.DeleteFunc(fields, func(f field) bool { return strings.HasPrefix(f.key, "x-") }) // holds anchors
	shared := map[string]take{"name": r.takeName, "env": later, "env_file": later, "sessions": later, "processes": later, "layout": later}
	r.each(fields, "a project file", shared)
	r.inSteps(fields,
		map[string]take{"env_file": r.takeSharedFiles}, map[string]take{"env": r.takeSharedEnv},
		map[string]take{"sessions": r.takeSessions, "processes": r.takeProcesses}, map[string]take{"layout": r.takeLayout})
}

// inSteps reads the fields of each step before those of the next.
func (r *reader) inSteps(fields []field, steps ...map[string]take) {
	for _, step := range steps {
		for _, f := range fields {
			if take, ok := step[f.key]; ok {
				take(f)
			}
		}
	}
}

func (r *reader) takeName(f field) {
	r.file.Name = r.text(f)
	if !goodName(r.file.Name) {
		r.wrong(f.at, "name %s: %s", shownName(r.file.Name), badName(r.file.Name))
	}
}

func (r *reader) takeSharedFiles(f field) { r.env = append(r.env, r.envFiles(f, r.dir())...) }
func (r *reader) takeSharedEnv(f field)   { r.env = append(r.env, r.variables(f)...) }

func (r *reader) takeSessions(f field)  { r.takeEntries(f, true) }
func (r *reader) takeProcesses(f field) { r.takeEntries(f, false) }

func (r *reader) takeEntries(f field, tty bool) {
	for _, entry := range r.fields(f, f.key) {
		e := r.draft(entry)
		e.Start.TTY, e.Session = tty, tty
		e.read(entry, tty)
		r.file.Entries = append(r.file.Entries, e.finish())
	}
}

// A draft is an entry that is being read.
type draft struct {
	Entry
	reader *reader
	files  []Variable // of its environment files
	own    []Variable
}

// draft begins the entry of a field.
func (r *reader) draft(f field) *draft {
	if !goodName(f.key) {
		r.wrong(f.at, "name %s: %s", shownName(f.key), badName(f.key))
	}
	d := &draft{reader: r, Entry: Entry{Name: f.key, At: f.at}}
	d.Start.Name, d.Start.CWD = f.key, filepath.Dir(r.file.Path)
	return d
}

// read reads one entry: its keys, or, short, its command alone.
func (d *draft) read(f field, session bool) {
	what := "a process"
	if session {
		what = "a session"
	}
	if _, short := scalar(f.node); short || f.isList() {
		if _, none := f.node.(*ast.NullNode); !none || !session {
			d.command(f)
		}
		return
	}
	takes := d.takes()
	if session {
		delete(takes, "tty")
		delete(takes, "split_log")
	}
	d.reader.each(d.reader.fields(f, what), what, takes)
	d.check(f.at)
}

func (d *draft) check(at Position) {
	s := &d.Start
	switch {
	case len(s.Command) == 0 && !s.TTY:
		d.reader.wrong(at, "process %s has no command", d.Name)
	case s.KeepAlive && s.Restart != nil && s.Restart.Policy != api.PolicyAlways && s.Restart.Policy != "":
		d.reader.wrong(at, "%s: keep_alive is short for restart: always; give one of the two", d.Name)
	case s.TTY && s.SplitLog:
		d.reader.wrong(at, "%s: a terminal has one output; split_log does not go with tty", d.Name)
	}
}

func (d *draft) takes() map[string]take {
	r, s := d.reader, &d.Start
	return map[string]take{
		"command":      d.command,
		"cwd":          d.cwd,
		"env":          func(f field) { d.own = r.variables(f) },
		"env_file":     func(f field) { d.files = r.envFiles(f, r.dir()) },
		"depends_on":   d.dependsOn,
		"keep_alive":   func(f field) { s.KeepAlive = r.boolean(f) },
		"restart":      d.restart,
		"ready":        d.ready,
		"stop_signal":  d.stopSignal,
		"stop_timeout": func(f field) { s.StopTimeoutMS = r.duration(f) },
		"log_limit":    func(f field) { s.LogLimit = r.size(f) },
		"split_log":    func(f field) { s.SplitLog = r.boolean(f) },
		"tty":          func(f field) { s.TTY = r.boolean(f) },
		"autostart":    func(f field) { d.Manual = !r.boolean(f) },
	}
}

// finish puts the environment together: what is more special counts more.
func (d *draft) finish() Entry {
	d.Env = slices.Concat(d.reader.env, d.files, d.own)
	return d.Entry
}

// command reads a line for the shell, or a program and its arguments.
func (d *draft) command(f field) {
	if f.isList() {
		argv := each(d.reader, f, d.reader.filled)
		if len(argv) == 0 || argv[0] == "" {
			d.reader.wrong(f.at, "%s: the command names no program", d.Name)
		}
		d.Start.Command = argv
		return
	}
	line := d.reader.text(f)
	if strings.TrimSpace(line) == "" {
		d.reader.wrong(f.at, "%s: the command is empty", d.Name)
	}
	d.Start.Command = shell(strings.TrimRight(line, "\n"))
}

// shell runs a line.
func shell(line string) []string { return []string{"/bin/sh", "-c", line} }

func (d *draft) cwd(f field) { d.Start.CWD = d.reader.path(d.reader.filled(f)) }

// dependsOn reads a name, names, or names with conditions.
func (d *draft) dependsOn(f field) {
	r := d.reader
	if name, plain := scalar(f.node); plain && name != "" || f.isList() {
		d.After = each(r, f, func(f field) Dependency { return Dependency{Name: r.text(f), At: f.at} })
		return
	}
	for _, dep := range r.fields(f, "depends_on") {
		d.After = append(d.After, Dependency{dep.key, r.condition(dep), dep.at})
	}
}

// condition reads "ready", or a mapping with a condition.
func (r *reader) condition(f field) Condition {
	if _, plain := scalar(f.node); !plain {
		word := field{at: f.at}
		r.each(r.fields(f, "a dependency"), "a dependency", map[string]take{"condition": func(c field) { word = c }})
		if f = word; f.node == nil {
			return ""
		}
	}
	word := r.text(f)
	switch c := Condition(strings.TrimPrefix(word, "process_")); c {
	case "", Started, Ready, Completed, Succeeded:
		return c
	case "healthy", "log_ready":
		return Ready
	}
	r.wrong(f.at, "unknown condition %q", word).hint("it is started, ready, completed or completed_successfully")
	return ""
}

// restart reads a policy, or a mapping with one.
func (d *draft) restart(f field) {
	r, into, at := d.reader, &api.Restart{}, f.at
	d.Start.Restart = into
	policy := func(f field) {
		at, into.Policy = f.at, api.Policy(strings.ReplaceAll(r.text(f), "_", "-"))
	}
	if _, plain := scalar(f.node); plain {
		policy(f)
	} else {
		into.Policy = api.PolicyOnFailure
		r.each(r.fields(f, "restart"), "restart", map[string]take{
			"policy":        policy,
			"max":           func(f field) { into.Max = r.number(f, 0, 1_000_000) },
			"delay":         func(f field) { into.DelayMS = r.duration(f) },
			"success_codes": func(f field) { into.SuccessCodes = each(r, f, func(f field) int { return r.number(f, 0, 255) }) },
		})
	}
	switch into.Policy {
	case "false": // YAML writes no so
		into.Policy = api.PolicyNo
	case api.PolicyNo, api.PolicyOnFailure, api.PolicyAlways, api.PolicyUnlessStopped:
	default:
		r.wrong(at, "unknown restart policy %q", string(into.Policy)).hint("it is no, on-failure, always or unless-stopped")
	}
}

func (d *draft) stopSignal(f field) {
	d.Start.StopSignal = d.reader.text(f)
	if !goodSignal(d.Start.StopSignal) {
		d.reader.wrong(f.at, "%s: unknown signal %q", f.key, d.Start.StopSignal).hint("a name such as TERM or INT, or a number")
	}
}

// goodSignal reports whether s names a signal of this system: TERM, SIGTERM or
// 15.
func goodSignal(s string) bool {
	if n, err := strconv.Atoi(s); err == nil {
		return n >= 1 && n <= 64
	}
	return unix.SignalNum("SIG"+strings.TrimPrefix(strings.ToUpper(s), "SIG")) != 0
}
