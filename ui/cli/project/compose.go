package project

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"tandem/engine/api"
)

// A composer reads a file of process-compose. What Tandem does another way, or
// has no use for, becomes a notice.
type composer struct {
	*reader
	shell []string // program and argument that run a line
	timed bool     // it was told that times of probes are not used
}

func (r *reader) compose(fields []field) {
	r.besides()
	c := &composer{reader: r, shell: []string{"/bin/sh", "-c"}}
	r.bare = true
	c.overrides()
	r.inSteps(fields,
		map[string]take{"disable_env_expansion": func(f field) { r.plain = r.boolean(f) }},
		map[string]take{"env_file": r.takeSharedFiles, "environment": r.takeSharedEnv, "shell": c.takeShell, "name": r.takeName})
	for _, f := range fields {
		switch f.key {
		case "processes":
			c.processes(f)
		case "environment", "env_file", "shell", "name", "version", "is_strict", "disable_env_expansion":
		default:
			c.unused(f, "")
		}
	}
}

// overrides tells of the file beside this one that process-compose lays over it.
func (c *composer) overrides() {
	for _, ext := range []string{".yaml", ".yml"} {
		name := "process-compose.override" + ext
		if _, err := os.Stat(c.path(name)); err == nil && name != filepath.Base(c.file.Path) {
			c.file.Notices = append(c.file.Notices, name+", beside it, is not used")
		}
	}
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

func (c *composer) takeShell(f field) {
	part := func(i int) take {
		return func(f field) { c.shell[i] = cmp.Or(c.text(f), c.shell[i]) }
	}
	c.each(f, "shell", "shell", map[string]take{"shell_command": part(0), "shell_argument": part(1)})
}

func (c *composer) processes(f field) {
	for _, p := range c.fields(f, "processes") {
		d := c.draft(p)
		c.process(d, p)
		c.file.Entries = append(c.file.Entries, d.finish())
	}
}

func (c *composer) process(d *draft, f field) {
	c.each(f, "a process", d.Name, c.takes(d))
	if ready := d.Start.Ready; ready != nil && ready.Log == "" && ready.HTTP == "" && len(ready.Command) == 0 {
		d.Start.Ready = nil
	}
	if len(d.Start.Command) == 0 {
		c.wrong(f.at, "process %s has no command", d.Name)
	}
}

func (c *composer) takes(d *draft) map[string]take {
	return map[string]take{
		"command":         func(f field) { c.command(d, f) },
		"entrypoint":      func(f field) { c.entrypoint(d, f) },
		"environment":     func(f field) { d.own = c.variables(f) },
		"env_file":        func(f field) { d.files = c.envFiles(f) },
		"working_dir":     d.cwd,
		"depends_on":      d.dependsOn,
		"availability":    func(f field) { c.availability(d, f) },
		"readiness_probe": func(f field) { c.probe(d, f) },
		"ready_log_line":  func(f field) { c.readiness(d).Log = regexp.QuoteMeta(c.text(f)) },
		"shutdown":        func(f field) { c.shutdown(d, f) },
		"disabled":        func(f field) { d.Manual = c.boolean(f) },
		"is_foreground":   func(f field) { d.Manual = c.boolean(f); d.Start.TTY = d.Manual },
		"is_tty":          func(f field) { d.Start.TTY = c.boolean(f) },
		"description":     func(field) {},
	}
}

// command takes a line; "$$" is how such a file writes one dollar sign.
func (c *composer) command(d *draft, f field) {
	line := c.text(f)
	if strings.TrimSpace(line) == "" {
		return
	}
	if strings.Contains(line, "{{") {
		c.unused(field{key: "the template in command", at: f.at}, d.Name)
	}
	d.Start.Command = c.run(line)
}

// run is what runs a line.
func (c *composer) run(line string) []string {
	if !c.plain {
		line = strings.ReplaceAll(line, "$$", "$")
	}
	return []string{c.shell[0], c.shell[1], line}
}

func (c *composer) entrypoint(d *draft, f field) {
	if argv := each(c.reader, f, c.filled); len(d.Start.Command) == 0 {
		d.Start.Command = argv
	}
}

func (c *composer) availability(d *draft, f field) {
	into := &api.Restart{Policy: api.PolicyNo}
	c.each(f, "availability", "availability of "+d.Name, map[string]take{
		"restart":         func(f field) { c.policy(into, d, f) },
		"backoff_seconds": func(f field) { into.DelayMS = 1000 * c.number(f, 3600) },
		"max_restarts":    func(f field) { into.Max = c.number(f, 1_000_000) },
	})
	if into.Policy != api.PolicyNo {
		d.Start.Restart = into
	}
}

func (c *composer) policy(into *api.Restart, d *draft, f field) {
	switch s := c.text(f); s {
	case "always":
		into.Policy = api.PolicyAlways
	case "on_failure", "on-failure":
		into.Policy = api.PolicyOnFailure
	case "no", "", "false":
	case "exit_on_failure":
		c.unused(field{key: "exit_on_failure", at: f.at}, d.Name)
	default:
		c.wrong(f.at, "unknown restart policy %q", s).hint("it is no, on_failure or always")
	}
}

func (c *composer) readiness(d *draft) *api.Readiness {
	if d.Start.Ready == nil {
		d.Start.Ready = &api.Readiness{}
	}
	return d.Start.Ready
}

// maxProbe bounds the times and counts of probes.
const maxProbe = 10_000

func (c *composer) probe(d *draft, f field) {
	delay, period, failures, last := 0, 10, 3, field{}
	number := func(into *int) take {
		return func(f field) { *into, last = c.number(f, maxProbe), f }
	}
	unread := func(f field) { last = f }
	c.each(f, "readiness_probe", "readiness_probe of "+d.Name, map[string]take{
		"http_get":              func(f field) { c.readiness(d).HTTP = c.httpGet(d, f) },
		"exec":                  func(f field) { c.readiness(d).Command = c.execProbe(d, f) },
		"initial_delay_seconds": number(&delay),
		"period_seconds":        number(&period),
		"failure_threshold":     number(&failures),
		"timeout_seconds":       unread,
		"success_threshold":     unread,
	})
	c.probeTimes(d, last, delay+period*failures)
}

// probeTimes gives a probe that is patient its time in seconds: one that is less
// than ours is not told from the defaults. The rest of what such a file says of
// time has no meaning here, as we look often.
func (c *composer) probeTimes(d *draft, last field, seconds int) {
	if seconds > 60 && d.Start.Ready != nil {
		d.Start.Ready.TimeoutMS = min(seconds, 3600) * 1000
	}
	if last.key != "" && !c.timed {
		c.timed = true
		c.notice(last.at, "of the times and thresholds of probes only their sum is used, as a time-out if it is more than 60s")
	}
}

func (c *composer) httpGet(d *draft, f field) string {
	part := map[string]string{"scheme": "http", "host": "127.0.0.1", "path": "/"}
	fill := func(f field) { part[f.key] = c.filled(f) }
	c.each(f, "http_get", "http_get of "+d.Name, map[string]take{"scheme": fill, "host": fill, "path": fill, "port": fill})
	if n, err := strconv.Atoi(part["port"]); part["port"] != "" && (err != nil || n < 1 || n > 65535) {
		c.wrong(f.at, "http_get: %q is not a valid port", part["port"])
	}
	host := part["host"]
	if part["port"] != "" {
		host += ":" + part["port"]
	}
	address := part["scheme"] + "://" + host + "/" + strings.TrimPrefix(part["path"], "/")
	if !canBeAsked(address) {
		c.wrong(f.at, "http_get: %q is not a valid address", address)
	}
	return address
}

func (c *composer) execProbe(d *draft, f field) (argv []string) {
	c.each(f, "exec", "exec of "+d.Name, map[string]take{"command": func(f field) { argv = c.run(c.text(f)) }})
	return argv
}

func (c *composer) shutdown(d *draft, f field) {
	c.each(f, "shutdown", "shutdown of "+d.Name, map[string]take{
		"signal": func(f field) {
			if n := c.number(f, 64); n > 0 {
				d.Start.StopSignal = strconv.Itoa(n)
			}
		},
		"timeout_seconds": func(f field) { d.Start.StopTimeoutMS = 1000 * c.number(f, 3600) },
	})
}
