package files

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/ui/overlay"
)

// mostHits is how many lines that match are known of a file at a time.
const mostHits = 5000

// A fileSearch is the search in the file that is shown.
type fileSearch struct {
	line    *overlay.Find      // in which is typed what to look for
	pattern api.Pattern        // that was looked for last
	path    string             // of the file in which a search is under way
	text    string             // that it is for
	stop    context.CancelFunc // ends it; nil without one
	serial  int
	next    int // how many matches on to go once there is an answer; negative is back
}

// askSearch asks what to look for in the file, and shows the next line with it while
// it is typed.
func (v *viewer) askSearch() tea.Cmd {
	path, origin := v.preview.Path(), v.preview.Position()
	f := &overlay.Find{Regexp: v.search.pattern.Regexp, Exact: v.search.pattern.Exact}
	f.Changed = func() tea.Cmd {
		v.endSearch()
		v.preview.Return(origin)
		if f.Pattern().Text == "" || v.preview.Path() != path {
			v.preview.Search(nil)
			v.preview.Mark(nil)
			return nil
		}
		cmd, err := v.searchFor(f.Pattern())
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
			return v.nextHit(false)
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

// searchFor looks for the next line that matches.
func (v *viewer) searchFor(pattern api.Pattern) (tea.Cmd, error) {
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
	serial, in := s.serial, api.FilesGrepInput{Pattern: re.String(), Path: s.path, Limit: mostHits}
	find := v.preview.Finder(re, mostHits)
	return panes.Ask(ctx, v.env, func(ctx context.Context, e panes.Engine) (hits []int64, err error) {
		if find != nil {
			return find(ctx, fileSource{e})
		}
		out, err := e.SearchFiles(ctx, in)
		for _, l := range out.Lines {
			hits = append(hits, l.Line)
		}
		return hits, err
	}, func(hits []int64, err error) tea.Cmd { return v.searched(serial, hits, err) }), nil
}

// endSearch ends the search that is under way, if there is one.
func (v *viewer) endSearch() {
	s := &v.search
	s.serial++
	if s.stop != nil {
		s.stop()
	}
	s.path, s.text, s.stop, s.next = "", "", nil, 0
}

// searched shows what a search has found.
func (v *viewer) searched(serial int, hits []int64, err error) tea.Cmd {
	if serial != v.search.serial {
		return nil
	}
	next := v.search.next
	v.endSearch()
	v.preview.Search(hits)
	found := v.preview.NextHit(false)
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

// nextHit goes to another match of what was looked for last, or asks what to search
// for.
func (v *viewer) nextHit(back bool) tea.Cmd {
	switch _, hits := v.preview.Hit(); {
	case v.search.stop != nil && back:
		v.search.next--
	case v.search.stop != nil:
		v.search.next++
	case hits > 0:
		v.preview.NextHit(back)
	case v.search.pattern.Text == "":
		return v.askSearch()
	default:
		cmd, err := v.searchFor(v.search.pattern)
		if err != nil {
			return v.env.Say(panes.ErrorText(err), true)
		}
		return cmd
	}
	return nil
}

// covered is how many rows of the preview the line covers in which is typed what to
// look for.
func (v *viewer) covered() int {
	if line := v.search.line; line != nil && v.env.Shows(line) {
		return overlay.FindRows
	}
	return 0
}
