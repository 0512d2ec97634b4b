package project

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/persist/regular"
)

// fileNames returns the names of project files, in order of preference. A package.json is used only
// if none of them exists.
func fileNames() []string {
	return slices.Concat([]string{"tandem.yaml", "tandem.yml"}, composeNames(), []string{"Procfile.dev", "Procfile"})
}

// composeNames returns the names of process-compose's files, in its order of preference.
func composeNames() []string {
	return []string{"compose.yml", "compose.yaml", "process-compose.yml", "process-compose.yaml", "compose.processes.yaml"}
}

// overrideNames returns the names of the files that process-compose merges into the main one.
func overrideNames() []string {
	return []string{"compose.override.yml", "compose.override.yaml", "process-compose.override.yml", "process-compose.override.yaml"}
}

// maxFile is the maximum size of project and environment files, in bytes.
const maxFile = 1 << 20

// ErrNone is the error that Find wraps if there is no project file.
var ErrNone = errors.New("no project file")

// A File is a parsed project file.
type File struct {
	Path    string // absolute
	Name    string // name of the project; default: the folder's
	Entries []Entry
	Layout  []Pane // one per tab; empty if the file has no layout

	// Notices describe the parts of the file without effect here.
	Notices []string
	// Omitted are the entries left out, each because of a mistake in it or in a dependency.
	Omitted []Omission
}

// An Omission is an entry that is left out of a project.
type Omission struct {
	Name   string
	Why    error
	Manual bool // it would not start without being named
}

// An Entry is one session or process of a project.
type Entry struct {
	Name   string
	At     Position
	Start  api.ProcessStartInput // complete except for Environ, Env and the size
	Env    []Variable            // later variables override earlier ones
	After  []Dependency
	Manual bool // start only if named, or as a dependency

	Session bool // listed under sessions:, so the default stop signal is HUP

	Script string // line of a package.json script; "" for others
}

// Line returns an entry's command as typed in a shell, or "" for an interactive shell.
func (e *Entry) Line() string {
	argv := e.Start.Command
	switch {
	case e.Script != "":
		return e.Script
	case len(argv) == 3 && argv[1] == "-c":
		return argv[2]
	}
	return strings.Join(argv, " ")
}

// A Variable is one setting of an environment.
type Variable struct{ Name, Value string }

// A Dependency is an entry to wait for before another one starts.
type Dependency struct {
	Name      string
	Condition api.Condition
	At        Position
}

// A Pane is a node of a layout: a session, or a split with panes side by side or one below the
// other.
type Pane struct {
	Session string // name of an entry; empty for a split
	Beside  bool   // the panes are side by side, not one below the other
	Panes   []Pane
	Sizes   []int // relative sizes of Panes; nil means equal
	At      Position
}

// A Position is a line and column in a file, counted from 1. A Line of 0 means unknown.
type Position struct{ Line, Column int }

// An Error is a mistake at a position in a file.
type Error struct {
	Path string
	At   Position
	What string
	Hint string
}

func (e *Error) Error() string {
	if e.At.Line == 0 {
		return fmt.Sprintf("read %s: %s", e.Path, e.What)
	}
	return fmt.Sprintf("read %s: line %d, column %d: %s", e.Path, e.At.Line, e.At.Column, e.What)
}

// Find returns the path of the nearest project file in dir or above. If there is none, it returns
// the nearest package.json.
func Find(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find project file: %w", err)
	}
	// A package.json near dir must not hide a project file further up.
	for _, names := range [][]string{fileNames(), {packageName}} {
		if path := findAbove(dir, names); path != "" {
			return path, nil
		}
	}
	return "", fmt.Errorf("find project file: %w in %s or above it", ErrNone, dir)
}

// findAbove returns the first regular file with one of names in dir or above it, or "".
func findAbove(dir string, names []string) string {
	for at := dir; ; at = filepath.Dir(at) {
		for _, name := range names {
			path := filepath.Join(at, name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !isDockerCompose(path) {
				return path
			}
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// isDockerCompose reports whether a compose file is Docker's, which has no processes. It returns
// false for an unreadable file, so that Read reports the error.
func isDockerCompose(path string) bool {
	if name := filepath.Base(path); name != "compose.yml" && name != "compose.yaml" {
		return false
	}
	text, err := readBounded(path)
	return err == nil && !regexp.MustCompile(`(?m)^["']?processes["']?\s*:`).Match(text)
}

// CheckOverride returns an *Error if path is a process-compose file and an override file beside it
// changes the project.
func CheckOverride(path string) error {
	if !slices.Contains(composeNames(), filepath.Base(path)) {
		return nil
	}
	for _, name := range overrideNames() {
		over := filepath.Join(filepath.Dir(path), name)
		if _, err := os.Stat(over); !errors.Is(err, fs.ErrNotExist) {
			return &Error{Path: path, What: name + " changes this project, and Tandem does not merge files",
				Hint: "merge them into one, or leave the override out with -f " + filepath.Base(path)}
		}
	}
	return nil
}

// Read reads a project file and its environment files. getenv returns the variables for ${NAME}.
// Syntax errors are *Error.
func Read(path string, getenv func(string) string) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find project file: %w", err)
	}
	text, err := readBounded(path)
	if err != nil {
		return nil, fmt.Errorf("read project file: %w", err)
	}
	return Parse(path, text, getenv)
}

// Parse parses text as the contents of path. The name of path decides the format, and its directory
// is the base of relative paths.
func Parse(path string, text []byte, getenv func(string) string) (*File, error) {
	name := cmp.Or(names.Clean(filepath.Base(filepath.Dir(path))), "project")
	r := &reader{file: &File{Path: path, Name: name}, getenv: getenv, budget: maxNodes}
	switch base := filepath.Base(path); {
	case base == "Procfile" || strings.HasPrefix(base, "Procfile.") || filepath.Ext(base) == ".procfile":
		r.readProcfile(text)
	case base == packageName:
		r.readPackageJSON(text)
	default:
		r.readYAML(text)
	}
	if r.err == nil {
		r.check()
	}
	if r.err != nil {
		return nil, r.err
	}
	return r.file, nil
}

func readBounded(path string) ([]byte, error) {
	f, _, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it has more than %d bytes", maxFile)}
	}
	return text, err
}
