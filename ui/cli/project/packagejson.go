package project

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/persist/diag"

	"github.com/tailscale/hujson"
)

// packageName is the file name of Node packages. Its scripts are manual entries, because most of
// them are tasks.
const packageName = "package.json"

// readPackageJSON reads the scripts of a package.json. Each runs with the package's own package
// manager.
func (r *reader) readPackageJSON(text []byte) {
	text = diag.TrimBOM(text)
	start := Position{1, 1}
	// encoding/json checks the text first: hujson would accept comments, and recurses to any depth.
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(text, new(json.RawMessage)), &syntax) {
		r.addError(start.advance(text[:max(syntax.Offset-1, 0)]), "%v", syntax)
		return
	}
	root, err := hujson.Parse(text)
	object, ok := root.Value.(*hujson.Object)
	if err != nil || !ok {
		r.addError(start, "the file must be a JSON object")
		return
	}
	for _, m := range object.Members {
		switch memberName(m) {
		case "name":
			if name, ok := jsonText(m.Value); ok { // such as @scope/name
				r.file.Name = cmp.Or(names.Clean(name), r.file.Name)
			}
		case "scripts":
			r.readScripts(text, m)
		}
	}
	if len(r.file.Entries) == 0 {
		r.addError(start, "it has no scripts").hint("write a tandem.yaml; see docs/project.md")
	}
}

// readScripts reads the scripts. If a name occurs twice, the last one counts, as usual in JSON. So
// does the last "scripts" object.
func (r *reader) readScripts(text []byte, of hujson.ObjectMember) {
	object, ok := of.Value.Value.(*hujson.Object)
	if !ok {
		r.addError(Position{1, 1}.advance(text[:of.Name.StartOffset]), "scripts must be a JSON object")
		return
	}
	// Drop the entries of an earlier "scripts" object.
	r.file.Entries, r.file.Notices = nil, nil
	dir := filepath.Dir(r.file.Path)
	manager := packageManager(dir)
	lines := map[string]string{}
	at, read := Position{1, 1}, 0
	for _, m := range object.Members {
		at, read = at.advance(text[read:m.Name.StartOffset]), m.Name.StartOffset
		name := memberName(m)
		line, ok := jsonText(m.Value)
		r.readEntryOf(name, func() {
			if !ok {
				r.addError(at, "script %q must be a line of text", name)
			}
		})
		_, twice := lines[name]
		switch {
		case strings.HasPrefix(name, "-"):
			r.addNotice(at, "script %q is left out: %s would take its name for an option", name, manager)
			continue
		case nameFault(name) != "":
			r.addNotice(at, "script %s is left out: a name %s", names.Quote(name), nameFault(name))
			continue
		// As in JSON, the last value counts; the position of the first stays.
		case twice:
			r.file.Entry(name).Script = line
		default:
			r.file.Entries = append(r.file.Entries, Entry{Name: name, At: at, Manual: true, Script: line, Start: api.ProcessStartInput{
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

func memberName(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

// jsonText returns the text of a string, or "" for null; ok is false for other values.
func jsonText(v hujson.Value) (text string, ok bool) {
	literal, ok := v.Value.(hujson.Literal)
	ok = ok && json.Unmarshal(literal, &text) == nil
	return text, ok
}

// advance returns the position after text, which begins at p.
func (p Position) advance(text []byte) Position {
	if line := bytes.LastIndexByte(text, '\n'); line >= 0 {
		p = Position{p.Line + bytes.Count(text, []byte("\n")), 1}
		text = text[line+1:]
	}
	return Position{p.Line, p.Column + utf8.RuneCount(text)}
}
