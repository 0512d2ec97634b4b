package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"tandem/engine/base/shell"
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

// serverPath returns the path of Tandem's entry in s. The newer, nested form is used only where s
// has it already.
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

// A Plan is a change to a settings file, made only by Write: by commands of the client's own program if
// there are any, else by replacing the file.
//
// Users edit their settings by hand, so comments, order and formatting must survive both adding Tandem
// and removing it. Decoding a file and encoding it again would lose them. Instead, one entry is inserted
// into the text, and removing takes out that entry alone. The backup beside the file is for the user:
// writing it back would undo the user's later edits.
type Plan struct {
	Path string

	before, after []byte
	exists        bool // the file existed when it was read
	mode          fs.FileMode
	ownFile       bool // the file has no content but setup's
	backup        bool // Write keeps a copy of a file of the user's
	parse         func(text []byte) (settings, error)
	commands      [][]string   // each is a program and its arguments
	dir           string       // the commands' working directory
	check         func() error // reports whether the commands made the change
}

// Changed reports whether Write would do anything.
func (p *Plan) Changed() bool {
	return len(p.commands) > 0 || !bytes.Equal(p.before, p.after) || p.deletesFile()
}

// Commands returns the commands that Write runs, as lines for a shell.
func (p *Plan) Commands() (lines []string) {
	for _, argv := range p.commands {
		lines = append(lines, shell.Quote(argv...))
	}
	return lines
}

// openPlan reads a client's settings and returns them with a plan without changes.
func (m Machine) openPlan(c Client, project bool) (*Plan, settings, error) {
	if project && !c.HasProject() {
		return nil, nil, fmt.Errorf("set up %s: it has no settings for one project", c.Title)
	}
	p := &Plan{Path: m.settingsPath(c, project), dir: m.Dir, parse: c.parseSettings, mode: 0o600}
	if project {
		p.mode = 0o644
	}
	s, err := p.read()
	return p, s, err
}

// read reads and parses the file. A missing file counts as empty.
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
	return s, nil
}

// settingsError adds the file's path to an error in its content.
func (p *Plan) settingsError(err error) error {
	var posErr *positionError
	if errors.As(err, &posErr) {
		return fmt.Errorf("read settings: %s:%w", p.Path, err)
	}
	return fmt.Errorf("read settings: %s: %w", p.Path, err)
}

// finish stores the edited text of s in the plan. If err is set, it returns err with the path of
// the settings.
func (p *Plan) finish(s settings, err error) (*Plan, error) {
	if err != nil {
		return nil, p.settingsError(err)
	}
	if p.after = s.bytes(); p.deletesFile() {
		p.after = nil
	}
	return p, nil
}

// Add returns a plan to add Tandem to a client's settings, or to replace its entry.
func (m Machine) Add(c Client, o ServerOptions, project bool) (*Plan, error) {
	entry, err := m.serverEntry(c, o, project)
	if err != nil {
		return nil, err
	}
	p, s, err := m.openPlan(c, project)
	if err != nil {
		return nil, err
	}
	have, found, err := s.get(c.serverPath(s))
	switch {
	case err != nil:
		return nil, p.settingsError(err)
	case found && isSameServer(have, entry):
		return p, nil
	}
	entry = entry.withUserMembers(have, serverMemberNames())
	if program := m.ownProgram(c, project); program != "" {
		if found && c.own.remove != nil {
			p.commands = append(p.commands, slices.Concat([]string{program}, c.own.remove(scopeOf(project))))
		}
		p.commands = append(p.commands, slices.Concat([]string{program}, c.own.add(scopeOf(project), entry)))
		p.check = func() error { return m.checkServer(c, project, true) }
		return p, nil
	}
	p.backup = true
	return p.finish(s, s.set(c.serverPath(s), entry))
}

// Remove returns a plan to remove Tandem's entry from a client's settings.
func (m Machine) Remove(c Client, project bool) (*Plan, error) {
	p, s, err := m.openPlan(c, project)
	if err != nil {
		return nil, err
	}
	original, ok, err := m.originalText(p, p.Path)
	if err != nil || ok {
		p.after = original
		return p, err
	}
	_, found, err := s.get(c.serverPath(s))
	if program := m.ownProgram(c, project); found && program != "" && c.own.remove != nil {
		p.commands = [][]string{slices.Concat([]string{program}, c.own.remove(scopeOf(project)))}
		p.check = func() error { return m.checkServer(c, project, false) }
		return p, nil
	}
	if err == nil && !found {
		return p, nil
	}
	return p.finish(s, errors.Join(err, s.remove(c.serverPath(s))))
}

// ownProgram returns the path of a client's program if it has commands to change the user's
// settings or, with project set, those of a project. Otherwise it returns "".
func (m Machine) ownProgram(c Client, project bool) string {
	if c.own == nil || project && !c.own.project {
		return ""
	}
	return m.LookPath(c.program)
}

func scopeOf(project bool) string {
	if project {
		return "project"
	}
	return "user"
}

// checkServer returns an error unless Tandem is in a client's settings or, if want is false, is
// missing from them.
func (m Machine) checkServer(c Client, project, want bool) error {
	found, err := m.isSetUp(c, project)
	switch {
	case err != nil || found == want:
		return err
	case want:
		return fmt.Errorf("tandem is not in %s", m.settingsPath(c, project))
	}
	return fmt.Errorf("tandem is still in %s", m.settingsPath(c, project))
}

// isSameServer reports whether an entry in settings equals want in everything that setup manages.
func isSameServer(entry any, want fields) bool {
	members, _ := entry.(map[string]any)
	wanted, _ := genericValue(want).(map[string]any)
	return !slices.ContainsFunc(serverMemberNames(), func(name string) bool {
		if name != "env" && name != "environment" {
			return !reflect.DeepEqual(members[name], wanted[name])
		}
		env, _ := members[name].(map[string]any)
		wantedEnv, _ := wanted[name].(map[string]any)
		return slices.ContainsFunc(serverVariableNames(), func(v string) bool { return env[v] != wantedEnv[v] })
	})
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
