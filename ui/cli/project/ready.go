package project

import (
	"net/url"
	"regexp"
	"strings"

	"tandem/engine/api"
)

// readReady reads an entry's readiness check.
func (d *draft) readReady(f field) {
	r, into := d.reader, &api.Readiness{}
	d.Start.Ready = into
	r.readKeys(r.fields(f, "ready"), "ready", map[string]fieldReader{
		"log":     func(f field) { into.Log = r.readPattern(f) },
		"port":    func(f field) { into.Port = r.readNumber(f, 1, 65535) },
		"http":    func(f field) { into.HTTP = r.readURL(f) },
		"command": func(f field) { into.Command = r.readArgv(f) },
		"timeout": func(f field) { into.TimeoutMS = r.readDuration(f) },
	})
	if into.Log == "" && into.Port == 0 && into.HTTP == "" && len(into.Command) == 0 {
		r.addError(f.at, "ready has no condition").hint("give log, port, http or command")
	}
}

func (r *reader) readURL(f field) string {
	s := r.expandText(f)
	if !isHTTPURL(s) {
		r.addError(f.at, "%s: %q is not a valid address", f.key, s).hint("must begin with http:// or https://")
	}
	return s
}

func isHTTPURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

func (r *reader) readPattern(f field) string {
	s := r.readText(f)
	if _, err := regexp.Compile(s); err != nil {
		r.addError(f.at, "%s: %v", f.key, err)
	}
	return s
}

func (r *reader) readArgv(f field) []string {
	if f.isList() {
		return readList(r, f, r.expandText)
	}
	line := r.readText(f)
	if strings.TrimSpace(line) == "" {
		return nil
	}
	return shellArgv(line)
}
