package project

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/engine/api"
)

// packageName is the file of Node's packages. Its scripts are entries too, but
// none starts by itself, as most of them are tasks.
const packageName = "package.json"

// packageJSON reads the scripts of a package.json. Each is run by the package
// manager that the package is of.
func (r *reader) packageJSON(text []byte) error {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !json.Valid(text) {
		var any json.RawMessage
		return r.jsonError(text, json.Unmarshal(text, &any))
	}
	j := jsonReader{json.NewDecoder(bytes.NewReader(text)), text}
	manager := packageManager(filepath.Dir(r.file.Path))
	err := j.object(func(key string, at Position) error {
		switch key {
		case "name":
			var name string
			if err := j.Decode(&name); err == nil && goodName(name) {
				r.file.Name = name
			}
			return nil
		case "scripts":
			return r.scripts(&j, manager, at)
		}
		return j.Decode(new(json.RawMessage))
	})
	if errors.Is(err, errNoObject) {
		return r.wrong(Position{1, 1}, "the file must hold keys with values")
	}
	if err == nil && len(r.file.Entries) == 0 {
		r.wrong(Position{1, 1}, "it has no scripts").hint("write a tandem.yaml; see docs/project.md")
	}
	return err
}

// scripts reads the scripts. A name that is there twice counts the last time, as
// everywhere in JSON, and so do the scripts themselves.
func (r *reader) scripts(j *jsonReader, manager string, at Position) error {
	r.file.Entries, r.file.Notices = nil, nil
	lines := map[string]string{}
	err := j.object(func(name string, at Position) error {
		var line string
		if err := j.Decode(&line); err != nil {
			return r.wrong(at, "script %q must be a line of text", name)
		}
		_, twice := lines[name]
		lines[name] = line
		switch {
		case twice:
			r.file.Entry(name).Script = line
		case strings.HasPrefix(name, "-"):
			delete(lines, name)
			r.notice(at, "script %q is left out: %s would take its name for an option", name, manager)
		case !goodName(name):
			delete(lines, name)
			r.notice(at, "script %s is left out: %s", shownName(name), badName(name))
		default:
			r.file.Entries = append(r.file.Entries, Entry{Name: name, At: at, Manual: true, Script: line, Start: api.ProcessStartInput{
				Name: name, Command: []string{manager, "run", name}, CWD: filepath.Dir(r.file.Path)}})
		}
		return nil
	})
	if errors.Is(err, errNoObject) {
		return r.wrong(at, "scripts must hold keys with values")
	}
	r.file.Entries = slices.DeleteFunc(r.file.Entries, func(e Entry) bool { return isHook(e.Name, lines) })
	return err
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

// errNoObject says that a value of JSON is not an object.
var errNoObject = errors.New("not an object")

// A jsonReader reads JSON that is valid.
type jsonReader struct {
	*json.Decoder
	text []byte
}

// object gives each key of an object with its place to take, which reads the
// value.
func (j *jsonReader) object(take func(key string, at Position) error) error {
	if t, err := j.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(err, errNoObject)
	}
	for j.More() {
		t, err := j.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return errors.Join(err, errNoObject)
		}
		end := int(j.InputOffset())
		start := bytes.LastIndexByte(j.text[:max(end-1, 0)], '"')
		if err := take(key, placeIn(j.text, max(start, 0))); err != nil {
			return err
		}
	}
	_, err := j.Token()
	return err
}

// placeIn is the place of a byte of a text.
func placeIn(text []byte, offset int) Position {
	before := text[:min(max(offset, 0), len(text))]
	line := bytes.Count(before, []byte("\n"))
	return Position{line + 1, len([]rune(string(before[bytes.LastIndexByte(before, '\n')+1:]))) + 1}
}

// jsonError tells where a text is not JSON.
func (r *reader) jsonError(text []byte, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return r.wrong(placeIn(text, int(syntax.Offset)-1), "%v", err)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return r.wrong(placeIn(text, len(text)), "it ends too early")
	}
	return r.wrong(Position{}, "%v", err)
}
