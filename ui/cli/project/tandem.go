package project

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/persist/diag"

	"github.com/goccy/go-yaml/ast"
	"golang.org/x/sys/unix"
)

// A fieldReader reads the value of one key.
type fieldReader func(f field)

// readKeys calls the reader of each field; an unknown key is an error.
func (r *reader) readKeys(fields []field, what string, readers map[string]fieldReader) {
	for _, f := range fields {
		if read, known := readers[f.key]; known {
			read(f)
		} else {
			r.rejectUnknownKey(f, what, slices.Sorted(maps.Keys(readers)))
		}
	}
}

func (r *reader) rejectUnknownKey(f field, what string, keys []string) {
	e := r.addError(f.at, "%s has no key %q", what, f.key)
	if like := diag.Nearest(f.key, keys); like != "" {
		e.hint("did you mean %s?", like)
	} else {
		e.hint("it can have %s", strings.Join(keys, ", "))
	}
}

// readTandem reads a tandem.yaml. It reads settings shared by all entries first, wherever they
// appear.
func (r *reader) readTandem(fields []field) {
	later := func(field) {}
	fields = slices.DeleteFunc(fields, func(f field) bool { return strings.HasPrefix(f.key, "x-") }) // x- keys hold anchors
	shared := map[string]fieldReader{"name": r.readName, "env": later, "env_file": later, "sessions": later, "processes": later, "layout": later}
	r.readKeys(fields, "a project file", shared)
	// Values may refer to variables of env_file and env; the layout refers to sessions.
	r.readInSteps(fields,
		map[string]fieldReader{"env_file": func(f field) { r.env = append(r.env, r.readEnvFiles(f, r.dir())...) }},
		map[string]fieldReader{"env": func(f field) { r.env = append(r.env, r.readVariables(f)...) }},
		map[string]fieldReader{
			"sessions":  func(f field) { r.readEntries(f, true) },
			"processes": func(f field) { r.readEntries(f, false) },
		},
		map[string]fieldReader{"layout": r.readLayout})
}

// readInSteps reads the fields of each step before those of the next one.
func (r *reader) readInSteps(fields []field, steps ...map[string]fieldReader) {
	for _, step := range steps {
		for _, f := range fields {
			if read, ok := step[f.key]; ok {
				read(f)
			}
		}
	}
}

func (r *reader) readName(f field) {
	r.file.Name = r.readText(f)
	if fault := nameFault(r.file.Name); fault != "" {
		r.addError(f.at, "name %s: a name %s", names.Quote(r.file.Name), fault)
	}
}

func (r *reader) readEntries(f field, tty bool) {
	for _, entry := range r.fields(f, f.key) {
		e := r.newDraft(entry)
		e.Start.TTY, e.Session = tty, tty
		r.readEntryOf(e.Name, func() { e.readEntry(entry, tty) })
		r.file.Entries = append(r.file.Entries, e.finish())
	}
}

// A draft is an entry under construction.
type draft struct {
	Entry
	reader *reader
	files  []Variable // from its environment files
	own    []Variable
}

func (r *reader) newDraft(f field) *draft {
	d := &draft{reader: r, Entry: Entry{Name: f.key, At: f.at}}
	d.Start.Name, d.Start.CWD = f.key, filepath.Dir(r.file.Path)
	return d
}

// readEntry reads one entry: its keys, or just a command.
func (d *draft) readEntry(f field, session bool) {
	what := "a process"
	if session {
		what = "a session"
	}
	if _, short := scalarText(f.node); short || f.isList() {
		if _, none := f.node.(*ast.NullNode); !none || !session {
			d.readCommand(f)
		}
		return
	}
	readers := d.fieldReaders()
	if session {
		delete(readers, "tty")
		delete(readers, "split_log")
		delete(readers, "stdin")
	}
	d.reader.readKeys(d.reader.fields(f, what), what, readers)
	d.check(f.at)
}

func (d *draft) check(at Position) {
	s := &d.Start
	switch {
	case len(s.Command) == 0 && !s.TTY:
		d.reader.addError(at, "process %s has no command", d.Name)
	case s.KeepAlive && s.Restart != nil && s.Restart.Policy != api.PolicyAlways && s.Restart.Policy != "":
		d.reader.addError(at, "%s: keep_alive is short for restart: always; give one of the two", d.Name)
	case s.TTY && s.SplitLog:
		d.reader.addError(at, "%s: a terminal has one output; split_log cannot be used with tty", d.Name)
	case s.TTY && s.NoStdin:
		d.reader.addError(at, "%s: a session reads its terminal; stdin cannot be used with tty", d.Name)
	}
}

func (d *draft) fieldReaders() map[string]fieldReader {
	r, s := d.reader, &d.Start
	return map[string]fieldReader{
		"command":      d.readCommand,
		"cwd":          d.readCWD,
		"env":          func(f field) { d.own = r.readVariables(f) },
		"env_file":     func(f field) { d.files = r.readEnvFiles(f, r.dir()) },
		"depends_on":   d.readDependsOn,
		"keep_alive":   func(f field) { s.KeepAlive = r.readBool(f) },
		"restart":      d.readRestart,
		"ready":        d.readReady,
		"stop_signal":  d.readStopSignal,
		"stop_timeout": func(f field) { s.StopTimeoutMS = r.readDuration(f) },
		"log_limit":    func(f field) { s.LogLimit = r.readSize(f) },
		"split_log":    func(f field) { s.SplitLog = r.readBool(f) },
		"stdin":        d.readStdin,
		"tty":          func(f field) { s.TTY = r.readBool(f) },
		"autostart":    func(f field) { d.Manual = !r.readBool(f) },
	}
}

// finish returns the entry with its environment. Specific variables override general ones.
func (d *draft) finish() Entry {
	d.Env = slices.Concat(d.reader.env, d.files, d.own)
	return d.Entry
}

// readCommand reads a line for the shell, or a list of a program and its arguments.
func (d *draft) readCommand(f field) {
	if f.isList() {
		argv := readList(d.reader, f, d.reader.expandText)
		if len(argv) == 0 || argv[0] == "" {
			d.reader.addError(f.at, "%s: the command names no program", d.Name)
		}
		d.Start.Command = argv
		return
	}
	line := d.reader.readText(f)
	if strings.TrimSpace(line) == "" {
		d.reader.addError(f.at, "%s: the command is empty", d.Name)
	}
	d.Start.Command = shellArgv(strings.TrimRight(line, "\n"))
}

func shellArgv(line string) []string { return []string{"/bin/sh", "-c", line} }

func (d *draft) readCWD(f field) { d.Start.CWD = d.reader.absPath(d.reader.expandText(f)) }

// readDependsOn reads a name, names, or names with conditions.
func (d *draft) readDependsOn(f field) {
	r := d.reader
	if name, plain := scalarText(f.node); plain && name != "" || f.isList() {
		d.After = readList(r, f, func(f field) Dependency { return Dependency{Name: r.readText(f), At: f.at} })
		return
	}
	for _, dep := range r.fields(f, "depends_on") {
		d.After = append(d.After, Dependency{dep.key, r.readCondition(dep), dep.at})
	}
}

// readCondition reads "ready", or a mapping with a condition.
func (r *reader) readCondition(f field) api.Condition {
	if _, plain := scalarText(f.node); !plain {
		word := field{at: f.at}
		r.readKeys(r.fields(f, "a dependency"), "a dependency", map[string]fieldReader{"condition": func(c field) { word = c }})
		if f = word; f.node == nil {
			return ""
		}
	}
	word := r.readText(f)
	switch c := api.Condition(strings.TrimPrefix(word, "process_")); c {
	case "", api.ConditionStarted, api.ConditionReady, api.ConditionCompleted, api.ConditionSucceeded:
		return c
	case "healthy", "log_ready":
		return api.ConditionReady
	}
	r.addError(f.at, "unknown condition %q", word).hint("must be started, ready, completed or completed_successfully")
	return ""
}

// readRestart reads a policy, or a mapping with one.
func (d *draft) readRestart(f field) {
	r, into, at := d.reader, &api.Restart{}, f.at
	d.Start.Restart = into
	policy := func(f field) {
		at, into.Policy = f.at, api.Policy(strings.ReplaceAll(r.readText(f), "_", "-"))
	}
	if _, plain := scalarText(f.node); plain {
		policy(f)
	} else {
		into.Policy = api.PolicyOnFailure
		r.readKeys(r.fields(f, "restart"), "restart", map[string]fieldReader{
			"policy":      policy,
			"max":         func(f field) { into.Max = r.readNumber(f, 0, 1_000_000) },
			"delay":       func(f field) { into.DelayMS = r.readDuration(f) },
			"fixed_delay": func(f field) { into.FixedDelay = r.readBool(f) },
			"success_codes": func(f field) {
				into.SuccessCodes = readList(r, f, func(f field) int { return r.readNumber(f, 0, 255) })
			},
		})
	}
	if into.Policy == "false" { // YAML 1.1 reads no as false
		into.Policy = api.PolicyNo
	}
	// An alias of a policy is not replaced here, but by the engine. Otherwise the digest would
	// change, and with it processes started by an earlier release would be replaced.
	if _, ok := api.ParsePolicy(string(into.Policy)); !ok {
		r.addError(at, "unknown restart policy %q", string(into.Policy)).hint("must be no, on-failure or always")
	}
}

// readStdin reads "none", for /dev/null.
func (d *draft) readStdin(f field) {
	word := d.reader.readText(f)
	if d.Start.NoStdin = word == "none"; !d.Start.NoStdin {
		d.reader.addError(f.at, "unknown stdin %q", word).hint("must be none; without it, standard input is open and silent")
	}
}

func (d *draft) readStopSignal(f field) {
	d.Start.StopSignal = d.reader.readText(f)
	if !isSignal(d.Start.StopSignal) {
		d.reader.addError(f.at, "%s: unknown signal %q", f.key, d.Start.StopSignal).hint("a name such as TERM or INT, or a number")
	}
}

// isSignal reports whether s is a signal of this system: TERM, SIGTERM or 15.
func isSignal(s string) bool {
	if n, err := strconv.Atoi(s); err == nil {
		return n >= 1 && n <= 64
	}
	return unix.SignalNum("SIG"+strings.TrimPrefix(strings.ToUpper(s), "SIG")) != 0
}
