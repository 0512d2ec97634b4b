package files

import (
	"context"
	"regexp"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/dialog"
)

// maxHits is the maximum number of a file's matching lines that are held.
const maxHits = 5000

// A fileSearch is the search in the previewed file.
type fileSearch struct {
	line    *dialog.Find       // the input line; opened last
	pattern api.Pattern        // the last pattern searched for
	path    string             // file being searched; "" if none
	text    string             // text of the running search
	stop    context.CancelFunc // cancels the running search; nil if none
	serial  int
	steps   int // matches to skip once the result is there; negative for back
}

// askSearch opens the search line. While the user types a pattern, the preview shows the next
// match.
func (v *viewer) askSearch() tea.Cmd {
	path, origin := v.preview.Path(), v.preview.Position
	f := dialog.NewFind(&v.search.pattern)
	f.Restore = func() {
		v.endSearch()
		v.preview.Return(origin)
	}
	f.Search = func(re *regexp.Regexp) tea.Cmd {
		if v.preview.Path() != path {
			re = nil
		}
		return v.startSearch(f.Pattern().Text, re)
	}
	f.Repeat = func() tea.Cmd { return v.goToHit(false) }
	f.Say = v.env.Say
	v.search.line = f
	v.env.Ask(f)
	return nil
}

// startSearch marks what re matches in the previewed file, and searches for the matching lines. If re
// is nil, it only removes the marks.
func (v *viewer) startSearch(text string, re *regexp.Regexp) tea.Cmd {
	v.endSearch()
	v.preview.Search(nil)
	v.preview.Mark(re)
	if re == nil {
		return nil
	}
	s := &v.search
	ctx, cancel := context.WithCancel(v.env.Context())
	s.path, s.text, s.stop = v.preview.Path(), text, cancel
	serial, in := s.serial, api.FilesGrepInput{Pattern: re.String(), Path: s.path, Limit: maxHits}
	find := v.preview.Finder(re, maxHits) // nil for UTF-8, which the engine searches itself
	return panes.Call(ctx, v.env, func(callCtx context.Context, e panes.Engine) (hits []int64, err error) {
		if find != nil {
			return find(callCtx, fileSource{e})
		}
		out, err := e.SearchFiles(callCtx, in)
		for _, l := range out.Lines {
			hits = append(hits, l.Line)
		}
		return hits, err
	}, func(hits []int64, err error) tea.Cmd { return v.showHits(serial, hits, err) })
}

// endSearch cancels the running search, if any.
func (v *viewer) endSearch() {
	s := &v.search
	s.serial++
	if s.stop != nil {
		s.stop()
	}
	s.path, s.text, s.stop, s.steps = "", "", nil, 0
}

// showHits shows the result of the search with number serial, unless a newer search has started.
func (v *viewer) showHits(serial int, hits []int64, err error) tea.Cmd {
	if serial != v.search.serial {
		return nil
	}
	next := v.search.steps
	v.endSearch()
	v.preview.Search(hits)
	found := v.preview.NextHit(false)
	// Keys pressed during the search count too.
	for ; next != 0 && found; next -= max(min(next, 1), -1) {
		v.preview.NextHit(next < 0)
	}
	line := v.search.line
	switch typing := line != nil && v.env.Shows(line); {
	case typing && err != nil:
		line.Problem = panes.ErrorText(err)
	case typing:
		line.Tell(v.preview.Hit())
	case err != nil:
		return v.env.Say(panes.ErrorText(err), true)
	case !found:
		return v.env.Say("no match", false)
	}
	return nil
}

// goToHit goes to the next match, or to the previous one if back is set. It asks for a pattern if
// there is none yet.
func (v *viewer) goToHit(back bool) tea.Cmd {
	switch _, hits := v.preview.Hit(); {
	case v.search.stop != nil && back:
		v.search.steps--
	case v.search.stop != nil:
		v.search.steps++
	case hits > 0:
		v.preview.NextHit(back)
	case v.search.pattern.Text == "":
		return v.askSearch()
	default:
		re, err := v.search.pattern.Compile()
		if err != nil {
			return v.env.Say(panes.ErrorText(err), true)
		}
		return v.startSearch(v.search.pattern.Text, re)
	}
	return nil
}
