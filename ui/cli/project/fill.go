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

// reference matches what expand replaces: $$, ${…}, a ${ without its }, and $NAME.
var reference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(\$|\{[^}]*\}?|[A-Za-z_][A-Za-z0-9_]*)`) })

// expand fills in ${NAME} and ${NAME:-otherwise}, and with bare $NAME if it has a
// value; $$ is a dollar sign, and any other one stays.
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

// braceValue returns the value of what follows a ${.
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

// variables reads an environment: keys with values, or a list of NAME=VALUE.
func (r *reader) variables(f field) (all []Variable) {
	if f.isList() {
		return each(r, f, r.setting)
	}
	for _, v := range r.fields(f, f.key) {
		value := r.filled(v)
		if !syntax.ValidName(v.key) {
			r.wrong(v.at, "%q is not a valid variable name", v.key)
		}
		all = append(all, Variable{v.key, value})
	}
	return all
}

func (r *reader) setting(f field) Variable {
	s := r.filled(f)
	name, value, given := strings.Cut(s, "=")
	if !syntax.ValidName(name) {
		r.wrong(f.at, "%q is not a setting; must be NAME=VALUE", s)
	}
	if !given {
		value = r.lookup(name)
	}
	return Variable{name, value}
}

// envFiles reads the environment files that a field names, relative to dir. One
// whose name begins with "-" may be missing.
func (r *reader) envFiles(f field, dir string) (all []Variable) {
	for _, name := range each(r, f, r.filled) {
		name, optional := strings.CutPrefix(name, "-")
		vars, err := envFile(r.pathIn(dir, name))
		var mistake *Error
		switch {
		case optional && errors.Is(err, os.ErrNotExist):
		case errors.As(err, &mistake):
			r.fail(err)
		case err != nil:
			r.wrong(f.at, "%s: %v", f.key, err).hint("a name that begins with - may be missing")
		}
		all = append(all, vars...)
	}
	return all
}

func envFile(path string) ([]Variable, error) {
	text, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	return parseEnv(path, text)
}

// dir returns the project file's directory.
func (r *reader) dir() string { return filepath.Dir(r.file.Path) }

// path makes a path of the file absolute: what is relative is so to the
// project file's folder.
func (r *reader) path(p string) string { return r.pathIn(r.dir(), p) }

// pathIn makes a path absolute that is relative to dir.
func (r *reader) pathIn(dir, p string) string {
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

// duration reads 500ms, 10s, 1m30s, or a number of seconds.
func (r *reader) duration(f field) (milliseconds int) {
	s, _ := scalar(f.node)
	d, err := time.ParseDuration(s)
	if seconds, plain := strconv.ParseFloat(s, 64); plain == nil && seconds >= 0 && seconds < 1e6 {
		d, err = time.Duration(seconds*float64(time.Second)), nil
	}
	if err != nil || d < time.Millisecond || d > 1000*time.Hour {
		r.wrong(f.at, "%s must be a time such as 500ms, 10s or 2m", f.key)
	}
	return int(d.Milliseconds())
}

// size reads what ParseSize does.
func (r *reader) size(f field) int64 {
	s, _ := scalar(f.node)
	n, ok := ParseSize(s)
	if !ok {
		r.wrong(f.at, "%s must be a size such as 64MB, of 64KB at least, or none", f.key)
	}
	return n
}

// The bounds of a size: the smallest log that is worth keeping, and more than
// any log has.
const (
	leastSize = 64 << 10
	noBound   = 1 << 60
)

// ParseSize reads the bound of a log in bytes: 64MB, 1.5 GiB, 65536, or none.
// Units count in powers of 1024.
func ParseSize(s string) (bytes int64, ok bool) {
	if s == "none" {
		return noBound, true
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
	return int64(n), err == nil && n >= leastSize && n <= noBound
}
