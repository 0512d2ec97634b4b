package terminal

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
)

// minScrubbed is the length in characters of the shortest line of several that is overwritten: shorter
// ones, such as a bracket, are in too many other places.
const minScrubbed = 4

// askScrub shows where the selected text is, and asks whether to overwrite it.
func (c *Copier) askScrub() tea.Cmd {
	if !c.scroll.HasSelection() {
		return c.env.Say("nothing is selected: select the text to overwrite", false)
	}
	in := c.scroll.Selection()
	id := c.id()
	in.ID = id
	held, isHeld := c.scroll.screen.HeldText(in)
	return panes.AwaitAnswer(c.env.Context(), c.env, func(ctx context.Context, e panes.Engine) (found scrubFound, err error) {
		selected, cut := held, false
		if !isHeld {
			if selected, cut, err = readRange(ctx, e, in); err != nil {
				return found, err
			}
		}
		found.in = api.ScrubInput{Texts: textsOf(selected), IDs: []string{id}}
		if cut || len(found.in.Texts) == 0 {
			return found, nil
		}
		found.out, err = api.ScrubFind.Call(ctx, e, found.in)
		return found, err
	}, func(found scrubFound, err error) tea.Cmd {
		switch n := found.out.Count(); {
		case err != nil:
			return c.env.Say(panes.ErrorText(err), true)
		case n == 0:
			return c.env.Say("no file has this text in one line", true)
		default:
			c.env.Ask(c.scrubQuestion(found))
			return nil
		}
	})
}

// scrubFound is selected text with its places.
type scrubFound struct {
	in  api.ScrubInput
	out api.ScrubOutput
}

// textsOf returns the lines of a selection to be overwritten.
func textsOf(selected string) (texts []string) {
	lines := strings.Split(strings.TrimRight(selected, "\n"), "\n")
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line != "" && (len(lines) == 1 || utf8.RuneCountInString(line) >= minScrubbed) {
			texts = append(texts, line)
		}
	}
	return texts
}

func (c *Copier) scrubQuestion(found scrubFound) *dialog.Question {
	q := &dialog.Question{Title: "Overwrite the selected text with x in " + text.Count(found.out.Count(), "place") + "?", Yes: "overwrite"}
	for _, place := range found.out.Places {
		line := fmt.Sprintf("%4d  %s", place.Count, place.Where)
		if place.Name != "" {
			line += " of " + text.Clean(place.Name)
		}
		q.Lines = append(q.Lines, line)
	}
	q.Lines = append(q.Lines, "", "The engine restarts for it; sessions run on. Private sessions lose their scrollback.",
		"Your shell's history, your terminal, the clipboard and recordings may have copies.")
	q.Then = func() tea.Cmd {
		c.scroll.Stop()
		return panes.Call(c.env.Context(), c.env, func(ctx context.Context, e panes.Engine) (api.ScrubOutput, error) {
			return api.ScrubRun.Call(ctx, e, found.in)
		}, func(out api.ScrubOutput, err error) tea.Cmd {
			if err != nil {
				return c.env.Say(panes.ErrorText(err), true)
			}
			return c.env.Say("overwritten in "+text.Count(out.Count(), "place"), false)
		})
	}
	return q
}
