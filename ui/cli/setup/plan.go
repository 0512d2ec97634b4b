package setup

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"tandem/persist/regular"
)

// settings is the text of a settings file, edited in place. A path lists the names
// leading to a value, the outermost first.
type settings interface {
	bytes() []byte
	get(path []string) (v any, found bool, err error)
	set(path []string, v any) error
	remove(path []string) error
}

// parseSettings parses text in the client's format.
func (c Client) parseSettings(text []byte) (settings, error) {
	if c.format == formatTOML {
		return openTOML(text)
	}
	return openJSON(text, c.format == formatJSON)
}

// serverPath returns the path of Tandem's entry in s. It prefers the newer nested form only if s
// already has it.
func (c Client) serverPath(s settings) []string {
	at := slices.Clone(c.serversPath)
	if c.nestedName != "" {
		nested := append(at, c.nestedName)
		if v, _, err := s.get(nested); err == nil && isServerMap(v) {
			at = nested
		}
	}
	return append(at, serverName)
}

// isServerMap reports whether v is an object of servers, and not a server named like it.
func isServerMap(v any) bool {
	m, ok := v.(map[string]any)
	_, one := m["type"].(string)
	return ok && !one
}

// A Plan is a change to a settings file, made only by Write.
//
// Users edit their settings by hand, so comments, order and odd formatting must survive both adding
// Tandem and removing it. Decoding a file and encoding it again would lose them. Instead, a Plan holds
// the text before and after the change, edited in place by a jsonFile or tomlFile, and the command can
// show the difference before anything is written.
//
// Write records the differing bytes. Removing puts the previous bytes back in their place. If the added
// bytes are missing or ambiguous, the user has edited them, and only Tandem's own members are deleted. A
// backup of the whole file would not do: restoring it would undo the user's later edits.
type Plan struct {
	Path string

	before, after []byte
	exists        bool        // the file existed when it was read
	undo          *undoRecord // the recorded change to the file; nil if none
	recordFile    string      // path of the file with all records
	recordKey     string      // key of this file's change in recordFile
	mode          fs.FileMode
	ownFile       bool // the file has no content but setup's
	parse         func(text []byte) (settings, error)
}

// Changed reports whether Write would change or delete the file.
func (p *Plan) Changed() bool { return !bytes.Equal(p.before, p.after) || p.deletesFile() }

// deletesFile reports whether Write deletes the file: it becomes empty, and setup created it or owns it.
func (p *Plan) deletesFile() bool {
	return p.exists && len(p.after) == 0 && (p.ownFile || p.undo != nil && p.undo.Created)
}

// openPlan reads a client's settings and returns them with a plan without changes.
func (m Machine) openPlan(c Client, project bool) (*Plan, settings, error) {
	if project && !c.HasProject() {
		return nil, nil, fmt.Errorf("set up %s: it has no settings for one project", c.Title)
	}
	path := m.settingsPath(c, project)
	p := m.newPlan(path, path, c.parseSettings)
	if project {
		p.mode = 0o644
	}
	s, err := p.read()
	return p, s, err
}

// newPlan returns a plan for the file at path. Its change is recorded under key.
func (m Machine) newPlan(path, key string, open func([]byte) (settings, error)) *Plan {
	return &Plan{Path: path, recordKey: key, parse: open, recordFile: filepath.Join(m.DataDir, recordFileName), mode: 0o600}
}

// read reads and parses the file and its record. A missing file counts as empty.
func (p *Plan) read() (s settings, err error) {
	p.before, err = regular.ReadFile(p.Path)
	switch {
	case err == nil:
		p.exists = true
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read settings: %w", err)
	}
	p.after = p.before
	if s, err = p.parse(p.before); err != nil {
		return nil, p.settingsError(err)
	}
	p.undo, err = findUndo(p.recordFile, p.recordKey)
	return s, err
}

// settingsError adds the file's path to an error in its content.
func (p *Plan) settingsError(err error) error {
	var posErr *positionError
	if errors.As(err, &posErr) {
		return fmt.Errorf("read settings: %s:%w", p.Path, err)
	}
	return fmt.Errorf("read settings: %s: %w", p.Path, err)
}

// Add returns a plan to add Tandem to a client's settings, or to update its entry.
func (m Machine) Add(c Client, o ServerOptions, project bool) (*Plan, error) {
	entry, err := m.serverEntry(c, o, project)
	if err != nil {
		return nil, err
	}
	p, s, err := m.openPlan(c, project)
	if err != nil {
		return nil, err
	}
	if err := putServer(s, c.serverPath(s), entry); err != nil {
		return nil, p.settingsError(err)
	}
	// Update from the original text where it is known: nothing of the old entry is left, and one record
	// still undoes everything.
	if original, ok := p.originalText(); ok && !bytes.Equal(s.bytes(), p.before) {
		if s, err = c.parseSettings(original); err == nil {
			err = putServer(s, c.serverPath(s), entry)
		}
		if err != nil {
			return nil, p.settingsError(err)
		}
	}
	p.after = s.bytes()
	return p, nil
}

// Remove returns a plan to remove Tandem from a client's settings. It restores the
// original text if setup's change is recorded and unedited; otherwise it deletes
// only Tandem's entry.
func (m Machine) Remove(c Client, project bool) (*Plan, error) {
	p, s, err := m.openPlan(c, project)
	if err != nil {
		return nil, err
	}
	if original, ok := p.originalText(); ok {
		p.after = original
		return p, nil
	}
	if err := s.remove(c.serverPath(s)); err != nil {
		return nil, p.settingsError(err)
	}
	p.after = s.bytes()
	return p, nil
}

// originalText returns the file's text without setup's change, keeping the user's
// later edits elsewhere. ok is false if the change is unrecorded or edited.
func (p *Plan) originalText() (text []byte, ok bool) {
	if p.undo == nil || len(p.undo.After) == 0 || bytes.Count(p.before, p.undo.After) != 1 {
		return nil, false
	}
	text = bytes.Replace(p.before, p.undo.After, p.undo.Before, 1)
	// The user's edits around the change may depend on it, on a comma for example.
	if _, err := p.parse(text); err != nil {
		return nil, false
	}
	return text, true
}

// putServer writes entry to s. In an existing entry, it keeps members not managed by setup.
func putServer(s settings, path []string, entry fields) error {
	have, _, err := s.get(path)
	if err != nil {
		return err
	}
	members, ok := have.(map[string]any)
	if !ok {
		return s.set(path, entry)
	}
	for _, name := range serverMemberNames() {
		if value, found := members[name]; found {
			if err := removeStaleMember(s, slices.Concat(path, []string{name}), value, entry.get(name)); err != nil {
				return err
			}
		}
	}
	for _, f := range entry {
		// A member outside setup's control is only a default: the user's value counts.
		if _, found := members[f.name]; found && !slices.Contains(serverMemberNames(), f.name) {
			continue
		}
		if err := mergeMember(s, slices.Concat(path, []string{f.name}), members[f.name], f.value); err != nil {
			return err
		}
	}
	return nil
}

// removeStaleMember removes a member of the entry if want is nil. In an
// environment, it removes only setup's unwanted variables, and the environment
// itself only if it had no others.
func removeStaleMember(s settings, path []string, have, want any) error {
	members, ok := have.(map[string]any)
	if name := path[len(path)-1]; !ok || name != "env" && name != "environment" {
		if want == nil {
			return s.remove(path)
		}
		return nil
	}
	wanted, _ := want.(fields)
	ours := 0
	for _, name := range serverVariableNames() {
		if _, found := members[name]; found && wanted.get(name) == nil {
			ours++
			if err := s.remove(slices.Concat(path, []string{name})); err != nil {
				return err
			}
		}
	}
	if want == nil && ours > 0 && ours == len(members) {
		return s.remove(path)
	}
	return nil
}

// mergeMember sets a member to want. If both are objects, it sets only the members of want.
func mergeMember(s settings, path []string, have, want any) error {
	_, ok := have.(map[string]any)
	inner, nested := want.(fields)
	if !ok || !nested {
		return s.set(path, want)
	}
	for _, f := range inner {
		if err := s.set(slices.Concat(path, []string{f.name}), f.value); err != nil {
			return err
		}
	}
	return nil
}

// Snippet returns settings with only Tandem's entry, to be added by hand to the file at path.
func (m Machine) Snippet(c Client, o ServerOptions, project bool) (text, path string, err error) {
	entry, err := m.serverEntry(c, o, project)
	if err != nil {
		return "", "", err
	}
	s, err := c.parseSettings(nil)
	if err == nil {
		err = s.set(append(slices.Clone(c.serversPath), serverName), entry)
	}
	if err != nil {
		return "", "", err
	}
	return string(s.bytes()), m.settingsPath(c, project), nil
}

// A ClientState describes a client on a machine: its settings files, and whether Tandem is in them.
type ClientState struct {
	Name           string `json:"client"`
	Title          string `json:"title"`
	Found          bool   `json:"found"`             // the client seems to be installed
	User           string `json:"path"`              // path of the user's settings
	Project        string `json:"project,omitempty"` // path of the project's settings; "" if unsupported
	SetUp          bool   `json:"set_up"`            // Tandem is in the user's settings
	SetUpInProject bool   `json:"set_up_in_project"` // Tandem is in the project's settings
	Error          string `json:"error,omitempty"`   // the reason for an unknown SetUp or SetUpInProject
}

// States returns the states of all supported clients. A client with unreadable settings has its Error
// set.
func (m Machine) States() (all []ClientState) {
	for _, c := range Clients() {
		st := ClientState{Name: c.Name, Title: c.Title, Found: m.isInstalled(c.program, m.settingsPath(c, false)), User: m.settingsPath(c, false)}
		var err, err2 error
		st.SetUp, err = m.isSetUp(c, false)
		if c.HasProject() {
			st.Project = m.settingsPath(c, true)
			st.SetUpInProject, err2 = m.isSetUp(c, true)
		}
		if err := errors.Join(err, err2); err != nil {
			st.Error = strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		all = append(all, st)
	}
	return all
}

// isSetUp reports whether Tandem is in a client's settings.
func (m Machine) isSetUp(c Client, project bool) (bool, error) {
	p, s, err := m.openPlan(c, project)
	if err != nil {
		return false, err
	}
	_, found, err := s.get(c.serverPath(s))
	if err != nil {
		return false, p.settingsError(err)
	}
	return found, nil
}

// Write makes the change and records it. It fails if the file has changed since it was read.
func (p *Plan) Write() error {
	now, err := regular.ReadFile(p.Path)
	if exists := err == nil; exists != p.exists || !bytes.Equal(now, p.before) || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write settings: %s has changed in the meantime; run this again", p.Path)
	}
	if p.deletesFile() {
		return p.deleteFile()
	}
	// Replace the file, and not a symbolic link to it.
	target, err := filepath.EvalSymlinks(p.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		target = p.Path
	case err != nil:
		return fmt.Errorf("write settings: %w", err)
	}
	u := p.nextUndo()
	u.CreatedDir = cmp.Or(u.CreatedDir, firstMissingDir(filepath.Dir(target)))
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	// Record first: after a crash, a record without its change is ignored, but a change without a record
	// could not be undone.
	if err := saveUndo(p.recordFile, p.recordKey, u); err != nil {
		return err
	}
	if err := renameio.WriteFile(target, p.after, p.mode, renameio.WithExistingPermissions()); err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	return nil
}

// deleteFile deletes a file created by setup, the empty directories created for it, and its record.
func (p *Plan) deleteFile() error {
	if err := os.Remove(p.Path); err != nil {
		return fmt.Errorf("delete settings: %w", err)
	}
	for dir := filepath.Dir(p.Path); p.undo != nil && p.undo.CreatedDir != "" && strings.HasPrefix(dir+"/", p.undo.CreatedDir+"/"); dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil {
			break // not empty
		}
	}
	return saveUndo(p.recordFile, p.recordKey, undoRecord{})
}

// firstMissingDir returns the outermost missing directory on the path to dir, or "" if dir exists.
func firstMissingDir(dir string) (first string) {
	for !pathExists(dir) {
		first, dir = dir, filepath.Dir(dir)
	}
	return first
}
