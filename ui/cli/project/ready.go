package project

import (
	"net/url"
	"regexp"
	"strings"

	"tandem/engine/api"
)

// ready reads what must hold for an entry to be ready.
func (d *draft) ready(f field) {
	r, into := d.reader, &api.Readiness{}
	d.Start.Ready = into
	r.each(r.fields(f, "ready"), "ready", map[string]take{
		"log":     func(f field) { into.Log = r.pattern(f) },
		"port":    func(f field) { into.Port = r.number(f, 1, 65535) },
		"http":    func(f field) { into.HTTP = r.address(f) },
		"command": func(f field) { into.Command = r.argv(f) },
		"timeout": func(f field) { into.TimeoutMS = r.duration(f) },
	})
	if into.Log == "" && into.Port == 0 && into.HTTP == "" && len(into.Command) == 0 {
		r.wrong(f.at, "ready says no condition").hint("give log, port, http or command")
	}
}

// address is a URL that can be asked.
func (r *reader) address(f field) string {
	s := r.filled(f)
	if !canBeAsked(s) {
		r.wrong(f.at, "%s: %q is not a valid address", f.key, s).hint("it begins with http:// or https://")
	}
	return s
}

func canBeAsked(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

func (r *reader) pattern(f field) string {
	s := r.text(f)
	if _, err := regexp.Compile(s); err != nil {
		r.wrong(f.at, "%s: %v", f.key, err)
	}
	return s
}

func (r *reader) argv(f field) []string {
	if f.isList() {
		return each(r, f, r.filled)
	}
	line := r.text(f)
	if strings.TrimSpace(line) == "" {
		return nil
	}
	return shell(line)
}
