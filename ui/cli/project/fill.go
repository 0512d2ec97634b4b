package project

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// reference matches the text replaced by expand: $$, ${…}, a ${ without its }, and $NAME.
var reference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(\$|\{[^}]*\}?|[A-Za-z_][A-Za-z0-9_]*)`) })

// expand replaces ${NAME} and ${NAME:-default} in s. With bare it also replaces $NAME if that has a
// value. $$ becomes a dollar sign; other dollar signs stay.
func expand(s string, bare bool, lookup func(string) string) (string, error) {
	var failed error
	s = reference().ReplaceAllStringFunc(s, func(ref string) string {
		inner, braced := strings.CutPrefix(ref, "${")
		switch {
		case ref == "$$":
			return "$"
		case braced:
			value, err := braceValue(inner, lookup)
			failed = cmp.Or(failed, err)
			return value
		case bare:
			return cmp.Or(lookup(ref[1:]), ref)
		}
		return ref
	})
	return s, failed
}

// braceValue returns the value of a reference; inner is its text after ${.
func braceValue(inner string, lookup func(string) string) (string, error) {
	inner, closed := strings.CutSuffix(inner, "}")
	if !closed {
		return "", errors.New("a ${ has no }")
	}
	name, otherwise, _ := strings.Cut(inner, ":-")
	if !syntax.ValidName(name) || strings.Contains(otherwise, "${") {
		return "", fmt.Errorf("${%s} is not supported; write ${NAME} or ${NAME:-default}, or $$ for a dollar sign", inner)
	}
	return cmp.Or(lookup(name), otherwise), nil
}

// readVariables reads an environment: keys with values, or a list of NAME=VALUE.
func (r *reader) readVariables(f field) (all []Variable) {
	if f.isList() {
		return readList(r, f, r.readSetting)
	}
	for _, v := range r.fields(f, f.key) {
		value := r.expandText(v)
		if !syntax.ValidName(v.key) {
			r.addError(v.at, "%q is not a valid variable name", v.key)
		}
		all = append(all, Variable{v.key, value})
	}
	return all
}

func (r *reader) readSetting(f field) Variable {
	s := r.expandText(f)
	name, value, given := strings.Cut(s, "=")
	if !syntax.ValidName(name) {
		r.addError(f.at, "%q is not a setting; must be NAME=VALUE", s)
	}
	if !given {
		// A name alone takes its value from the project's or the caller's environment.
		value = r.lookup(name)
	}
	return Variable{name, value}
}

// readEnvFiles reads the environment files named by a field, relative to dir. A file is optional if
// its name begins with "-".
func (r *reader) readEnvFiles(f field, dir string) (all []Variable) {
	for _, name := range readList(r, f, r.expandText) {
		name, optional := strings.CutPrefix(name, "-")
		vars, err := loadEnvFile(r.absPathIn(dir, name))
		var mistake *Error
		switch {
		case optional && errors.Is(err, os.ErrNotExist):
		case errors.As(err, &mistake):
			r.fail(err)
		case err != nil:
			r.addError(f.at, "%s: %v", f.key, err).hint("a name that begins with - may be missing")
		}
		all = append(all, vars...)
	}
	return all
}

func loadEnvFile(path string) ([]Variable, error) {
	text, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	return parseEnv(path, text)
}

func (r *reader) dir() string { return filepath.Dir(r.file.Path) }

// absPath makes a path of the project file absolute, relative to the file's directory.
func (r *reader) absPath(p string) string { return r.absPathIn(r.dir(), p) }

// absPathIn makes p absolute, relative to dir. It expands a leading ~.
func (r *reader) absPathIn(dir, p string) string {
	if rest, ok := strings.CutPrefix(p, "~/"); ok || p == "~" {
		if home := r.lookup("HOME"); home != "" {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(dir, p)
}

// readDuration reads 500ms, 10s, 1m30s, or a number of seconds.
func (r *reader) readDuration(f field) (milliseconds int) {
	s, _ := scalarText(f.node)
	d, err := time.ParseDuration(s)
	if seconds, plain := strconv.ParseFloat(s, 64); plain == nil && seconds >= 0 && seconds < 1e6 {
		d, err = time.Duration(seconds*float64(time.Second)), nil
	}
	if err != nil || d < time.Millisecond || d > 1000*time.Hour {
		r.addError(f.at, "%s must be a time such as 500ms, 10s or 2m", f.key)
	}
	return int(d.Milliseconds())
}

func (r *reader) readSize(f field) int64 {
	s, _ := scalarText(f.node)
	n, ok := ParseSize(s)
	if !ok {
		r.addError(f.at, "%s must be a size such as 64MB, of 64KB at least, or none", f.key)
	}
	return n
}

// Limits of a log's size: the smallest useful log, and more than any log can have.
const (
	minLogSize = 64 << 10
	noLimit    = 1 << 60
)

// ParseSize parses the size limit of a log in bytes: 64MB, 1.5 GiB, 65536, or none. Units are
// powers of 1024.
func ParseSize(s string) (bytes int64, ok bool) {
	if s == "none" {
		return noLimit, true
	}
	number := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(s)), "B"), "I")
	unit := 1.0
	if n := len(number); n > 0 {
		if power := strings.IndexByte("KMGT", number[n-1]); power >= 0 {
			number, unit = number[:n-1], float64(int64(1)<<(10*(power+1)))
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	n *= unit
	return int64(n), err == nil && n >= minLogSize && n <= noLimit
}
