package project

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tandem/engine/api"
)

// A composer reads a process-compose file. A key with a different effect here is an error; a key
// without an effect becomes a notice.
type composer struct {
	reader *reader
	shell  []string   // program and option that run a shell line
	shared []Variable // environment shared by all processes
	strict bool       // unknown keys are errors
	timed  bool       // the notice about probe times was added
	waits  []composeWait
}

// A composeWait is an entry of depends_on.
type composeWait struct {
	of string // name of the waiting process
	on Dependency
	in string // condition as spelled in the file
}

func (r *reader) readCompose(fields []field) {
	r.loadDotEnv()
	c := &composer{reader: r, shell: []string{"bash", "-c"}}
	if r.getenv != nil {
		c.shell[0] = cmp.Or(r.getenv("COMPOSE_SHELL"), c.shell[0])
	}
	r.expandBare = true
	// Values may refer to .env, and processes to the shared settings, so those are read first.
	r.readInSteps(fields,
		map[string]fieldReader{
			"disable_env_expansion": func(f field) { r.verbatim = c.readFlag(f) },
			"is_strict":             func(f field) { c.strict = c.readFlag(f) }},
		map[string]fieldReader{
			"environment": func(f field) { c.shared = c.readVariables(f) },
			"shell":       c.readShell,
			"name":        r.readName})
	read := []string{"disable_env_expansion", "is_strict", "environment", "shell", "name", "version", "processes", "ordered_shutdown"}
	for _, f := range fields {
		switch {
		case f.key == "processes":
			c.readComposeProcesses(f)
		case f.key == "extends":
			c.reader.addError(f.at, "extends %s is not supported, and this file alone is only part of the project", c.reader.readText(f)).hint("merge both files into one")
		case f.key == "env_cmds" && len(c.reader.fields(f, f.key)) > 0:
			c.reader.addError(f.at, "env_cmds is not supported").hint("run them in the commands of the processes")
		case !slices.Contains(read, f.key):
			c.noteUnknown(f, "", slices.Concat(read, projectUnread()))
		}
	}
	c.checkWaits()
}

func projectUnread() []string {
	return []string{"log_location", "log_level", "log_length", "log_configuration", "log_format", "vars", "is_tui_disabled", "env_cmds",
		"file_names", "env_file_names", "dot_env_vars", "mcp_server", "mcpctl_server"}
}

func processUnread() []string {
	return []string{"name", "log_location", "log_configuration", "liveness_probe", "disable_ansi_colors", "namespace", "vars",
		"launch_timeout_seconds", "original_config", "replica_num", "replica_name", "executable", "args", "watch",
		"truncate_log", "monitor_for", "monitor_silence_threshold"}
}

// readKeys calls the reader of each key in f, and adds a notice for keys without one. label names f
// in errors, and owner names it in notices.
func (c *composer) readKeys(f field, label, owner string, readers map[string]fieldReader) {
	for _, f := range c.reader.fields(f, label) {
		if read, known := readers[f.key]; known {
			read(f)
		} else {
			c.noteUnused(f, owner)
		}
	}
}

// noteUnknown adds a notice about a key without effect. A key unknown to process-compose too may be
// a typo.
func (c *composer) noteUnknown(f field, where string, known []string) {
	if slices.Contains(known, f.key) || strings.HasPrefix(f.key, "x-") {
		c.noteUnused(f, where)
		return
	}
	suggestion := suggest(f.key, known)
	if c.strict {
		c.reader.addError(f.at, "unknown key %q%s", f.key, suggestion).hint("is_strict is set")
	}
	c.reader.addNotice(f.at, "unknown key %q is not used%s", f.key, suggestion)
}

func (c *composer) noteUnused(f field, where string) {
	if strings.HasPrefix(f.key, "x-") {
		return
	}
	if where != "" {
		where = " of " + where
	}
	c.reader.addNotice(f.at, "%s%s is not used", f.key, where)
}

// readFlag reads a bool in any spelling of YAML 1.1.
func (c *composer) readFlag(f field) bool {
	switch strings.ToLower(c.reader.expandText(f)) {
	case "true", "yes", "on":
		return true
	case "false", "no", "off":
	default:
		c.reader.addError(f.at, "%s must be true or false", f.key)
	}
	return false
}

// readUntemplated reads a value for which process-compose renders templates. Templates are errors.
func (c *composer) readUntemplated(f field) string {
	if strings.Contains(c.reader.readText(f), "{{") {
		c.reader.addError(f.at, "%s has a template; {{.VAR}} is not supported", f.key).hint("write the value, or use ${VAR}")
	}
	return c.reader.expandText(f)
}

func (c *composer) readVariables(f field) []Variable {
	if f.isList() {
		return readList(c.reader, f, func(f field) Variable { c.readUntemplated(f); return c.reader.readSetting(f) })
	}
	for _, v := range c.reader.fields(f, f.key) {
		c.readUntemplated(v)
	}
	return c.reader.readVariables(f)
}

func (c *composer) readShell(f field) {
	part := func(i int) fieldReader {
		return func(f field) { c.shell[i] = cmp.Or(c.reader.expandText(f), c.shell[i]) }
	}
	c.readKeys(f, "shell", "shell", map[string]fieldReader{"shell_command": part(0), "shell_argument": part(1)})
}

func (c *composer) readComposeProcesses(f field) {
	for _, p := range c.reader.fields(f, "processes") {
		d := c.reader.newDraft(p)
		c.reader.readEntryOf(d.Name, func() { c.readProcess(d, p) })
		c.reader.file.Entries = append(c.reader.file.Entries, d.Entry)
	}
}

func (c *composer) readProcess(d *draft, f field) {
	var literal, hidden bool // literal: the command has no templates; hidden: the process does not get .env
	fields := c.reader.fields(f, "a process")
	// These come first: env_file is relative to working_dir, and how the command is read depends on
	// is_template_disabled.
	first := map[string]fieldReader{
		"working_dir":          func(f field) { d.Start.CWD = c.reader.absPath(c.readUntemplated(f)) },
		"is_template_disabled": func(f field) { literal = c.readFlag(f) },
		"is_dotenv_disabled":   func(f field) { hidden = c.readFlag(f) },
	}
	c.reader.readInSteps(fields, first)
	readers := c.fieldReaders(d, literal)
	known := slices.Concat(slices.Sorted(maps.Keys(first)), slices.Sorted(maps.Keys(readers)), processUnread())
	for _, f := range fields {
		if read := readers[f.key]; read != nil {
			read(f)
		} else if first[f.key] == nil {
			c.noteUnknown(f, d.Name, known)
		}
	}
	for _, f := range fields { // last, because it overrides disabled
		if f.key == "is_disabled" && c.reader.expandText(f) != "" {
			d.Manual = c.readFlag(f)
		}
	}
	c.checkProbe(d, f)
	if len(d.Start.Command) == 0 {
		c.reader.addError(f.at, "process %s has no command", d.Name)
	}
	d.Env = c.mergeEnv(d, hidden)
}

// mergeEnv returns the complete environment of a process. The caller's variables override .env.
func (c *composer) mergeEnv(d *draft, hidden bool) []Variable {
	// process-compose sets these two variables in every process.
	env := []Variable{{"PC_PROC_NAME", d.Name}, {"PC_REPLICA_NUM", "0"}}
	for _, v := range c.reader.env {
		if c.reader.getenv != nil {
			v.Value = cmp.Or(c.reader.getenv(v.Name), v.Value)
		}
		if !hidden {
			env = append(env, v)
		}
	}
	return slices.Concat(env, c.shared, d.files, d.own)
}

// checkProbe removes a probe without a condition, and rejects one with two kinds.
func (c *composer) checkProbe(d *draft, f field) {
	r := d.Start.Ready
	switch {
	case r == nil:
	case r.Log != "" && (r.HTTP != "" || len(r.Command) > 0):
		c.reader.addError(f.at, "process %s has a readiness_probe and a ready_log_line; give one of the two", d.Name)
	case r.Log == "" && r.HTTP == "" && len(r.Command) == 0:
		d.Start.Ready = nil
	}
}

func (c *composer) fieldReaders(d *draft, literal bool) map[string]fieldReader {
	s := &d.Start
	manual := func(on bool) { d.Manual = d.Manual || on }
	terminal := func(f field) { s.TTY = c.readFlag(f) || s.TTY }
	return map[string]fieldReader{
		"command":            func(f field) { c.readCommand(d, f, literal) },
		"entrypoint":         func(f field) { c.readEntrypoint(d, f) },
		"environment":        func(f field) { d.own = c.readVariables(f) },
		"env_file":           func(f field) { d.files = c.reader.readEnvFiles(f, s.CWD) },
		"depends_on":         func(f field) { c.readDependsOn(d, f) },
		"availability":       func(f field) { c.readAvailability(d, f) },
		"success_exit_codes": func(f field) { d.ensureRestart().SuccessCodes = readList(c.reader, f, c.readExitCode) },
		"readiness_probe":    func(f field) { c.readProbe(d, f) },
		"ready_log_line":     func(f field) { d.ensureReadiness().Log = regexp.QuoteMeta(c.reader.expandText(f)) },
		"shutdown":           func(f field) { c.readShutdown(d, f) },
		"disabled":           func(f field) { manual(c.readFlag(f)) },
		"is_disabled":        func(field) {},
		"is_foreground":      func(f field) { on := c.readFlag(f); manual(on); s.TTY = s.TTY || on },
		"is_tty":             terminal,
		"is_interactive":     terminal,
		"description":        func(field) {},
		"schedule":           func(f field) { manual(c.readSchedule(d, f)) },
		"mcp":                func(f field) { c.noteUnused(f, d.Name); manual(true) },
		"extends": func(f field) {
			c.reader.addError(f.at, "extends %s is not supported", c.reader.readText(f)).hint("use a YAML anchor and <<")
		},
		"replicas": func(f field) {
			if c.reader.readNumber(f, 0, 1000) > 1 {
				c.reader.addError(f.at, "replicas is not supported").hint("write each replica as its own process")
			}
		},
		"is_daemon": func(f field) {
			if c.readFlag(f) {
				c.reader.addError(f.at, "%s: a process that goes to the background by itself is not supported", f.key).hint("run it in the foreground, without is_daemon")
			}
		},
		"is_elevated": func(f field) {
			if c.readFlag(f) {
				c.reader.addError(f.at, "%s is not supported", f.key).hint("write sudo in the command")
			}
		},
	}
}

// shellCommand returns the arguments that run a shell line, or nil for an empty line. ${NAME} is
// expanded here, $NAME by the shell.
func (c *composer) shellCommand(f field, literal bool) []string {
	c.reader.expandBare = false
	defer func() { c.reader.expandBare = true }()
	if !literal {
		c.readUntemplated(f)
	}
	line := c.reader.expandText(f)
	if strings.TrimSpace(line) == "" {
		return nil
	}
	return []string{c.shell[0], c.shell[1], line}
}

// readCommand reads the key command, a shell line. If the key entrypoint is given too, command
// overrides it.
func (c *composer) readCommand(d *draft, f field, literal bool) {
	if argv := c.shellCommand(f, literal); argv != nil {
		d.Start.Command = argv
	}
}

func (c *composer) readEntrypoint(d *draft, f field) {
	if argv := readList(c.reader, f, c.reader.expandText); len(d.Start.Command) == 0 {
		d.Start.Command = argv
	}
}

func (c *composer) readExitCode(f field) int { return c.reader.readNumber(f, 0, 255) }

func (d *draft) ensureRestart() *api.Restart {
	if d.Start.Restart == nil {
		d.Start.Restart = &api.Restart{Policy: api.PolicyNo}
	}
	return d.Start.Restart
}

// minBackoff is process-compose's delay between restarts without backoff_seconds, in milliseconds.
const minBackoff = 1000

func (c *composer) readAvailability(d *draft, f field) {
	into := *d.ensureRestart()
	into.DelayMS, into.FixedDelay = minBackoff, true
	c.readKeys(f, "availability", "availability of "+d.Name, map[string]fieldReader{
		"restart":         func(f field) { c.readPolicy(&into, d, f) },
		"backoff_seconds": func(f field) { into.DelayMS = max(1000*c.reader.readNumber(f, 0, 3600), minBackoff) },
		"max_restarts":    func(f field) { into.Max = c.reader.readNumber(f, 0, 1_000_000) },
	})
	if into.Policy == api.PolicyNo {
		into.DelayMS, into.FixedDelay, into.Max = 0, false, 0
	}
	*d.Start.Restart = into
}

func (c *composer) readPolicy(into *api.Restart, d *draft, f field) {
	switch s := c.reader.expandText(f); s {
	case "always":
		into.Policy = api.PolicyAlways
	case "on_failure", "on-failure":
		into.Policy = api.PolicyOnFailure
	case "no", "", "false":
	case "exit_on_failure":
		c.noteUnused(field{key: "exit_on_failure", at: f.at}, d.Name)
	default:
		c.reader.addError(f.at, "unknown restart policy %q", s).hint("must be no, on_failure or always")
	}
}

// readSchedule adds a notice that schedules are not used. It reports whether up must leave the
// process to be started by hand.
func (c *composer) readSchedule(d *draft, f field) bool {
	c.noteUnused(f, d.Name)
	scheduled, now := false, false
	c.readKeys(f, "schedule", "schedule of "+d.Name, map[string]fieldReader{
		"cron":           func(f field) { scheduled = scheduled || c.reader.expandText(f) != "" },
		"interval":       func(f field) { scheduled = scheduled || c.reader.expandText(f) != "" },
		"run_on_start":   func(f field) { now = c.readFlag(f) },
		"timezone":       func(field) {},
		"max_concurrent": func(field) {},
	})
	return scheduled && !now
}

// readDependsOn reads names with conditions.
func (c *composer) readDependsOn(d *draft, f field) {
	for _, dep := range c.reader.fields(f, "depends_on") {
		word := "process_completed" // default of process-compose's code; its manual says otherwise
		if name, plain := scalarText(dep.node); plain && name != "" {
			word = name
		} else {
			c.readKeys(dep, "a dependency", "depends_on of "+d.Name, map[string]fieldReader{"condition": func(f field) { word = c.reader.expandText(f) }})
		}
		on := Dependency{dep.key, composeConditions()[word], dep.at}
		if on.Condition == "" {
			c.reader.addError(dep.at, "unknown condition %q", word).hint("must be one of %s", strings.Join(slices.Sorted(maps.Keys(composeConditions())), ", "))
		}
		d.After = append(d.After, on)
		c.waits = append(c.waits, composeWait{d.Name, on, word})
	}
}

func composeConditions() map[string]api.Condition {
	return map[string]api.Condition{
		"process_started": api.ConditionStarted, "process_healthy": api.ConditionReady, "process_log_ready": api.ConditionReady,
		"process_completed": api.ConditionCompleted, "process_completed_successfully": api.ConditionSucceeded,
	}
}

// checkWaits rejects waits that can never end. It drops waits for processes not started by up, as
// process-compose does.
func (c *composer) checkWaits() {
	for _, w := range c.waits {
		of, to := c.reader.file.Entry(w.of), c.reader.file.Entry(w.on.Name)
		if to == nil || c.reader.faults[to.Name] != nil { // check reports it, and leaves this one out too
			continue
		}
		c.reader.readEntryOf(w.of, func() { c.checkWait(w, of, to) })
	}
}

func (c *composer) checkWait(w composeWait, of, to *Entry) {
	ready := to.Start.Ready
	switch {
	case w.in == "process_healthy" && (ready == nil || ready.HTTP == "" && len(ready.Command) == 0):
		c.reader.addError(w.on.At, "%s waits for %s to be healthy, but %[2]s has no readiness_probe", w.of, w.on.Name)
	case w.in == "process_log_ready" && (ready == nil || ready.Log == ""):
		c.reader.addError(w.on.At, "%s waits for a log line of %s, but %[2]s has no ready_log_line", w.of, w.on.Name)
	case !to.Manual || of.Manual:
	case c.strict:
		c.reader.addError(w.on.At, "%s depends on %s, which is disabled", w.of, w.on.Name).hint("is_strict is set")
	default:
		c.reader.addNotice(w.on.At, "%s does not wait for %s, which up does not start", w.of, w.on.Name)
		of.After = slices.DeleteFunc(of.After, func(d Dependency) bool { return d.Name == w.on.Name })
	}
}

func (c *composer) readShutdown(d *draft, f field) {
	c.readKeys(f, "shutdown", "shutdown of "+d.Name, map[string]fieldReader{
		"signal": func(f field) {
			if n := c.reader.readNumber(f, 0, 64); n > 0 {
				d.Start.StopSignal = strconv.Itoa(n)
			}
		},
		"timeout_seconds": func(f field) { d.Start.StopTimeoutMS = 1000 * c.reader.readNumber(f, 0, 3600) },
	})
}
