package plugin

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

const (
	// maxSearchText is the maximum size of a search result or listing in the plugin profile, in
	// bytes.
	maxSearchText = 64 << 10

	grepLimit = 100
	findLimit = 1000
	listLimit = 500
)

type grepInput struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path,omitempty"`
	Glob       string `json:"glob,omitempty"`
	IgnoreCase bool   `json:"ignoreCase,omitempty"`
	Context    int    `json:"context,omitempty"`
	Limit      int    `json:"limit,omitempty" default:"100" min:"1"`
}

func (in grepInput) Subject(f *toolkit.Agent) toolkit.Subject {
	return toolkit.Subject{Paths: []string{f.Folder(f.ParsePath(in.Path))}}
}

func grepFiles(ctx context.Context, f *toolkit.Agent, in grepInput) (toolkit.Result, error) {
	limit, err := effectiveLimit(in.Limit, grepLimit)
	if err != nil {
		return toolkit.Result{}, err
	}
	scope, path := f.PathInScope(in.Path)
	out, err := api.FilesGrep.Call(ctx, f.Engine, api.FilesGrepInput{
		FileScope: scope, Pattern: in.Pattern, Path: path, Glob: in.Glob,
		IgnoreCase: in.IgnoreCase, Context: in.Context, Limit: limit,
	})
	if err != nil {
		return toolkit.Result{}, err
	}
	switch {
	case out.File && out.Binary > 0 && out.Matches > 0:
		return toolkit.Text(prefix{f, in.Path, true}.displayPath("") + ": binary file matches"), nil
	case len(out.Lines) == 0 && out.Binary > 0 && !out.File && !f.UsesPluginFormat():
		return toolkit.Textf("No matches found. Left out: hidden and ignored files, and %d binary; name one to search it.", out.Binary), nil
	case len(out.Lines) == 0 && !out.File && !f.UsesPluginFormat():
		return toolkit.Text("No matches found. Hidden and ignored files are left out; name one to search it."), nil
	case len(out.Lines) == 0:
		return toolkit.Text("No matches found."), nil
	}
	if !f.UsesPluginFormat() {
		shortenMatches(in, out.Lines)
	}
	for i := range out.Lines {
		out.Lines[i].Path = f.DecodeName(out.Lines[i].Path)
	}
	rows := grepRows(prefix{f, in.Path, out.File}, out.Lines)
	answer := truncateRows(f, rows, "line(s)", " Narrow path, glob or pattern.") + f.QuoteNote(rows)
	if out.Limited {
		answer += fmt.Sprintf("\n[Limit of %d matches reached; there are more.]", limit)
	}
	return toolkit.Text(answer), nil
}

// shortenMatches cuts long lines around their matches.
func shortenMatches(in grepInput, lines []api.GrepLine) {
	expr := in.Pattern
	if in.IgnoreCase {
		expr = "(?i)" + expr
	}
	pattern, err := regexp.Compile(expr)
	if err != nil {
		pattern = nil // the engine has accepted it
	}
	for i, l := range lines {
		lines[i].Text = toolkit.AroundMatch(l.Text, pattern)
	}
}

// effectiveLimit returns the limit that a client has asked for, or usual if it has asked for none,
// that is, for 0.
func effectiveLimit(asked, usual int) (int, error) {
	switch {
	case asked < 0:
		return 0, api.Errorf(api.CodeInvalid, "limit cannot be negative")
	case asked == 0:
		return usual, nil
	}
	return asked, nil
}

// A prefix turns paths in search results into paths accepted by other tools.
type prefix struct {
	agent *toolkit.Agent
	path  string // searched, as given
	file  bool   // it is a file
}

func (p prefix) displayPath(rel string) string {
	path := p.agent.ParsePath(p.path)
	if folder := filepath.Clean(path); folder == "." {
		path = rel
	} else if !p.file {
		path = strings.TrimSuffix(folder, "/") + "/" + rel
	}
	return p.agent.DisplayName(path)
}

// grepRows formats results like grep: file:line:content for matches, file-line-content for context,
// and -- between groups.
func grepRows(p prefix, lines []api.GrepLine) []string {
	context := false
	for _, l := range lines {
		context = context || !l.Match
	}
	rows := make([]string, 0, len(lines))
	for i, l := range lines {
		if i > 0 && context && (l.Path != lines[i-1].Path || l.Line != lines[i-1].Line+1) {
			rows = append(rows, "--")
		}
		mark := "-"
		if l.Match {
			mark = ":"
		}
		rows = append(rows, p.displayPath(l.Path)+mark+strconv.FormatInt(l.Line, 10)+mark+l.Text)
	}
	return rows
}

// truncateRows joins as many rows as fit in a result. If some are left out, it adds hint, which
// says how to get them. unit names what a row is. If even the first row does not fit, it is cut.
func truncateRows(f *toolkit.Agent, rows []string, unit, hint string) string {
	limit, body, sizeOf := toolkit.DefaultSize, toolkit.DefaultBodySize, toolkit.JSONSize
	if f.UsesPluginFormat() {
		limit, body, hint = maxSearchText, maxSearchText, ""
		sizeOf = func(text string) int { return len(text) }
	}
	size := -sizeOf("\n")
	for i, row := range rows {
		if size += sizeOf(row + "\n"); size <= body {
			continue
		}
		// Show at least a part of the first row.
		if i == 0 {
			rows[0] = strings.ToValidUTF8(row[:min(len(row), body)], "")
			if !f.UsesPluginFormat() {
				rows[0] = toolkit.Head(row, body)
			}
			i = 1
		}
		return strings.Join(rows[:i], "\n") +
			fmt.Sprintf("\n[Output truncated to %d bytes; %d %s omitted.%s]", limit, len(rows)-i, unit, hint)
	}
	return strings.Join(rows, "\n")
}

type findInput struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitempty"`
	Limit   int    `json:"limit,omitempty" default:"1000"`
}

func (in findInput) Subject(f *toolkit.Agent) toolkit.Subject {
	return toolkit.Subject{Paths: []string{f.Folder(f.ParsePath(in.Path))}}
}

func findFiles(ctx context.Context, f *toolkit.Agent, in findInput) (toolkit.Result, error) {
	limit, err := effectiveLimit(in.Limit, findLimit)
	if err != nil {
		return toolkit.Result{}, err
	}
	scope, path := f.PathInScope(in.Path)
	out, err := api.FilesFind.Call(ctx, f.Engine, api.FilesFindInput{
		FileScope: scope, Pattern: in.Pattern, Path: path, Limit: limit,
	})
	switch {
	case err != nil:
		return toolkit.Result{}, err
	case len(out.Paths) == 0 && !f.UsesPluginFormat():
		return toolkit.Text("No files found. Ignored files are left out; name their folder to search it."), nil
	case len(out.Paths) == 0:
		return toolkit.Text("No files found."), nil
	}
	p := prefix{agent: f, path: in.Path}
	rows := make([]string, len(out.Paths))
	for i, rel := range out.Paths {
		rows[i] = p.displayPath(f.DecodeName(rel))
	}
	answer := truncateRows(f, rows, "line(s)", " Narrow path or pattern.") + f.QuoteNote(rows)
	if out.Limited {
		answer += fmt.Sprintf("\n[Limit of %d results reached; there are more.]", limit)
	}
	return toolkit.Text(answer), nil
}

type listInput struct {
	Path  string `json:"path,omitempty"`
	Limit int    `json:"limit,omitempty" default:"500"`
}

func (in listInput) Subject(f *toolkit.Agent) toolkit.Subject {
	return toolkit.Subject{Paths: []string{f.Folder(f.ParsePath(in.Path))}}
}

func listFolder(ctx context.Context, f *toolkit.Agent, in listInput) (toolkit.Result, error) {
	limit, err := effectiveLimit(in.Limit, listLimit)
	if err != nil {
		return toolkit.Result{}, err
	}
	scope, path := f.PathInScope(in.Path)
	out, err := api.FilesList.Call(ctx, f.Engine, api.FilesListInput{FileScope: scope, Path: path, Hidden: true, Limit: limit})
	switch {
	case errors.Is(err, api.ReasonNotFolder):
		return toolkit.Text(f.DisplayName(f.ParsePath(in.Path))), nil // like ls
	case err != nil:
		return toolkit.Result{}, err
	case len(out.Entries) == 0:
		return toolkit.Text("Directory is empty."), nil
	}
	var rows []string
	if f.UsesPluginFormat() { // like ls -1apL
		rows = []string{"./", "../"}
	}
	for _, e := range out.Entries {
		name := f.DecodeName(e.Name)
		if e.Type == "dir" || e.ToDir {
			name += "/"
		}
		rows = append(rows, f.DisplayName(name))
	}
	answer := truncateRows(f, rows, "entries", " find takes a pattern.") + f.QuoteNote(rows)
	if out.Omitted > 0 {
		answer += fmt.Sprintf("\n[Output truncated by limit: %d entries omitted.]", out.Omitted)
	}
	return toolkit.Text(answer), nil
}
