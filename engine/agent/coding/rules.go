package coding

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

// defaultQuestionRows is how many rows at the bottom of the screen are searched for a question.
const defaultQuestionRows = 24

// A Rule describes how to recognize an agent and its states.
type Rule struct {
	Name, Title string
	Sources     []string // documents the rule is based on
	Programs    []string // names of its executable
	Scripts     []string // parts of the path of its script
	ReadsLines  bool     // it does not read its terminal while working
	Resume      []string // command resuming its conversation {id}
	Config      configRule
	File        fileRule
	Transcript  transcriptRule

	titles  []titleRule
	blocked []blockedRule
	open    *regexp.Regexp // matches a file it keeps open; the group is the conversation
	cost    *regexp.Regexp // matches a screen row; the group is the conversation's cost
}

// A configRule is the folder of an agent's settings and files, and the environment variable
// overriding it.
type configRule struct {
	Folder   string `toml:"folder"`
	Variable string `toml:"variable"`
}

// A fileRule describes the JSON file an agent keeps about itself.
type fileRule struct {
	Path         string                    `toml:"path"` // {pid} is the agent's process id
	Status       string                    `toml:"status"`
	Text         string                    `toml:"text"`
	Conversation string                    `toml:"conversation"`
	States       map[string]api.AgentState `toml:"states"`
}

type titleRule struct {
	match        *regexp.Regexp
	state        api.AgentState
	afterAnother bool // valid only after another title has set a state
}

// A blockedRule finds a question on the screen. One of the last rows must match line, and each
// expression in the list with must match one of these rows too. The text of the question is the
// first group of line, followed by the first group of below if a row further down matches it.
type blockedRule struct {
	line, below *regexp.Regexp
	with        []*regexp.Regexp
	rows        int
	yes, no     string // names of the answering keys
}

// A ruleFile is the TOML form of a Rule.
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

// Parse parses the rule of one agent. An error includes the line with the mistake.
func Parse(text []byte) (Rule, error) {
	text = diag.TrimBOM(text)
	var f ruleFile
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&f); err != nil {
		return Rule{}, diag.Explain(text, err, describeValue)
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
	if rule.open, err = compileOneGroup(f.OpenFile); err != nil {
		return Rule{}, wrong("", 0, "open_file", "open_file: must be a regular expression with one group, the conversation%s", reasonSuffix(err))
	}
	if rule.cost, err = compileOneGroup(f.Cost); err != nil {
		return Rule{}, wrong("", 0, "cost", "cost: must be a regular expression with one group, the amount%s", reasonSuffix(err))
	}
	for status, state := range f.File.States {
		if !api.IsAgentState(state) {
			return Rule{}, wrong("file", 1, "states", "states.%s = %q: must be %s", status, state, stateNames())
		}
	}
	for i, t := range f.Titles {
		match, err := regexp.Compile(t.Match)
		if err != nil || t.Match == "" {
			return Rule{}, wrong("terminal_title", i+1, "match", "match: must be a regular expression%s", reasonSuffix(err))
		}
		if !api.IsAgentState(t.State) {
			return Rule{}, wrong("terminal_title", i+1, "state", "state = %q: must be %s", t.State, stateNames())
		}
		rule.titles = append(rule.titles, titleRule{match, t.State, t.AfterAnother})
	}
	for i, b := range f.Blocked {
		made, key, err := b.compile()
		if err != nil {
			return Rule{}, wrong("blocked", i+1, key, "%s: must be a regular expression%s", key, reasonSuffix(err))
		}
		rule.blocked = append(rule.blocked, made)
	}
	return rule, nil
}

// compile returns the rule, or an error and the key with the mistake.
func (b blockTable) compile() (made blockedRule, key string, err error) {
	made.rows = cmp.Or(b.Rows, defaultQuestionRows)
	for key, name := range map[string]string{"yes": b.Yes, "no": b.No} {
		if _, err := keys.Parse(name); err != nil && b.Yes+b.No != "" {
			return made, key, err
		}
	}
	made.yes, made.no = b.Yes, b.No
	if b.Line == "" {
		return made, "line", errEmpty
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
	errEmpty  = errors.New("it is empty")
	errGroups = errors.New("it has none, or several")
)

// compileOneGroup compiles a regular expression with exactly one group. It returns nil for "".
func compileOneGroup(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	made, err := regexp.Compile(text)
	if err == nil && made.NumSubexp() != 1 {
		err = errGroups
	}
	return made, err
}

func reasonSuffix(err error) string {
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

// describeValue describes the value of a key.
func describeValue(key string) string {
	switch key {
	case "sources", "programs", "scripts", "with", "resume":
		return "a list of quoted strings"
	case "reads_lines", "after_another":
		return "true or false"
	case "rows":
		return "a number"
	case "terminal_title", "blocked":
		return "tables that begin with [[" + key + "]]"
	case "transcript":
		return "a table that begins with [transcript]"
	case "answer":
		return "a table of quoted strings, such as { type = \"assistant\" }"
	case "file":
		return "a table that begins with [file]"
	}
	return "a quoted string"
}

// titleState returns the state shown by a title; ok is false for none. spoke reports whether an
// earlier title set a state.
func (r Rule) titleState(title string, spoke bool) (state api.AgentState, ok bool) {
	for _, t := range r.titles {
		if t.match.MatchString(title) {
			return t.state, !t.afterAnother || spoke
		}
	}
	return "", false
}

// findQuestion returns the question on a screen; ok is false without one.
func (r Rule) findQuestion(rows []string) (text string, ok bool) {
	for _, b := range r.blocked {
		if text, ok := b.findQuestion(b.bottomRows(rows)); ok {
			return text, true
		}
	}
	return "", false
}

// findQuestion searches from the bottom up: an earlier question may stand above.
func (b blockedRule) findQuestion(rows []string) (text string, ok bool) {
	// A match of line counts only if each expression in the list with matches a row too.
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
		return plainLine(text), true
	}
	return "", false
}

// findCost returns the latest cost on a screen, or "".
func (r Rule) findCost(rows []string) string {
	if r.cost == nil {
		return ""
	}
	for _, row := range slices.Backward(rows) {
		if m := r.cost.FindStringSubmatch(row); m != nil {
			return plainLine(m[1])
		}
	}
	return ""
}

// plainLine joins a screen's text into one line without box drawing.
func plainLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if r >= 0x2500 && r <= 0x259f { // box drawing, blocks
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}
