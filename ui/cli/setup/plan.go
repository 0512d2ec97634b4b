package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
)

// settings are the text of a file of settings that is edited in place. A path is
// the names that lead to a value.
type settings interface {
	bytes() []byte
	get(path []string) (v any, there bool, err error)
	set(path []string, v any) error
	remove(path []string) error
}

// open reads a text of settings in a client's format.
func (c Client) open(text []byte) (settings, error) {
	if c.format == formatTOML {
		return openTOML(text)
	}
	return openJSON(text, c.format == formatJSON)
}

// at is the path of the server in settings.
func (c Client) at(s settings) []string {
	at := slices.Clone(c.servers)
	if c.nested != "" {
		nested := append(at, c.nested)
		if v, _, err := s.get(nested); err == nil && isServers(v) {
			at = nested
		}
	}
	return append(at, serverName)
}

// isServers reports whether a value is a list of servers, and not a server.
func isServers(v any) bool {
	m, ok := v.(map[string]any)
	_, one := m["type"].(string)
	return ok && !one
}

// A Plan is a change to a file of settings that nobody has made yet.
type Plan struct {
	Path string

	before, after []byte
	there         bool   // the file exists
	undo          *undo  // what the record says of the file; nil if nothing
	records       string // the file of the record
	key           string // of the change in the record
	mode          fs.FileMode
	own           bool // the file holds nothing but what setup has written
	open          func(text []byte) (settings, error)
}

// Changed reports whether there is anything to do.
func (p *Plan) Changed() bool { return !bytes.Equal(p.before, p.after) || p.deletes() }

// deletes reports whether the plan is to delete the file, which setup has made.
func (p *Plan) deletes() bool {
	return p.there && len(p.after) == 0 && (p.own || p.undo != nil && p.undo.Created)
}

// plan reads a client's settings.
func (m Machine) plan(c Client, project bool) (*Plan, settings, error) {
	if project && !c.HasProject() {
		return nil, nil, fmt.Errorf("set up %s: it has no settings for one project", c.Title)
	}
	path := m.path(c, project)
	p := m.newPlan(path, path, c.open)
	if project {
		p.mode = 0o644
	}
	s, err := p.read()
	return p, s, err
}

// newPlan is a plan for a file that changes nothing yet; key is that of the change in the
// record.
func (m Machine) newPlan(path, key string, open func([]byte) (settings, error)) *Plan {
	return &Plan{Path: path, key: key, open: open, records: filepath.Join(m.DataDir, recordName), mode: 0o600}
}

// read reads the file, and what the record says of it.
func (p *Plan) read() (s settings, err error) {
	p.before, err = os.ReadFile(p.Path)
	switch {
	case err == nil:
		p.there = true
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read settings: %w", err)
	}
	p.after = p.before
	if s, err = p.open(p.before); err != nil {
		return nil, p.misread(err)
	}
	p.undo, err = recorded(p.records, p.key)
	return s, err
}

// misread says where a file is wrong.
func (p *Plan) misread(err error) error {
	var wrong *mistake
	if errors.As(err, &wrong) {
		return fmt.Errorf("read settings: %s:%w", p.Path, err)
	}
	return fmt.Errorf("read settings: %s: %w", p.Path, err)
}

// Add plans to set up Tandem in a client's settings.
func (m Machine) Add(c Client, w ServerOptions, project bool) (*Plan, error) {
	entry, err := m.entry(c, w, project)
	if err != nil {
		return nil, err
	}
	p, s, err := m.plan(c, project)
	if err != nil {
		return nil, err
	}
	if err := put(s, c.at(s), entry); err != nil {
		return nil, p.misread(err)
	}
	if back, ok := p.reverted(); ok && !bytes.Equal(s.bytes(), p.before) {
		if s, err = c.open(back); err == nil {
			err = put(s, c.at(s), entry)
		}
		if err != nil {
			return nil, p.misread(err)
		}
	}
	p.after = s.bytes()
	return p, nil
}

// Remove plans to take Tandem out of a client's settings: as they were before,
// if that is known and can be, else by deleting the server alone.
func (m Machine) Remove(c Client, project bool) (*Plan, error) {
	p, s, err := m.plan(c, project)
	if err != nil {
		return nil, err
	}
	if back, ok := p.reverted(); ok {
		p.after = back
		return p, nil
	}
	if err := s.remove(c.at(s)); err != nil {
		return nil, p.misread(err)
	}
	p.after = s.bytes()
	return p, nil
}

// reverted is the file without what setup has done to it; ok is false if that is
// not known, or has been edited since.
func (p *Plan) reverted() (text []byte, ok bool) {
	if p.undo == nil || len(p.undo.After) == 0 || bytes.Count(p.before, p.undo.After) != 1 {
		return nil, false
	}
	text = bytes.Replace(p.before, p.undo.After, p.undo.Before, 1)
	_, err := p.open(text)
	return text, err == nil
}

// put writes a server into settings. What else a person has written there stays.
func put(s settings, at []string, entry fields) error {
	have, _, err := s.get(at)
	if err != nil {
		return err
	}
	members, ok := have.(map[string]any)
	if !ok {
		return s.set(at, entry)
	}
	for _, name := range owned() {
		if value, there := members[name]; there {
			if err := clean(s, slices.Concat(at, []string{name}), value, entry.get(name)); err != nil {
				return err
			}
		}
	}
	for _, f := range entry {
		if _, there := members[f.name]; there && !slices.Contains(owned(), f.name) {
			continue
		}
		if err := merge(s, slices.Concat(at, []string{f.name}), members[f.name], f.value); err != nil {
			return err
		}
	}
	return nil
}

// clean takes out a member that is not wanted: of an environment only our
// variables, if the person has others there.
func clean(s settings, at []string, have, want any) error {
	members, ok := have.(map[string]any)
	if name := at[len(at)-1]; !ok || name != "env" && name != "environment" {
		if want == nil {
			return s.remove(at)
		}
		return nil
	}
	wanted, _ := want.(fields)
	ours := 0
	for _, name := range variableNames() {
		if _, there := members[name]; there && wanted.get(name) == nil {
			ours++
			if err := s.remove(slices.Concat(at, []string{name})); err != nil {
				return err
			}
		}
	}
	if want == nil && ours > 0 && ours == len(members) {
		return s.remove(at)
	}
	return nil
}

// merge sets a member, and of one that has members each that is wanted.
func merge(s settings, at []string, have, want any) error {
	_, ok := have.(map[string]any)
	inner, nested := want.(fields)
	if !ok || !nested {
		return s.set(at, want)
	}
	for _, f := range inner {
		if err := s.set(slices.Concat(at, []string{f.name}), f.value); err != nil {
			return err
		}
	}
	return nil
}

// Snippet is settings that hold nothing but the server, to be written by hand.
func (m Machine) Snippet(c Client, w ServerOptions, project bool) (text, path string, err error) {
	entry, err := m.entry(c, w, project)
	if err != nil {
		return "", "", err
	}
	s, err := c.open(nil)
	if err == nil {
		err = s.set(append(slices.Clone(c.servers), serverName), entry)
	}
	if err != nil {
		return "", "", err
	}
	return string(s.bytes()), m.path(c, project), nil
}

// A ClientState describes a client on a machine: its settings files, and whether Tandem is in them.
type ClientState struct {
	Name           string `json:"client"`
	Title          string `json:"title"`
	Found          bool   `json:"found"`             // it seems to be installed
	User           string `json:"path"`              // the person's settings
	Project        string `json:"project,omitempty"` // this folder's
	SetUp          bool   `json:"set_up"`            // Tandem is in the person's settings
	SetUpInProject bool   `json:"set_up_in_project"` // Tandem is in this folder's
	Error          string `json:"error,omitempty"`   // why that is not known
}

// States tells of all clients.
func (m Machine) States() (all []ClientState) {
	for _, c := range clients() {
		st := ClientState{Name: c.Name, Title: c.Title, Found: m.found(c.program, m.path(c, false)), User: m.path(c, false)}
		var err, err2 error
		st.SetUp, err = m.has(c, false)
		if c.HasProject() {
			st.Project = m.path(c, true)
			st.SetUpInProject, err2 = m.has(c, true)
		}
		if err := errors.Join(err, err2); err != nil {
			st.Error = strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		all = append(all, st)
	}
	return all
}

// has reports whether Tandem is in a client's settings.
func (m Machine) has(c Client, project bool) (bool, error) {
	p, s, err := m.plan(c, project)
	if err != nil {
		return false, err
	}
	_, there, err := s.get(c.at(s))
	if err != nil {
		return false, p.misread(err)
	}
	return there, nil
}

// Write makes the change, unless the file has changed in the meantime.
func (p *Plan) Write() error {
	now, err := os.ReadFile(p.Path)
	if there := err == nil; there != p.there || !bytes.Equal(now, p.before) || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write settings: %s has changed in the meantime; run this again", p.Path)
	}
	if p.deletes() {
		return p.delete()
	}
	target, err := target(p.Path)
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	u := p.next()
	if u.Made == "" {
		u.Made = missing(filepath.Dir(target))
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	if err := record(p.records, p.key, u); err != nil {
		return err
	}
	if err := renameio.WriteFile(target, p.after, p.mode, renameio.WithExistingPermissions()); err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	return nil
}

// delete deletes a file that setup has made, and the folders that it made for it.
func (p *Plan) delete() error {
	if err := os.Remove(p.Path); err != nil {
		return fmt.Errorf("delete settings: %w", err)
	}
	for dir := filepath.Dir(p.Path); p.undo != nil && p.undo.Made != "" && strings.HasPrefix(dir+"/", p.undo.Made+"/"); dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil {
			break // somebody else's files are in it
		}
	}
	return record(p.records, p.key, undo{})
}

// target is the file that a path leads to, through links.
func target(path string) (string, error) {
	for range 40 { // as many links as Linux follows
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", &fs.PathError{Op: "follow links", Path: path, Err: errors.New("too many")}
}

// missing is the first folder on the way to one that does not exist; "" if all do.
func missing(dir string) (first string) {
	for !exists(dir) {
		first, dir = dir, filepath.Dir(dir)
	}
	return first
}
