package agents

import (
	"bytes"
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/persist/diag"
)

// rowsLooked is how many rows at the bottom of the screen a question is looked for in.
const rowsLooked = 24

// A Rule is how one agent is recognised, and what it shows in which state.
type Rule struct {
	Name, Title string
	Sources     []string // where it says so
	Programs    []string // names of its executable
	Scripts     []string // parts of the path of a script that it is
	ReadsLines  bool     // it does not read its terminal while it works
	Resume      []string // the command that goes on with its conversation {id}
	Config      configRule
	File        fileRule
	Transcript  transcriptRule

	titles  []titleRule
	blocked []blockedRule
	open    *regexp.Regexp // a file that it holds open; the group is the conversation
	cost    *regexp.Regexp // a row of its screen; the group is what the conversation has cost
}

// A configRule is the folder of an agent's settings and files, and the variable of its
// environment that names another one.
type configRule struct {
	Folder   string `toml:"folder"`
	Variable string `toml:"variable"`
}

// A fileRule is the JSON file that an agent keeps about itself.
type fileRule struct {
	Path         string                    `toml:"path"` // {pid} is the agent's
	Status       string                    `toml:"status"`
	Text         string                    `toml:"text"`
	Conversation string                    `toml:"conversation"`
	States       map[string]api.AgentState `toml:"states"`
}

type titleRule struct {
	match        *regexp.Regexp
	state        api.AgentState
	afterAnother bool // it says so only once another title of the agent has said something
}

// A blockedRule finds a question: a row that matches line, with all of with somewhere
// in the rows looked at. What is asked is its first group, or that of a row below it.
type blockedRule struct {
	line, below *regexp.Regexp
	with        []*regexp.Regexp
	rows        int
	yes, no     string // names of the keys that answer
}

// A ruleFile is a rule as it is written.
type ruleFile struct {
	Name       string         `toml:"name"`
	Title      string         `toml:"title"`
	Sources    []string       `toml:"sources"`
	Programs   []string       `toml:"programs"`
	Scripts    []string       `toml:"scripts"`
	ReadsLines bool           `toml:"reads_lines"`
	Resume     []string       `toml:"resume"`
	OpenFile   string         `toml:"open_file"`
	Cost       string         `toml:"cost"`
	Config     configRule     `toml:"config"`
	File       fileRule       `toml:"file"`
	Transcript transcriptRule `toml:"transcript"`
	Titles     []titleTable   `toml:"terminal_title"`
	Blocked    []blockTable   `toml:"blocked"`
}

type titleTable struct {
	Match        string         `toml:"match"`
	State        api.AgentState `toml:"state"`
	AfterAnother bool           `toml:"after_another"`
}

type blockTable struct {
	Line  string   `toml:"line"`
	Below string   `toml:"below"`
	With  []string `toml:"with"`
	Rows  int      `toml:"rows"`
	Yes   string   `toml:"yes"`
	No    string   `toml:"no"`
}

// Parse reads the rule of one agent. An error shows the line with the mistake.
func Parse(text []byte) (Rule, error) {
	text = diag.TrimBOM(text)
	var f ruleFile
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&f); err != nil {
		return Rule{}, diag.Explain(text, err, wanted)
	}
	wrong := func(table string, n int, key, format string, args ...any) error {
		return diag.Errorf(text, diag.Locate(text, table, n, key), format, args...)
	}
	switch {
	case f.Name == "" || strings.ContainsFunc(f.Name, func(r rune) bool { return r <= ' ' }):
		return Rule{}, wrong("", 0, "name", "name = %q: must be one word", f.Name)
	case len(f.Programs)+len(f.Scripts) == 0:
		return Rule{}, wrong("", 0, "name", "%s: must name programs or scripts", f.Name)
	}
	rule := Rule{
		Name: f.Name, Title: cmp.Or(f.Title, f.Name), Sources: f.Sources,
		Programs: f.Programs, Scripts: f.Scripts, ReadsLines: f.ReadsLines, Resume: f.Resume, Config: f.Config, File: f.File, Transcript: f.Transcript,
	}
	if len(f.Resume) > 0 && !slices.ContainsFunc(f.Resume, func(word string) bool { return strings.Contains(word, "{id}") }) {
		return Rule{}, wrong("", 0, "resume", "resume: one of its words must contain {id}")
	}
	if t := f.Transcript; t.Path != "" && (!strings.Contains(t.Path, "{id}") || t.Text == "") {
		return Rule{}, wrong("transcript", 1, "path", "transcript: path must contain {id}, and text must be set")
	}
	var err error
	if rule.open, err = oneGroup(f.OpenFile); err != nil {
		return Rule{}, wrong("", 0, "open_file", "open_file: must be a regular expression with one group, the conversation%s", because(err))
	}
	if rule.cost, err = oneGroup(f.Cost); err != nil {
		return Rule{}, wrong("", 0, "cost", "cost: must be a regular expression with one group, the amount%s", because(err))
	}
	for status, state := range f.File.States {
		if !api.IsAgentState(state) {
			return Rule{}, wrong("file", 1, "states", "states.%s = %q: must be %s", status, state, stateNames())
		}
	}
	for i, t := range f.Titles {
		match, err := regexp.Compile(t.Match)
		if err != nil || t.Match == "" {
			return Rule{}, wrong("terminal_title", i+1, "match", "match: must be a regular expression%s", because(err))
		}
		if !api.IsAgentState(t.State) {
			return Rule{}, wrong("terminal_title", i+1, "state", "state = %q: must be %s", t.State, stateNames())
		}
		rule.titles = append(rule.titles, titleRule{match, t.State, t.AfterAnother})
	}
	for i, b := range f.Blocked {
		made, key, err := b.compile()
		if err != nil {
			return Rule{}, wrong("blocked", i+1, key, "%s: must be a regular expression%s", key, because(err))
		}
		rule.blocked = append(rule.blocked, made)
	}
	return rule, nil
}

// compile gives the rule, or the key whose value is wrong.
func (b blockTable) compile() (made blockedRule, key string, err error) {
	made.rows = cmp.Or(b.Rows, rowsLooked)
	for key, name := range map[string]string{"yes": b.Yes, "no": b.No} {
		if _, err := keys.Parse(name); err != nil && b.Yes+b.No != "" {
			return made, key, err
		}
	}
	made.yes, made.no = b.Yes, b.No
	if b.Line == "" {
		return made, "line", errNothing
	}
	if made.line, err = regexp.Compile(b.Line); err != nil {
		return made, "line", err
	}
	if b.Below != "" {
		if made.below, err = regexp.Compile(b.Below); err != nil {
			return made, "below", err
		}
	}
	for _, text := range b.With {
		with, err := regexp.Compile(text)
		if err != nil {
			return made, "with", err
		}
		made.with = append(made.with, with)
	}
	return made, "", nil
}

var (
	errNothing = errors.New("it is empty")
	errGroups  = errors.New("it has none, or several")
)

// oneGroup compiles a regular expression with one group; nil for none.
func oneGroup(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	made, err := regexp.Compile(text)
	if err == nil && made.NumSubexp() != 1 {
		err = errGroups
	}
	return made, err
}

func because(err error) string {
	if err == nil {
		return ""
	}
	return ": " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")
}

func stateNames() string {
	var names []string
	for _, s := range api.AgentStates() {
		names = append(names, string(s))
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// wanted says what the value of a key is.
func wanted(key string) string {
	switch key {
	case "sources", "programs", "scripts", "with", "resume":
		return "a list of texts in quotes"
	case "reads_lines", "after_another":
		return "true or false"
	case "rows":
		return "a number"
	case "terminal_title", "blocked":
		return "tables that begin with [[" + key + "]]"
	case "transcript":
		return "a table that begins with [transcript]"
	case "answer":
		return "fields with texts in quotes: { type = \"assistant\" }"
	case "file":
		return "a table that begins with [file]"
	}
	return "a text in quotes"
}

// sayOfTitle is what a title says; ok is false for nothing. spoke is whether an earlier
// one did.
func (r Rule) sayOfTitle(title string, spoke bool) (state api.AgentState, ok bool) {
	for _, t := range r.titles {
		if t.match.MatchString(title) {
			return t.state, !t.afterAnother || spoke
		}
	}
	return "", false
}

// question is what the rows of a screen ask the person; ok is false if it is nothing.
func (r Rule) question(rows []string) (text string, ok bool) {
	for _, b := range r.blocked {
		if text, ok := b.find(b.looked(rows)); ok {
			return text, true
		}
	}
	return "", false
}

// find looks for the question from the bottom up: above it may stand what was asked before.
func (b blockedRule) find(rows []string) (text string, ok bool) {
	for _, with := range b.with {
		if !slices.ContainsFunc(rows, with.MatchString) {
			return "", false
		}
	}
	for i, row := range slices.Backward(rows) {
		m := b.line.FindStringSubmatch(row)
		if m == nil {
			continue
		}
		text := m[0]
		if len(m) > 1 {
			text = m[1]
		}
		for _, under := range rows[i+1:] {
			if b.below == nil {
				break
			}
			if m := b.below.FindStringSubmatch(under); len(m) > 1 {
				text += ": " + m[1]
				break
			}
		}
		return plain(text), true
	}
	return "", false
}

// spent is what the rows of a screen say that the conversation has cost, last; "" if nothing.
func (r Rule) spent(rows []string) string {
	if r.cost == nil {
		return ""
	}
	for _, row := range slices.Backward(rows) {
		if m := r.cost.FindStringSubmatch(row); m != nil {
			return plain(m[1])
		}
	}
	return ""
}

// plain is a text of the screen without the lines of boxes, on one line.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		if r >= 0x2500 && r <= 0x259f { // box drawing, blocks
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}
