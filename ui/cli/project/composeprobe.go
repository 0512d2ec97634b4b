package project

import (
	"cmp"
	"strconv"
	"strings"

	"tandem/engine/api"
)

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
		return func(f field) { *into, last = c.number(f, 0, maxProbe), f }
	}
	unread := func(f field) { last = f }
	c.each(f, "readiness_probe", "readiness_probe of "+d.Name, map[string]take{
		"http_get":              func(f field) { c.httpGet(d, f) },
		"exec":                  func(f field) { c.readiness(d).Command = c.execProbe(d, f) },
		"grpc":                  func(f field) { c.wrong(f.at, "grpc probes are not supported").hint("probe with exec or http_get") },
		"initial_delay_seconds": number(&delay),
		"period_seconds":        number(&period),
		"failure_threshold":     number(&failures),
		"timeout_seconds":       unread,
		"success_threshold":     unread,
	})
	c.probeTimes(d, last, delay+period*failures)
}

// probeTimes sets the timeout of a probe to seconds if that is longer than our default. The other
// times of a probe have no meaning here, as we probe often.
func (c *composer) probeTimes(d *draft, last field, seconds int) {
	if seconds > 60 && d.Start.Ready != nil {
		d.Start.Ready.TimeoutMS = min(seconds, 3600) * 1000
	}
	if last.key != "" && !c.timed {
		c.timed = true
		c.notice(last.at, "of the times and thresholds of probes, only their sum is used: as the timeout if it is more than 60s")
	}
}

func (c *composer) httpGet(d *draft, f field) {
	ready := c.readiness(d)
	part := map[string]string{"scheme": "http", "host": "127.0.0.1", "path": "/"}
	fill := func(f field) { part[f.key] = c.rendered(f) }
	c.each(f, "http_get", "http_get of "+d.Name, map[string]take{
		"scheme": fill, "host": fill, "path": fill, "port": fill, "num_port": fill,
		"status_code": func(f field) { ready.HTTPStatus = c.number(f, 0, 599) },
		"headers":     func(f field) { ready.HTTPHeaders = c.headers(f) },
	})
	host, port := part["host"], cmp.Or(part["port"], part["num_port"])
	if n, err := strconv.Atoi(port); port != "" && (err != nil || n < 1 || n > 65535) {
		c.wrong(f.at, "http_get: %q is not a valid port", port)
	}
	if port != "" {
		host += ":" + port
	}
	ready.HTTP = part["scheme"] + "://" + host + "/" + strings.TrimPrefix(part["path"], "/")
	if !canBeAsked(ready.HTTP) {
		c.wrong(f.at, "http_get: %q is not a valid address", ready.HTTP)
	}
}

func (c *composer) headers(f field) map[string]string {
	all := map[string]string{}
	for _, h := range c.fields(f, "headers") {
		all[h.key] = c.filled(h)
	}
	return all
}

// execProbe returns the command of a probe, run in a directory of its own if it has one.
func (c *composer) execProbe(d *draft, f field) (argv []string) {
	dir := ""
	c.each(f, "exec", "exec of "+d.Name, map[string]take{
		"command":     func(f field) { argv = c.line(f, false) },
		"working_dir": func(f field) { dir = c.filled(f) },
	})
	if dir != "" && len(argv) > 0 {
		argv = append([]string{"/bin/sh", "-c", `cd "$1" && shift && exec "$@"`, "sh", c.path(dir)}, argv...)
	}
	return argv
}
