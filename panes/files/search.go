package files

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/dialog"
)

// maxHits is the maximum number of matching lines held of a file.
const maxHits = 5000

// A fileSearch is the search in the previewed file.
type fileSearch struct {
	line    *dialog.Find       // the input line; nil when closed
	pattern api.Pattern        // the last pattern searched for
	path    string             // file being searched; "" if none
	text    string             // text of the running search
	stop    context.CancelFunc // cancels the running search; nil if none
	serial  int
	steps   int // matches to skip once the result is there; negative for back
}

// askSearch opens the input line, and shows the next match while a pattern is typed.
func (v *viewer) askSearch() tea.Cmd {
	path, origin := v.preview.Path(), v.preview.Position()
	f := &dialog.Find{Regexp: v.search.pattern.Regexp, Exact: v.search.pattern.Exact}
	f.Changed = func() tea.Cmd {
		v.endSearch()
		v.preview.Return(origin)
		if f.Pattern().Text == "" || v.preview.Path() != path {
			v.preview.Search(nil)
			v.preview.Mark(nil)
			return nil
		}
		cmd, err := v.startSearch(f.Pattern())
		if err != nil {
			f.Problem = panes.ErrorText(err)
		}
		return cmd
	}
	f.Done = func(accept bool) tea.Cmd {
		v.search.line = nil
		switch {
		case !accept:
			v.endSearch()
			v.preview.Return(origin)
		case f.Pattern().Text == "":
			return v.goToHit(false)
		case f.Problem != "":
			return v.env.Say(f.Problem, true)
		default:
			v.search.pattern = f.Pattern()
		}
		return nil
	}
	v.search.line = f
	v.env.Ask(f)
	return nil
}

// startSearch searches for the next match.
func (v *viewer) startSearch(pattern api.Pattern) (tea.Cmd, error) {
	v.endSearch()
	v.preview.Search(nil)
	re, err := pattern.Compile()
	v.preview.Mark(re)
	if err != nil {
		return nil, err
	}
	s := &v.search
	ctx, cancel := context.WithCancel(v.env.Context())
	s.path, s.text, s.stop = v.preview.Path(), pattern.Text, cancel
	serial, in := s.serial, api.FilesGrepInput{Pattern: re.String(), Path: s.path, Limit: maxHits}
	find := v.preview.Finder(re, maxHits)
	return panes.Ask(ctx, v.env, func(ctx context.Context, e panes.Engine) (hits []int64, err error) {
		if find != nil {
			return find(ctx, fileSource{e})
		}
		out, err := e.SearchFiles(ctx, in)
		for _, l := range out.Lines {
			hits = append(hits, l.Line)
		}
		return hits, err
	}, func(hits []int64, err error) tea.Cmd { return v.showHits(serial, hits, err) }), nil
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

// showHits shows the result of search serial, unless another has started since.
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

// goToHit goes to the next or the previous match, or asks for a pattern if there is none.
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
		cmd, err := v.startSearch(v.search.pattern)
		if err != nil {
			return v.env.Say(panes.ErrorText(err), true)
		}
		return cmd
	}
	return nil
}

// findRows returns the number of preview rows covered by the input line.
func (v *viewer) findRows() int {
	if line := v.search.line; line != nil && v.env.Shows(line) {
		return dialog.FindRows
	}
	return 0
}
