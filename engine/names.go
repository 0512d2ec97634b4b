package engine

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/engine/api"
)

const maxName = 64 // runes

// checkName refuses names that could not be shown or told from an id.
func checkName(name string) error {
	wrong := func(why string) error {
		return api.Errorf(api.CodeInvalid, "name %q: %s", name, why)
	}
	switch {
	case strings.TrimSpace(name) == "":
		return wrong("it is empty")
	case !utf8.ValidString(name):
		return wrong("it is not UTF-8")
	case utf8.RuneCountInString(name) > maxName:
		return wrong(fmt.Sprintf("it is longer than %d characters", maxName))
	case strings.IndexFunc(name, notGraphic) >= 0:
		return wrong("it has characters that cannot be shown")
	case isID(name):
		return wrong("it looks like an id")
	}
	return nil
}

func notGraphic(r rune) bool { return !unicode.IsGraphic(r) }

func isID(s string) bool {
	return len(s) == 12 && strings.Trim(s, "0123456789abcdef") == ""
}

// programName is the name of what argv starts, as it can be shown: the program's,
// or, of a shell that runs a line, that of the first program of the line.
func programName(argv []string) string {
	program := argv[0]
	if inner := lineProgram(shellLine(argv)); inner != "" {
		program = inner
	}
	name := strings.Map(func(r rune) rune {
		if notGraphic(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, strings.TrimLeft(filepath.Base(program), "-"))
	if runes := []rune(name); len(runes) > maxName-8 {
		name = string(runes[:maxName-8])
	}
	if checkName(name) != nil {
		return "program"
	}
	return name
}

// shellLine is the line that argv has a shell run, "" if it does not.
func shellLine(argv []string) string {
	if !isShell(argv[0]) {
		return ""
	}
	for i := 1; i < len(argv)-1 && strings.HasPrefix(argv[i], "-"); i++ {
		if !strings.HasPrefix(argv[i], "--") && strings.Contains(argv[i], "c") {
			return argv[i+1]
		}
	}
	return ""
}

// Words of a line before the one that says what it does.
const (
	// preparing are commands that others of the line are prepared with; what is
	// told of them is not what the line is for.
	preparing = " cd echo printf set export unset source . : ulimit umask trap sleep true read exit "
	// leading are words that another command follows.
	leading = " exec env command sudo nohup time nice setsid eval if while until then do ! { "
	// compound are words that begin what only a shell runs.
	compound = " for case select function [[ [ "
)

// lineProgram is the program that a line for a shell is for, "" if only a shell
// can tell. It is a guess for a name: no more is known of the line.
func lineProgram(line string) string {
	if len(line) > maxNamedLine {
		line = line[:maxNamedLine]
	}
	line = strings.NewReplacer("&&", ";", "||", ";", "|", ";", "\n", ";").Replace(line)
	fallback := ""
	for part := range strings.SplitSeq(line, ";") {
		for word := range strings.FieldsSeq(part) {
			name, value, ok := strings.Cut(word, "=")
			sets := ok && isVariable(name)
			switch {
			case sets && !endsInWord(value): // what follows may be a part of it, and a secret
				return fallback
			case sets, strings.Contains(leading, " "+word+" "):
				continue
			case strings.Contains(compound, " "+word+" "), strings.ContainsAny(word, "\"'`$*?<>()[]{}\\#&~!="), strings.HasPrefix(word, "-"):
				return fallback
			case !strings.Contains(preparing, " "+word+" "):
				return word
			case fallback == "":
				fallback = word
			}
			break
		}
	}
	return fallback
}

// maxNamedLine bounds what is read of a line to name it, in bytes.
const maxNamedLine = 4096

// endsInWord reports whether the value of a variable has no blank in it.
func endsInWord(value string) bool {
	return !strings.ContainsAny(value, "\\`(") && strings.Count(value, "'")%2 == 0 && strings.Count(value, `"`)%2 == 0
}

func isVariable(name string) bool {
	letters := strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
	return name != "" && letters == "" && (name[0] < '0' || name[0] > '9')
}

// freeName is name, or name-2, name-3, … if something that has not ended is
// called that.
func (c *control) freeName(name string) string {
	taken := make([]bool, len(c.procs)+3) // by number; the name itself is 1
	for _, p := range c.procs {
		if p.state().Ended() {
			continue
		}
		if n := numberOf(p.rec.Name, name); n > 0 && n < len(taken) {
			taken[n] = true
		}
	}
	if !taken[1] {
		return name
	}
	n := 2
	for taken[n] {
		n++
	}
	return name + "-" + strconv.Itoa(n)
}

// numberOf is n if other is name-n, 1 if it is name itself, and else 0.
func numberOf(other, name string) int {
	if other == name {
		return 1
	}
	rest, ok := strings.CutPrefix(other, name)
	if !ok || len(rest) < 2 || rest[0] != '-' || rest[1] < '1' || rest[1] > '9' {
		return 0
	}
	n, err := strconv.Atoi(rest[1:])
	if err != nil || n < 2 {
		return 0
	}
	return n
}

func (c *control) namedLive(name string) *proc {
	for _, p := range c.procs {
		if p.rec.Name == name && !p.state().Ended() {
			return p
		}
	}
	return nil
}

// find resolves an id, a name or a unique prefix of an id, in this order. Of
// several with one name the live one counts, or else the one that ended last.
func (c *control) find(what string, kinds ...api.Kind) (*proc, error) {
	return c.findAmong(func(p *proc) bool { return p.view.ID != "" }, what, kinds)
}

// findToEnd finds also what is being started for the first time, which nobody
// is told of yet, by its whole id or its name.
func (c *control) findToEnd(what string, kinds ...api.Kind) (*proc, error) {
	return c.findAmong(func(p *proc) bool {
		return p.view.ID != "" || p.state() == api.StateStarting && !p.rec.Transient
	}, what, kinds)
}

func (c *control) findAmong(known func(*proc) bool, what string, kinds []api.Kind) (*proc, error) {
	wanted := func(p *proc) bool {
		return known(p) && (len(kinds) == 0 || slices.Contains(kinds, api.Kind(p.rec.Kind)))
	}
	if p := c.procs[what]; p != nil && wanted(p) {
		return p, nil
	}
	var named *proc
	var prefixed []*proc
	for id, p := range c.procs {
		if !wanted(p) {
			continue
		}
		if p.rec.Name == what && (named == nil || preferred(p, named)) {
			named = p
		}
		if what != "" && strings.HasPrefix(id, what) && p.view.ID != "" {
			prefixed = append(prefixed, p)
		}
	}
	switch {
	case named != nil:
		return named, nil
	case len(prefixed) == 1:
		return prefixed[0], nil
	case len(prefixed) > 1:
		return nil, errAmbiguous(what, prefixed)
	}
	return nil, api.Errorf(api.CodeNotFound, "find %s: no %s has this id or name", shown(what), noun(kinds)).
		WithHint("tandem ls shows all")
}

func preferred(p, q *proc) bool {
	if live := !p.state().Ended(); live == q.state().Ended() {
		return live
	}
	return byAge(p, q) > 0
}

func errAmbiguous(what string, candidates []*proc) error {
	slices.SortFunc(candidates, byAge)
	var names []string
	for _, p := range candidates {
		names = append(names, p.rec.ID+" ("+p.rec.Name+")")
	}
	return api.Errorf(api.CodeAmbiguous, "find %s: several ids begin so: %s", shown(what), strings.Join(names, ", ")).
		WithHint("give more of the id")
}

func noun(kinds []api.Kind) string {
	if len(kinds) == 1 {
		return string(kinds[0])
	}
	return "session or process"
}

// shown is a client's word as it can stand in a message.
func shown(what string) string {
	if runes := []rune(what); len(runes) > maxName {
		what = string(runes[:maxName]) + "…"
	}
	if what == "" || strings.IndexFunc(what, notGraphic) >= 0 {
		return fmt.Sprintf("%q", what)
	}
	return what
}
