package project

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/persist/diag"
)

// packageName is the file of Node's packages. Its scripts are entries too, but
// none starts by itself, as most of them are tasks.
const packageName = "package.json"

// packageJSON reads the scripts of a package.json. Each is run by the package
// manager that the package is of.
func (r *reader) packageJSON(text []byte) {
	text = diag.TrimBOM(text)
	start := Position{1, 1}
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(text, new(json.RawMessage)), &syntax) {
		r.wrong(start.after(text[:max(syntax.Offset-1, 0)]), "%v", syntax)
		return
	}
	members, ok := jsonValue{text, start}.members()
	if !ok {
		r.wrong(start, "the file must hold keys with values")
	}
	for _, m := range members {
		switch m.key {
		case "name":
			var name string
			if json.Unmarshal(m.value.text, &name) == nil && goodName(name) {
				r.file.Name = name
			}
		case "scripts":
			r.scripts(m)
		}
	}
	if len(r.file.Entries) == 0 {
		r.wrong(start, "it has no scripts").hint("write a tandem.yaml; see docs/project.md")
	}
}

// scripts reads the scripts. As everywhere in JSON, the last of several with the
// same name counts, and so do the last scripts.
func (r *reader) scripts(of member) {
	members, ok := of.value.members()
	if !ok {
		r.wrong(of.at, "scripts must hold keys with values")
	}
	r.file.Entries, r.file.Notices = nil, nil
	dir := filepath.Dir(r.file.Path)
	manager := packageManager(dir)
	lines := map[string]string{}
	for _, m := range members {
		name, line := m.key, ""
		if json.Unmarshal(m.value.text, &line) != nil {
			r.wrong(m.at, "script %q must be a line of text", name)
		}
		_, twice := lines[name]
		switch {
		case strings.HasPrefix(name, "-"):
			r.notice(m.at, "script %q is left out: %s would take its name for an option", name, manager)
			continue
		case !goodName(name):
			r.notice(m.at, "script %s is left out: %s", shownName(name), badName(name))
			continue
		case twice:
			r.file.Entry(name).Script = line
		default:
			r.file.Entries = append(r.file.Entries, Entry{Name: name, At: m.at, Manual: true, Script: line, Start: api.ProcessStartInput{
				Name: name, Command: []string{manager, "run", name}, CWD: dir}})
		}
		lines[name] = line
	}
	r.file.Entries = slices.DeleteFunc(r.file.Entries, func(e Entry) bool { return isHook(e.Name, lines) })
}

// isHook reports whether a script is run by the package manager at the right
// time, before or after another one.
func isHook(name string, scripts map[string]string) bool {
	switch name {
	case "preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare",
		"prepublishOnly", "prepack", "postpack", "dependencies":
		return true
	}
	for _, when := range []string{"pre", "post"} {
		if of, ok := strings.CutPrefix(name, when); ok {
			if _, ok := scripts[of]; ok {
				return true
			}
		}
	}
	return false
}

// Serves reports whether an entry has the name of one that goes on running, as
// "dev" or "start:api" has, and not of a task.
func (e *Entry) Serves() bool {
	words := strings.FieldsFunc(strings.ToLower(e.Name), func(r rune) bool { return strings.ContainsRune(":-_./", r) })
	return slices.ContainsFunc(words, func(word string) bool {
		switch word {
		case "dev", "develop", "start", "serve", "server", "watch", "preview", "storybook":
			return true
		}
		return false
	})
}

// A lock is a file by which a package manager is known.
type lock struct{ file, manager string }

func locks() []lock {
	return []lock{
		{"pnpm-lock.yaml", "pnpm"}, {"pnpm-workspace.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"},
		{"package-lock.json", "npm"}, {"npm-shrinkwrap.json", "npm"},
	}
}

// packageManager is the program that runs the scripts of a folder's package:
// what packageManager in its package.json says, or else the lock file beside it;
// those of a workspace are in a folder above. It is npm if nothing tells.
func packageManager(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if m := declaredManager(filepath.Join(at, packageName)); m != "" {
			return m
		}
		for _, l := range locks() {
			if _, err := os.Stat(filepath.Join(at, l.file)); err == nil {
				return l.manager
			}
		}
		_, err := os.Stat(filepath.Join(at, ".git"))
		if err == nil || at == filepath.Dir(at) {
			return "npm"
		}
	}
}

// declaredManager is the name before the @ of packageManager, if it is one that
// is known.
func declaredManager(path string) string {
	text, err := readBounded(path)
	if err != nil {
		return ""
	}
	var says struct {
		PackageManager any `json:"packageManager"`
	}
	if json.Unmarshal(text, &says) != nil {
		return ""
	}
	value, _ := says.PackageManager.(string)
	name, _, _ := strings.Cut(value, "@")
	for _, l := range locks() {
		if l.manager == name {
			return name
		}
	}
	return ""
}

// A jsonValue is a valid value of JSON and where it begins in its file.
type jsonValue struct {
	text []byte
	at   Position
}

type member struct {
	key   string
	at    Position // of the key
	value jsonValue
}

// members returns the members of an object; ok is false for any other value.
func (v jsonValue) members() (all []member, ok bool) {
	j := json.NewDecoder(bytes.NewReader(v.text))
	if t, err := j.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	at, read := v.at, 0
	move := func(to int) Position {
		at, read = at.after(v.text[read:to]), to
		return at
	}
	for j.More() {
		keyAt := move(read + bytes.IndexByte(v.text[read:], '"'))
		key, err := j.Token()
		name, isName := key.(string)
		var value json.RawMessage
		if err := errors.Join(err, j.Decode(&value)); err != nil || !isName {
			return nil, false
		}
		end := int(j.InputOffset())
		all = append(all, member{name, keyAt, jsonValue{value, move(end - len(value))}})
		move(end)
	}
	return all, true
}

// after returns the position of what follows text, which begins at p.
func (p Position) after(text []byte) Position {
	if line := bytes.LastIndexByte(text, '\n'); line >= 0 {
		p = Position{p.Line + bytes.Count(text, []byte("\n")), 1}
		text = text[line+1:]
	}
	return Position{p.Line, p.Column + utf8.RuneCount(text)}
}
