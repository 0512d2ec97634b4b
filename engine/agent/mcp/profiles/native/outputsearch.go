package native

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/base/units"
)

func outputSearchTool() toolkit.Tool {
	return toolkit.Define[outputSearchInput, toolkit.None](toolkit.Tool{Name: "output_search", Effect: api.Read, Profiles: []toolkit.Profile{toolkit.Native},
		Doc: "Search all output of sessions and processes, newest first."}, searchOutput)
}

type outputSearchInput struct {
	Pattern string `json:"pattern"`
	Name    string `json:"name,omitempty" doc:"glob"`
	Context int    `json:"context,omitempty"`
	Limit   int    `json:"limit,omitempty" default:"50" max:"1000"`
}

const (
	// searchTime limits a search of an agent, which waits for it.
	searchTime = 10 * time.Second
	// searchStep is how long one call of the engine searches, in milliseconds.
	searchStep = 500
)

func searchOutput(ctx context.Context, f *toolkit.Agent, in outputSearchInput) (toolkit.Result, error) {
	if err := toolkit.CheckPatterns(in.Pattern); err != nil {
		return toolkit.Result{}, err
	}
	ask := api.OutputSearchInput{
		Pattern: api.Pattern{Text: in.Pattern, Regexp: true, Exact: true},
		Name:    in.Name, Context: in.Context, WaitMS: searchStep,
	}
	pattern, err := ask.Pattern.Compile()
	if err != nil {
		return toolkit.Result{}, err
	}
	list := hitList{pattern: pattern, context: in.Context > 0}
	var out api.OutputSearchOutput
	for until := time.Now().Add(searchTime); ; ask.Cursor = out.Cursor {
		ask.Limit = in.Limit - list.count
		if out, err = api.OutputSearch.Call(ctx, f.Engine, ask); err != nil {
			return toolkit.Result{}, err
		}
		if list.add(out.Hits); out.Cursor == nil || list.full || list.count >= in.Limit || !time.Now().Before(until) {
			break
		}
	}
	return toolkit.Text(list.text(out, in.Limit)), nil
}

// A hitList formats hits, under a heading for each session, process or command that printed them.
type hitList struct {
	pattern *regexp.Regexp
	context bool
	b       strings.Builder
	heading string // the last one
	count   int
	size    int  // of the text
	full    bool // there is no room for another hit
}

func (l *hitList) add(hits []api.OutputHit) {
	for _, h := range hits {
		block := formatMatch(h.LogMatch, l.pattern)
		if heading := hitHeading(h); heading != l.heading {
			block, l.heading = heading+block, heading
		} else if l.context {
			block = "--\n" + block
		}
		block = toolkit.HeadAndTail(block, toolkit.DefaultBodySize, "")
		if l.size += toolkit.JSONSize(block); l.count > 0 && l.size > toolkit.DefaultBodySize {
			l.full = true
			return
		}
		l.b.WriteString(block)
		l.count++
	}
}

// hitHeading returns a line that says what printed a hit.
func hitHeading(h api.OutputHit) string {
	actor, end := h.Actor+fromMachine(h.From), toolkit.StateText(api.Process{State: h.State, ExitCode: h.ExitCode, ExitSignal: h.ExitSignal})
	command := ""
	if h.Run != nil {
		command = toolkit.AroundMatch(strings.Join(strings.Fields(h.Run.Command), " "), nil) + ", "
		actor, end = h.Run.Actor+fromMachine(h.Run.From), commandEnd(*h.Run)
	}
	when := h.Time.Format("2006-01-02 15:04")
	if h.Rough {
		when = "~" + when
	}
	return fmt.Sprintf("%s (%s), %s%s, %s, %s:\n", h.Name, h.ID, command, actor, when, end)
}

// text returns the list of up to limit hits, with what is missing in it according to the last answer.
func (l *hitList) text(last api.OutputSearchOutput, limit int) string {
	if l.count == 0 {
		l.b.WriteString("Nothing found.\n")
	}
	switch {
	case l.full || last.Cursor != nil && l.count >= limit:
		l.b.WriteString("[older lines not searched; narrow pattern or name]\n")
	case last.Cursor != nil:
		fmt.Fprintf(&l.b, "[%s not searched; narrow pattern or name]\n", units.Bytes(last.Left))
	}
	if last.Withheld > 0 {
		fmt.Fprintf(&l.b, "[%d sessions and processes left out: the user does not let you read them]\n", last.Withheld)
	}
	if last.Skipped > 0 {
		fmt.Fprintf(&l.b, "[%d logs could not be read]\n", last.Skipped)
	}
	return strings.TrimSuffix(l.b.String(), "\n")
}
