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
	"syscall"

	"tandem/engine/api"
)

// fileNames are the names of project files, in the order in which a folder is
// searched for them. A package.json counts only where none of them is found.
func fileNames() []string {
	return slices.Concat([]string{"tandem.yaml", "tandem.yml"}, composeNames(), []string{"Procfile.dev", "Procfile"})
}

// composeNames are the names of process-compose's files in its own order.
func composeNames() []string {
	return []string{"compose.yml", "compose.yaml", "process-compose.yml", "process-compose.yaml", "compose.processes.yaml"}
}

// overrideNames are the files that process-compose lays over one that it has found.
func overrideNames() []string {
	return []string{"compose.override.yml", "compose.override.yaml", "process-compose.override.yml", "process-compose.override.yaml"}
}

// maxFile bounds project and environment files, in bytes.
const maxFile = 1 << 20

// ErrNone is in the error of Find when a folder has no project file.
var ErrNone = errors.New("no project file")

// A File is what a project file says.
type File struct {
	Path    string // absolute
	Name    string // of the project; default: the folder's
	Entries []Entry
	Layout  []Pane // of each tab; empty: none is given

	// Notices tell what of the file was understood and is not used.
	Notices []string
}

// An Entry is one session or process of a project.
type Entry struct {
	Name   string
	At     Position
	Start  api.ProcessStartInput // ready to be sent, but for Environ, Env and the size
	Env    []Variable            // in the order in which they count, later ones more
	After  []Dependency
	Manual bool // it is started only when it is named or depended on

	Session bool // listed under sessions:, so its default stop signal is HUP

	Script string // what a script of a package.json runs; "" for others
}

// Line is what an entry runs, as a person would type it; "" for a shell.
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

// A Condition is how far an entry must have come before what depends on it is
// started.
type Condition string

const (
	Started   Condition = "started"                // it runs, or has run
	Ready     Condition = "ready"                  // it is ready; without a readiness check: it runs
	Completed Condition = "completed"              // it has ended
	Succeeded Condition = "completed_successfully" // it has ended with success
)

// A Dependency is an entry that another one waits for.
type Dependency struct {
	Name      string
	Condition Condition
	At        Position
}

// A Pane is a node of a layout: a session, or panes side by side or below each
// other.
type Pane struct {
	Session string // name of an entry; empty for a split
	Beside  bool   // a split's panes are side by side, else below each other
	Panes   []Pane
	Sizes   []int // shares of Panes; nil: equal ones
	At      Position
}

// A Position is a place in a file, counted from 1; a Line of 0 is none.
type Position struct{ Line, Column int }

// An Error is a mistake at a place in a file.
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

// Find is the path of the project file of a folder or the nearest one above it,
// or, without one, of the nearest package.json.
func Find(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find project file: %w", err)
	}
	for _, names := range [][]string{fileNames(), {packageName}} {
		if path := findAbove(dir, names); path != "" {
			return path, nil
		}
	}
	return "", fmt.Errorf("find project file: %w in %s or above it", ErrNone, dir)
}

// findAbove is the first regular file with one of the names in a folder or above
// it.
func findAbove(dir string, names []string) string {
	for at := dir; ; at = filepath.Dir(at) {
		for _, name := range names {
			path := filepath.Join(at, name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !isDockers(path) {
				return path
			}
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// isDockers reports whether a compose.yaml is Docker's: it has no processes. One that
// cannot be read is not, so that Read says why.
func isDockers(path string) bool {
	if name := filepath.Base(path); name != "compose.yml" && name != "compose.yaml" {
		return false
	}
	text, err := readBounded(path)
	return err == nil && !regexp.MustCompile(`(?m)^["']?processes["']?\s*:`).Match(text)
}

// CheckOverride rejects a process-compose file that was found, if an override file beside
// it changes the project. Mistakes are *Error.
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

// Read reads a project file, and the environment files that it names. Getenv
// gives variables that it refers to. Mistakes are *Error.
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

// Parse is Read of a text; path says what kind of file it is and where what it
// names is.
func Parse(path string, text []byte, getenv func(string) string) (*File, error) {
	r := &reader{file: &File{Path: path, Name: projectName(filepath.Base(filepath.Dir(path)))}, getenv: getenv, budget: maxNodes}
	switch base := filepath.Base(path); {
	case base == "Procfile" || strings.HasPrefix(base, "Procfile.") || filepath.Ext(base) == ".procfile":
		r.procfile(text)
	case base == packageName:
		r.packageJSON(text)
	default:
		r.yaml(text)
	}
	if r.err == nil {
		r.check()
	}
	if r.err != nil {
		return nil, r.err
	}
	return r.file, nil
}

// projectName makes a name of a folder's.
func projectName(folder string) string {
	if !goodName(folder) {
		return "project"
	}
	return folder
}

func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	notRegular := &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	if !info.Mode().IsRegular() {
		return nil, notRegular
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() { // it may have been replaced
		return nil, cmp.Or(err, error(notRegular))
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it has more than %d bytes", maxFile)}
	}
	return text, err
}
