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

// packageName is the file name of Node packages. Its scripts are manual entries, because most of
// them are tasks.
const packageName = "package.json"

// readPackageJSON reads the scripts of a package.json. Each runs with the package's own package
// manager.
func (r *reader) readPackageJSON(text []byte) {
	text = diag.TrimBOM(text)
	start := Position{1, 1}
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(text, new(json.RawMessage)), &syntax) {
		r.addError(start.advance(text[:max(syntax.Offset-1, 0)]), "%v", syntax)
		return
	}
	members, ok := jsonValue{text, start}.objectMembers()
	if !ok {
		r.addError(start, "the file must hold keys with values")
	}
	for _, m := range members {
		switch m.key {
		case "name":
			var name string
			if json.Unmarshal(m.value.text, &name) == nil && isValidName(name) {
				r.file.Name = name
			}
		case "scripts":
			r.readScripts(m)
		}
	}
	if len(r.file.Entries) == 0 {
		r.addError(start, "it has no scripts").hint("write a tandem.yaml; see docs/project.md")
	}
}

// readScripts reads the scripts. Of duplicate names the last one counts, as usual in JSON, and so
// does the last "scripts" object.
func (r *reader) readScripts(of member) {
	members, ok := of.value.objectMembers()
	if !ok {
		r.addError(of.at, "scripts must hold keys with values")
	}
	// Drop the entries of an earlier "scripts" object.
	r.file.Entries, r.file.Notices = nil, nil
	dir := filepath.Dir(r.file.Path)
	manager := packageManager(dir)
	lines := map[string]string{}
	for _, m := range members {
		name, line := m.key, ""
		if json.Unmarshal(m.value.text, &line) != nil {
			r.addError(m.at, "script %q must be a line of text", name)
		}
		_, twice := lines[name]
		switch {
		case strings.HasPrefix(name, "-"):
			r.addNotice(m.at, "script %q is left out: %s would take its name for an option", name, manager)
			continue
		case !isValidName(name):
			r.addNotice(m.at, "script %s is left out: %s", quoteName(name), nameError(name))
			continue
		// As in JSON, the last value counts; the position of the first stays.
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

// isHook reports whether the package manager runs the script by itself, before or after another
// one.
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

// Serves reports whether an entry's name suggests a long-running process, such as "dev" or
// "start:api", and not a task.
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

// A lockFile identifies a package manager.
type lockFile struct{ file, manager string }

func lockFiles() []lockFile {
	return []lockFile{
		{"pnpm-lock.yaml", "pnpm"}, {"pnpm-workspace.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"},
		{"package-lock.json", "npm"}, {"npm-shrinkwrap.json", "npm"},
	}
}

// packageManager returns the program that runs the scripts of the package in dir: the one declared
// in package.json, else the one with a lock file, else npm. For workspaces it searches the folders
// above too, up to the git repository's root.
func packageManager(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if m := declaredManager(filepath.Join(at, packageName)); m != "" {
			return m
		}
		for _, l := range lockFiles() {
			if _, err := os.Stat(filepath.Join(at, l.file)); err == nil {
				return l.manager
			}
		}
		// A workspace does not extend beyond its repository.
		_, err := os.Stat(filepath.Join(at, ".git"))
		if err == nil || at == filepath.Dir(at) {
			return "npm"
		}
	}
}

// declaredManager returns the name before the @ in packageManager, or "" if it is unknown.
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
	for _, l := range lockFiles() {
		if l.manager == name {
			return name
		}
	}
	return ""
}

// A jsonValue is a valid JSON value with its position in the file.
type jsonValue struct {
	text []byte
	at   Position
}

type member struct {
	key   string
	at    Position // position of the key
	value jsonValue
}

// objectMembers returns the members of an object; ok is false for other values.
func (v jsonValue) objectMembers() (all []member, ok bool) {
	j := json.NewDecoder(bytes.NewReader(v.text))
	if t, err := j.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	// The decoder gives byte offsets. move turns each into a position, starting from the last one.
	at, read := v.at, 0
	move := func(to int) Position {
		at, read = at.advance(v.text[read:to]), to
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

// advance returns the position after text, which begins at p.
func (p Position) advance(text []byte) Position {
	if line := bytes.LastIndexByte(text, '\n'); line >= 0 {
		p = Position{p.Line + bytes.Count(text, []byte("\n")), 1}
		text = text[line+1:]
	}
	return Position{p.Line, p.Column + utf8.RuneCount(text)}
}
