package project

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tandem/engine/api"
	"tandem/persist/diag"
)

// A composer reads a file of process-compose. A key that would work differently here
// is an error; one without effect here becomes a notice.
type composer struct {
	*reader
	shell  []string   // program and argument that run a line
	shared []Variable // environment of all processes
	strict bool       // unknown keys are errors
	timed  bool       // the notice about the times of probes was given
	waits  []wait
}

// A wait is an entry of depends_on.
type wait struct {
	of string // name of the waiting process
	on Dependency
	in string // condition as written
}

func (r *reader) compose(fields []field) {
	r.besides()
	c := &composer{reader: r, shell: []string{"bash", "-c"}}
	if r.getenv != nil {
		c.shell[0] = cmp.Or(r.getenv("COMPOSE_SHELL"), c.shell[0])
	}
	r.bare = true
	r.inSteps(fields,
		map[string]take{
			"disable_env_expansion": func(f field) { r.plain = c.flag(f) },
			"is_strict":             func(f field) { c.strict = c.flag(f) }},
		map[string]take{
			"environment": func(f field) { c.shared = c.variables(f) },
			"shell":       c.takeShell,
			"name":        r.takeName})
	read := []string{"disable_env_expansion", "is_strict", "environment", "shell", "name", "version", "processes", "ordered_shutdown"}
	for _, f := range fields {
		switch {
		case f.key == "processes":
			c.processes(f)
		case f.key == "extends":
			c.wrong(f.at, "extends %s is not supported, and this file alone is only part of the project", c.text(f)).hint("merge both files into one")
		case f.key == "env_cmds" && len(c.fields(f, f.key)) > 0:
			c.wrong(f.at, "env_cmds is not supported").hint("run them in the commands of the processes")
		case !slices.Contains(read, f.key):
			c.unread(f, "", slices.Concat(read, projectUnread()))
		}
	}
	c.checkWaits()
}

// projectUnread returns the top-level keys of process-compose that have no effect here.
func projectUnread() []string {
	return []string{"log_location", "log_level", "log_length", "log_configuration", "log_format", "vars", "is_tui_disabled", "env_cmds",
		"file_names", "env_file_names", "dot_env_vars", "mcp_server", "mcpctl_server"}
}

// processUnread returns the keys of a process that have no effect here.
func processUnread() []string {
	return []string{"name", "log_location", "log_configuration", "liveness_probe", "disable_ansi_colors", "namespace", "vars",
		"launch_timeout_seconds", "original_config", "replica_num", "replica_name", "executable", "args", "watch",
		"truncate_log", "monitor_for", "monitor_silence_threshold"}
}

// each gives every field of a mapping to what reads it, and notes the others as
// unused where they are.
func (c *composer) each(f field, what, where string, takes map[string]take) {
	for _, f := range c.fields(f, what) {
		if take, known := takes[f.key]; known {
			take(f)
		} else {
			c.unused(f, where)
		}
	}
}

// unread notes a key without effect. One that process-compose does not know either may
// be a mistake.
func (c *composer) unread(f field, where string, known []string) {
	if slices.Contains(known, f.key) || strings.HasPrefix(f.key, "x-") {
		c.unused(f, where)
		return
	}
	meant := ""
	if like := diag.Nearest(f.key, known); like != "" {
		meant = "; did you mean " + like + "?"
	}
	if c.strict {
		c.wrong(f.at, "unknown key %q%s", f.key, meant).hint("is_strict is set")
	}
	c.notice(f.at, "unknown key %q is not used%s", f.key, meant)
}

// unused notes a key that has no effect.
func (c *composer) unused(f field, where string) {
	if strings.HasPrefix(f.key, "x-") {
		return
	}
	if where != "" {
		where = " of " + where
	}
	c.notice(f.at, "%s%s is not used", f.key, where)
}

// flag reads a bool in any of YAML 1.1's spellings.
func (c *composer) flag(f field) bool {
	switch strings.ToLower(c.filled(f)) {
	case "true", "yes", "on":
		return true
	case "false", "no", "off":
	default:
		c.wrong(f.at, "%s must be true or false", f.key)
	}
	return false
}

// rendered is a value in which process-compose renders templates.
func (c *composer) rendered(f field) string {
	if strings.Contains(c.text(f), "{{") {
		c.wrong(f.at, "%s has a template; {{.VAR}} is not supported", f.key).hint("write the value, or use ${VAR}")
	}
	return c.filled(f)
}

func (c *composer) variables(f field) []Variable {
	if f.isList() {
		return each(c.reader, f, func(f field) Variable { c.rendered(f); return c.setting(f) })
	}
	for _, v := range c.fields(f, f.key) {
		c.rendered(v)
	}
	return c.reader.variables(f)
}

func (c *composer) takeShell(f field) {
	part := func(i int) take {
		return func(f field) { c.shell[i] = cmp.Or(c.filled(f), c.shell[i]) }
	}
	c.each(f, "shell", "shell", map[string]take{"shell_command": part(0), "shell_argument": part(1)})
}

func (c *composer) processes(f field) {
	for _, p := range c.fields(f, "processes") {
		d := c.draft(p)
		c.process(d, p)
		c.file.Entries = append(c.file.Entries, d.Entry)
	}
}

func (c *composer) process(d *draft, f field) {
	var literal, hidden bool // the command has no templates; .env is not for this process
	fields := c.fields(f, "a process")
	first := map[string]take{
		"working_dir":          func(f field) { d.Start.CWD = c.path(c.rendered(f)) },
		"is_template_disabled": func(f field) { literal = c.flag(f) },
		"is_dotenv_disabled":   func(f field) { hidden = c.flag(f) },
	}
	c.inSteps(fields, first)
	takes := c.takes(d, literal)
	known := slices.Concat(slices.Sorted(maps.Keys(first)), slices.Sorted(maps.Keys(takes)), processUnread())
	for _, f := range fields {
		if take := takes[f.key]; take != nil {
			take(f)
		} else if first[f.key] == nil {
			c.unread(f, d.Name, known)
		}
	}
	for _, f := range fields { // last, as it overrules disabled
		if f.key == "is_disabled" && c.filled(f) != "" {
			d.Manual = c.flag(f)
		}
	}
	c.checkProbe(d, f)
	if len(d.Start.Command) == 0 {
		c.wrong(f.at, "process %s has no command", d.Name)
	}
	d.Env = c.environment(d, hidden)
}

// environment puts an environment together. The caller's variables count more than
// those of .env.
func (c *composer) environment(d *draft, hidden bool) []Variable {
	env := []Variable{{"PC_PROC_NAME", d.Name}, {"PC_REPLICA_NUM", "0"}}
	for _, v := range c.env {
		if c.getenv != nil {
			v.Value = cmp.Or(c.getenv(v.Name), v.Value)
		}
		if !hidden {
			env = append(env, v)
		}
	}
	return slices.Concat(env, c.shared, d.files, d.own)
}

// checkProbe removes a probe without a condition.
func (c *composer) checkProbe(d *draft, f field) {
	r := d.Start.Ready
	switch {
	case r == nil:
	case r.Log != "" && (r.HTTP != "" || len(r.Command) > 0):
		c.wrong(f.at, "process %s has a readiness_probe and a ready_log_line; give one of the two", d.Name)
	case r.Log == "" && r.HTTP == "" && len(r.Command) == 0:
		d.Start.Ready = nil
	}
}

func (c *composer) takes(d *draft, literal bool) map[string]take {
	s := &d.Start
	manual := func(on bool) { d.Manual = d.Manual || on }
	terminal := func(f field) { s.TTY = c.flag(f) || s.TTY }
	return map[string]take{
		"command":            func(f field) { c.command(d, f, literal) },
		"entrypoint":         func(f field) { c.entrypoint(d, f) },
		"environment":        func(f field) { d.own = c.variables(f) },
		"env_file":           func(f field) { d.files = c.envFiles(f, s.CWD) },
		"depends_on":         func(f field) { c.dependsOn(d, f) },
		"availability":       func(f field) { c.availability(d, f) },
		"success_exit_codes": func(f field) { c.restart(d).SuccessCodes = each(c.reader, f, c.exitCode) },
		"readiness_probe":    func(f field) { c.probe(d, f) },
		"ready_log_line":     func(f field) { c.readiness(d).Log = regexp.QuoteMeta(c.filled(f)) },
		"shutdown":           func(f field) { c.shutdown(d, f) },
		"disabled":           func(f field) { manual(c.flag(f)) },
		"is_disabled":        func(field) {},
		"is_foreground":      func(f field) { on := c.flag(f); manual(on); s.TTY = s.TTY || on },
		"is_tty":             terminal,
		"is_interactive":     terminal,
		"description":        func(field) {},
		"schedule":           func(f field) { manual(c.schedule(d, f)) },
		"mcp":                func(f field) { c.unused(f, d.Name); manual(true) },
		"extends": func(f field) {
			c.wrong(f.at, "extends %s is not supported", c.text(f)).hint("use a YAML anchor and <<")
		},
		"replicas": func(f field) {
			if c.number(f, 0, 1000) > 1 {
				c.wrong(f.at, "replicas is not supported").hint("write each replica as its own process")
			}
		},
		"is_daemon": func(f field) {
			if c.flag(f) {
				c.wrong(f.at, "%s: a process that goes to the background by itself is not supported", f.key).hint("run it in the foreground, without is_daemon")
			}
		},
		"is_elevated": func(f field) {
			if c.flag(f) {
				c.wrong(f.at, "%s is not supported", f.key).hint("write sudo in the command")
			}
		},
	}
}

// line returns what runs a line; nil for an empty one. ${NAME} is filled in before the
// shell sees it, $NAME is left to the shell.
func (c *composer) line(f field, literal bool) []string {
	c.bare = false
	defer func() { c.bare = true }()
	if !literal {
		c.rendered(f)
	}
	line := c.filled(f)
	if strings.TrimSpace(line) == "" {
		return nil
	}
	return []string{c.shell[0], c.shell[1], line}
}

// command takes a line, which counts more than an entrypoint.
func (c *composer) command(d *draft, f field, literal bool) {
	if argv := c.line(f, literal); argv != nil {
		d.Start.Command = argv
	}
}

func (c *composer) entrypoint(d *draft, f field) {
	if argv := each(c.reader, f, c.filled); len(d.Start.Command) == 0 {
		d.Start.Command = argv
	}
}

func (c *composer) exitCode(f field) int { return c.number(f, 0, 255) }

func (c *composer) restart(d *draft) *api.Restart {
	if d.Start.Restart == nil {
		d.Start.Restart = &api.Restart{Policy: api.PolicyNo}
	}
	return d.Start.Restart
}

func (c *composer) availability(d *draft, f field) {
	into := *c.restart(d)
	c.each(f, "availability", "availability of "+d.Name, map[string]take{
		"restart":         func(f field) { c.policy(&into, d, f) },
		"backoff_seconds": func(f field) { into.DelayMS = 1000 * c.number(f, 0, 3600) },
		"max_restarts":    func(f field) { into.Max = c.number(f, 0, 1_000_000) },
	})
	if into.Policy == api.PolicyNo {
		into.DelayMS, into.Max = 0, 0
	}
	*d.Start.Restart = into
}

func (c *composer) policy(into *api.Restart, d *draft, f field) {
	switch s := c.filled(f); s {
	case "always":
		into.Policy = api.PolicyAlways
	case "on_failure", "on-failure":
		into.Policy = api.PolicyOnFailure
	case "no", "", "false":
	case "exit_on_failure":
		c.unused(field{key: "exit_on_failure", at: f.at}, d.Name)
	default:
		c.wrong(f.at, "unknown restart policy %q", s).hint("must be no, on_failure or always")
	}
}

// schedule reports whether up must not start a process, and notes that its schedule
// is not used.
func (c *composer) schedule(d *draft, f field) bool {
	c.unused(f, d.Name)
	scheduled, now := false, false
	c.each(f, "schedule", "schedule of "+d.Name, map[string]take{
		"cron":           func(f field) { scheduled = scheduled || c.filled(f) != "" },
		"interval":       func(f field) { scheduled = scheduled || c.filled(f) != "" },
		"run_on_start":   func(f field) { now = c.flag(f) },
		"timezone":       func(field) {},
		"max_concurrent": func(field) {},
	})
	return scheduled && !now
}

// dependsOn reads names with conditions.
func (c *composer) dependsOn(d *draft, f field) {
	for _, dep := range c.fields(f, "depends_on") {
		word := "process_completed" // process-compose's zero value, whatever its manual says
		if name, plain := scalar(dep.node); plain && name != "" {
			word = name
		} else {
			c.each(dep, "a dependency", "depends_on of "+d.Name, map[string]take{"condition": func(f field) { word = c.filled(f) }})
		}
		on := Dependency{dep.key, conditions()[word], dep.at}
		if on.Condition == "" {
			c.wrong(dep.at, "unknown condition %q", word).hint("must be one of %s", strings.Join(slices.Sorted(maps.Keys(conditions())), ", "))
		}
		d.After = append(d.After, on)
		c.waits = append(c.waits, wait{d.Name, on, word})
	}
}

func conditions() map[string]Condition {
	return map[string]Condition{
		"process_started": Started, "process_healthy": Ready, "process_log_ready": Ready,
		"process_completed": Completed, "process_completed_successfully": Succeeded,
	}
}

// checkWaits rejects waits that could never end, and drops those for processes that up
// does not start: process-compose does not wait for them either.
func (c *composer) checkWaits() {
	for _, w := range c.waits {
		of, to := c.file.Entry(w.of), c.file.Entry(w.on.Name)
		if to == nil { // check reports it
			continue
		}
		ready := to.Start.Ready
		switch {
		case w.in == "process_healthy" && (ready == nil || ready.HTTP == "" && len(ready.Command) == 0):
			c.wrong(w.on.At, "%s waits for %s to be healthy, but %[2]s has no readiness_probe", w.of, w.on.Name)
		case w.in == "process_log_ready" && (ready == nil || ready.Log == ""):
			c.wrong(w.on.At, "%s waits for a log line of %s, but %[2]s has no ready_log_line", w.of, w.on.Name)
		case !to.Manual || of.Manual:
		case c.strict:
			c.wrong(w.on.At, "%s depends on %s, which is disabled", w.of, w.on.Name).hint("is_strict is set")
		default:
			c.notice(w.on.At, "%s does not wait for %s, which up does not start", w.of, w.on.Name)
			of.After = slices.DeleteFunc(of.After, func(d Dependency) bool { return d.Name == w.on.Name })
		}
	}
}

func (c *composer) shutdown(d *draft, f field) {
	c.each(f, "shutdown", "shutdown of "+d.Name, map[string]take{
		"signal": func(f field) {
			if n := c.number(f, 0, 64); n > 0 {
				d.Start.StopSignal = strconv.Itoa(n)
			}
		},
		"timeout_seconds": func(f field) { d.Start.StopTimeoutMS = 1000 * c.number(f, 0, 3600) },
	})
}
