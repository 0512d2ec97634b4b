package keeper

import (
	"encoding/base64"
	"slices"
	"unicode/utf8"
)

// armoured gives m as it can travel in JSON: with raw strings if it must.
func (m message) armoured() message {
	safe := true
	m = m.mapped(func(s string) string {
		safe = safe && utf8.ValidString(s)
		return s
	})
	if safe {
		return m
	}
	m.Raw = true
	return m.mapped(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) })
}

// disarm undoes armoured.
func (m *message) disarm() error {
	if !m.Raw {
		return nil
	}
	var failed error
	*m = m.mapped(func(s string) string {
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			failed = err
		}
		return string(b)
	})
	m.Raw = false
	return failed
}

// mapped gives a copy of m with f applied to what an operating system takes for
// bytes: paths, arguments and environment.
func (m message) mapped(f func(string) string) message {
	m.Dir = f(m.Dir)
	m.Logs = slices.Clone(m.Logs)
	for i, path := range m.Logs {
		m.Logs[i] = f(path)
	}
	if m.Spec == nil {
		return m
	}
	s := *m.Spec
	for _, field := range []*string{&s.Dir, &s.Path, &s.CWD, &s.Stdout, &s.Stderr, &s.Stdin, &s.Cgroup} {
		*field = f(*field)
	}
	for _, list := range []*[]string{&s.Argv, &s.Env} {
		*list = slices.Clone(*list)
		for i, v := range *list {
			(*list)[i] = f(v)
		}
	}
	m.Spec = &s
	return m
}
