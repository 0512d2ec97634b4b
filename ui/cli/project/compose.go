package project

import (
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

func (r *reader) compose(fields []field) error {
	if err := r.besides(); err != nil {
		return err
	}
	c := &composer{reader: r, shell: []string{"/bin/sh", "-c"}}
	r.bare = true
	c.overrides()
	for _, f := range fields {
		if f.key == "disable_env_expansion" {
			plain, err := c.boolean(f)
			if err != nil {
				return err
			}
			r.plain = plain
		}
	}
	for _, f := range fields {
		var err error
		switch f.key {
		case "env_file":
			err = r.takeSharedFiles(f)
		case "environment":
			err = r.takeSharedEnv(f)
		case "shell":
			err = c.takeShell(f)
		case "name":
			err = r.takeName(f)
		}
		if err != nil {
			return err
		}
	}
	for _, f := range fields {
		switch f.key {
		case "processes":
			if err := c.processes(f); err != nil {
				return err
			}
		case "environment", "env_file", "shell", "name", "version", "is_strict", "disable_env_expansion":
		default:
			c.unused(f, "")
		}
	}
	return nil
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

func (c *composer) takeShell(f field) error {
	fields, err := c.fields(f, "shell")
	if err != nil {
		return err
	}
	for _, f := range fields {
		s, err := c.text(f)
		switch {
		case err != nil:
			return err
		case f.key == "shell_command" && s != "":
			c.shell[0] = s
		case f.key == "shell_argument" && s != "":
			c.shell[1] = s
		case f.key != "shell_command" && f.key != "shell_argument":
			c.unused(f, "shell")
		}
	}
	return nil
}

func (c *composer) processes(f field) error {
	fields, err := c.fields(f, "processes")
	if err != nil {
		return err
	}
	for _, p := range fields {
		if !goodName(p.key) {
			return c.wrong(p.at, "%q is not a valid name", p.key)
		}
		d := &draft{reader: c.reader, Entry: Entry{Name: p.key, At: p.at}}
		d.Start.Name, d.Start.CWD = p.key, filepath.Dir(c.file.Path)
		if err := c.process(d, p); err != nil {
			return err
		}
		c.file.Entries = append(c.file.Entries, d.finish())
	}
	return nil
}

func (c *composer) process(d *draft, f field) error {
	fields, err := c.fields(f, "a process")
	if err != nil {
		return err
	}
	takes := c.takes(d)
	for _, f := range fields {
		take, known := takes[f.key]
		if !known {
			c.unused(f, d.Name)
			continue
		}
		if err := take(f); err != nil {
			return err
		}
	}
	if ready := d.Start.Ready; ready != nil && ready.Log == "" && ready.HTTP == "" && len(ready.Command) == 0 {
		d.Start.Ready = nil
	}
	if len(d.Start.Command) == 0 {
		return c.wrong(f.at, "process %s has no command", d.Name)
	}
	return nil
}

func (c *composer) takes(d *draft) map[string]take {
	silent := func(field) error { return nil }
	return map[string]take{
		"command":         func(f field) error { return c.command(d, f) },
		"entrypoint":      func(f field) error { return c.entrypoint(d, f) },
		"environment":     func(f field) (err error) { d.own, err = c.variables(f); return },
		"env_file":        func(f field) (err error) { d.files, err = c.envFiles(f); return },
		"working_dir":     d.cwd,
		"depends_on":      d.dependsOn,
		"availability":    func(f field) error { return c.availability(d, f) },
		"readiness_probe": func(f field) error { return c.probe(d, f) },
		"ready_log_line":  func(f field) error { return c.readyLine(d, f) },
		"shutdown":        func(f field) error { return c.shutdown(d, f) },
		"disabled":        func(f field) (err error) { d.Manual, err = c.boolean(f); return },
		"is_foreground":   func(f field) (err error) { d.Manual, err = c.boolean(f); d.Start.TTY = d.Manual; return },
		"is_tty":          func(f field) (err error) { d.Start.TTY, err = c.boolean(f); return },
		"description":     silent,
	}
}

// command takes a line; "$$" is how such a file writes one dollar sign.
func (c *composer) command(d *draft, f field) error {
	line, err := c.text(f)
	if err != nil || strings.TrimSpace(line) == "" {
		return err
	}
	if strings.Contains(line, "{{") {
		c.unused(field{key: "the template in command", at: f.at}, d.Name)
	}
	d.Start.Command = c.run(line)
	return nil
}

// run is what runs a line.
func (c *composer) run(line string) []string {
	if !c.plain {
		line = strings.ReplaceAll(line, "$$", "$")
	}
	return []string{c.shell[0], c.shell[1], line}
}

func (c *composer) entrypoint(d *draft, f field) error {
	argv, err := c.texts(f, c.filled)
	if err == nil && len(d.Start.Command) == 0 {
		d.Start.Command = argv
	}
	return err
}

func (c *composer) availability(d *draft, f field) error {
	fields, err := c.fields(f, "availability")
	if err != nil {
		return err
	}
	into := &api.Restart{Policy: api.PolicyNo}
	for _, f := range fields {
		var err error
		switch f.key {
		case "restart":
			err = c.policy(into, d, f)
		case "backoff_seconds":
			into.DelayMS, err = c.number(f, 3600)
			into.DelayMS *= 1000
		case "max_restarts":
			into.Max, err = c.number(f, 1_000_000)
		default:
			c.unused(f, "availability of "+d.Name)
		}
		if err != nil {
			return err
		}
	}
	if into.Policy != api.PolicyNo {
		d.Start.Restart = into
	}
	return nil
}

func (c *composer) policy(into *api.Restart, d *draft, f field) error {
	s, err := c.text(f)
	if err != nil {
		return err
	}
	switch s {
	case "always":
		into.Policy = api.PolicyAlways
	case "on_failure", "on-failure":
		into.Policy = api.PolicyOnFailure
	case "no", "", "false":
	case "exit_on_failure":
		c.unused(field{key: "exit_on_failure", at: f.at}, d.Name)
	default:
		return c.wrong(f.at, "unknown restart policy %q", s).hint("it is no, on_failure or always")
	}
	return nil
}

func (c *composer) readyLine(d *draft, f field) error {
	s, err := c.text(f)
	if err != nil {
		return err
	}
	c.readiness(d).Log = regexp.QuoteMeta(s)
	return nil
}

func (c *composer) readiness(d *draft) *api.Readiness {
	if d.Start.Ready == nil {
		d.Start.Ready = &api.Readiness{}
	}
	return d.Start.Ready
}

func (c *composer) probe(d *draft, f field) error {
	fields, err := c.fields(f, "readiness_probe")
	if err != nil {
		return err
	}
	delay, period, failures, last := 0, 10, 3, field{}
	for _, f := range fields {
		var err error
		switch f.key {
		case "http_get":
			c.readiness(d).HTTP, err = c.httpGet(d, f)
		case "exec":
			c.readiness(d).Command, err = c.execProbe(d, f)
		case "initial_delay_seconds":
			delay, err = c.number(f, maxProbe)
			last = f
		case "period_seconds":
			period, err = c.number(f, maxProbe)
			last = f
		case "failure_threshold":
			failures, err = c.number(f, maxProbe)
			last = f
		case "timeout_seconds", "success_threshold":
			last = f
		default:
			c.unused(f, "readiness_probe of "+d.Name)
		}
		if err != nil {
			return err
		}
	}
	c.probeTimes(d, last, delay+period*failures)
	return nil
}

// maxProbe bounds the times and counts of probes.
const maxProbe = 10_000

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

func (c *composer) httpGet(d *draft, f field) (string, error) {
	fields, err := c.fields(f, "http_get")
	if err != nil {
		return "", err
	}
	part := map[string]string{"scheme": "http", "host": "127.0.0.1", "path": "/"}
	for _, f := range fields {
		switch f.key {
		case "scheme", "host", "path", "port":
			if part[f.key], err = c.filled(f); err != nil {
				return "", err
			}
		default:
			c.unused(f, "http_get of "+d.Name)
		}
	}
	if n, err := strconv.Atoi(part["port"]); part["port"] != "" && (err != nil || n < 1 || n > 65535) {
		return "", c.wrong(f.at, "http_get: %q is not a valid port", part["port"])
	}
	host := part["host"]
	if part["port"] != "" {
		host += ":" + part["port"]
	}
	address := part["scheme"] + "://" + host + "/" + strings.TrimPrefix(part["path"], "/")
	if !canBeAsked(address) {
		return "", c.wrong(f.at, "http_get: %q is not a valid address", address)
	}
	return address, nil
}

func (c *composer) execProbe(d *draft, f field) ([]string, error) {
	fields, err := c.fields(f, "exec")
	if err != nil {
		return nil, err
	}
	var argv []string
	for _, f := range fields {
		if f.key != "command" {
			c.unused(f, "exec of "+d.Name)
			continue
		}
		line, err := c.text(f)
		if err != nil {
			return nil, err
		}
		argv = c.run(line)
	}
	return argv, nil
}

func (c *composer) shutdown(d *draft, f field) error {
	fields, err := c.fields(f, "shutdown")
	if err != nil {
		return err
	}
	for _, f := range fields {
		var err error
		switch f.key {
		case "signal":
			var n int
			if n, err = c.number(f, 64); n > 0 {
				d.Start.StopSignal = strconv.Itoa(n)
			}
		case "timeout_seconds":
			d.Start.StopTimeoutMS, err = c.number(f, 3600)
			d.Start.StopTimeoutMS *= 1000
		default:
			c.unused(f, "shutdown of "+d.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
