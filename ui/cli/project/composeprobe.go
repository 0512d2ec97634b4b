package project

import (
	"cmp"
	"strconv"
	"strings"

	"tandem/engine/api"
)

func (d *draft) ensureReadiness() *api.Readiness {
	if d.Start.Ready == nil {
		d.Start.Ready = &api.Readiness{}
	}
	return d.Start.Ready
}

// maxProbe is the maximum of a probe's times (in seconds) and counts.
const maxProbe = 10_000

func (c *composer) readProbe(d *draft, f field) {
	delay, period, failures, last := 0, 10, 3, field{}
	number := func(into *int) fieldReader {
		return func(f field) { *into, last = c.reader.readNumber(f, 0, maxProbe), f }
	}
	unread := func(f field) { last = f }
	c.readKeys(f, "readiness_probe", "readiness_probe of "+d.Name, map[string]fieldReader{
		"http_get": func(f field) { c.readHTTPGet(d, f) },
		"exec":     func(f field) { d.ensureReadiness().Command = c.readExecProbe(d, f) },
		"grpc": func(f field) {
			c.reader.addError(f.at, "grpc probes are not supported").hint("probe with exec or http_get")
		},
		"initial_delay_seconds": number(&delay),
		"period_seconds":        number(&period),
		"failure_threshold":     number(&failures),
		"timeout_seconds":       unread,
		"success_threshold":     unread,
	})
	c.setProbeTimeout(d, last, delay+period*failures)
}

// setProbeTimeout sets the timeout of a probe to seconds if that exceeds Tandem's default of 60. A
// probe's other times have no meaning here, because Tandem probes often.
func (c *composer) setProbeTimeout(d *draft, last field, seconds int) {
	if seconds > 60 && d.Start.Ready != nil {
		d.Start.Ready.TimeoutMS = min(seconds, 3600) * 1000
	}
	if last.key != "" && !c.timed {
		c.timed = true
		c.reader.addNotice(last.at, "only the sum of the times and thresholds of probes is used: as the timeout, if it is more than 60s")
	}
}

func (c *composer) readHTTPGet(d *draft, f field) {
	ready := d.ensureReadiness()
	part := map[string]string{"scheme": "http", "host": "127.0.0.1", "path": "/"}
	fill := func(f field) { part[f.key] = c.readUntemplated(f) }
	c.readKeys(f, "http_get", "http_get of "+d.Name, map[string]fieldReader{
		"scheme": fill, "host": fill, "path": fill, "port": fill, "num_port": fill,
		"status_code": func(f field) { ready.HTTPStatus = c.reader.readNumber(f, 0, 599) },
		"headers":     func(f field) { ready.HTTPHeaders = c.readHeaders(f) },
	})
	host, port := part["host"], cmp.Or(part["port"], part["num_port"])
	if n, err := strconv.Atoi(port); port != "" && (err != nil || n < 1 || n > 65535) {
		c.reader.addError(f.at, "http_get: %q is not a valid port", port)
	}
	if port != "" {
		host += ":" + port
	}
	ready.HTTP = part["scheme"] + "://" + host + "/" + strings.TrimPrefix(part["path"], "/")
	if !isHTTPURL(ready.HTTP) {
		c.reader.addError(f.at, "http_get: %q is not a valid address", ready.HTTP)
	}
}

func (c *composer) readHeaders(f field) map[string]string {
	all := map[string]string{}
	for _, h := range c.reader.fields(f, "headers") {
		all[h.key] = c.reader.expandText(h)
	}
	return all
}

// readExecProbe returns the command of a probe, run in its own directory if it has one.
func (c *composer) readExecProbe(d *draft, f field) (argv []string) {
	dir := ""
	c.readKeys(f, "exec", "exec of "+d.Name, map[string]fieldReader{
		"command":     func(f field) { argv = c.shellCommand(f, false) },
		"working_dir": func(f field) { dir = c.reader.expandText(f) },
	})
	if dir != "" && len(argv) > 0 {
		argv = append([]string{"/bin/sh", "-c", `cd "$1" && shift && exec "$@"`, "sh", c.reader.absPath(dir)}, argv...)
	}
	return argv
}
