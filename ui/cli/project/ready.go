package project

import (
	"net/url"
	"regexp"
	"strings"

	"tandem/engine/api"

	"github.com/goccy/go-yaml/ast"
)

// ready reads what must hold for an entry to be ready.
func (d *draft) ready(f field) error {
	r, into := d.reader, &api.Readiness{}
	fields, err := r.fields(f, "ready")
	if err != nil {
		return err
	}
	err = r.each(fields, "ready", map[string]take{
		"log":     func(f field) (err error) { into.Log, err = r.pattern(f); return },
		"port":    func(f field) (err error) { into.Port, err = r.number(f, 65535); return },
		"http":    func(f field) (err error) { into.HTTP, err = r.address(f); return },
		"command": func(f field) (err error) { into.Command, err = r.argv(f); return },
		"timeout": func(f field) (err error) { into.TimeoutMS, err = r.duration(f); return },
	})
	if err == nil && into.Log == "" && into.Port == 0 && into.HTTP == "" && len(into.Command) == 0 {
		err = r.wrong(f.at, "ready says no condition").hint("give log, port, http or command")
	}
	d.Start.Ready = into
	return err
}

// address is a URL that can be asked.
func (r *reader) address(f field) (string, error) {
	s, err := r.filled(f)
	if err == nil && !canBeAsked(s) {
		err = r.wrong(f.at, "%s: %q is not a valid address", f.key, s).hint("it begins with http:// or https://")
	}
	return s, err
}

func canBeAsked(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

func (r *reader) pattern(f field) (string, error) {
	s, err := r.text(f)
	if err != nil {
		return "", err
	}
	if _, err := regexp.Compile(s); err != nil {
		return "", r.wrong(f.at, "%s: %v", f.key, err)
	}
	return s, nil
}

func (r *reader) argv(f field) ([]string, error) {
	if _, list := f.node.(*ast.SequenceNode); list {
		return r.texts(f, r.filled)
	}
	line, err := r.text(f)
	if err != nil || strings.TrimSpace(line) == "" {
		return nil, err
	}
	return shell(line), nil
}
