package files

import (
	"context"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
)

const (
	// firstEntries is how many entries of a folder are asked for at first, so
	// that a huge one is there at once; pageEntries how many at a time after
	// them; mostEntries how many at all.
	firstEntries = 2000
	pageEntries  = 10_000
	mostEntries  = 200_000
	// quickRows is how many rows are put into another order at once, and not
	// beside.
	quickRows = 2000
	// slowListing is how long a folder is awaited in silence.
	slowListing = 400 * time.Millisecond
)

// A folder is the one that is shown: its entries, which of them are seen and in
// which order, where the cursor is and what is marked.
type folder struct {
	env    panes.Env
	path   string // "" before the view was shown
	list   List
	order  Order
	marked map[string]bool // paths, in any folder
	branch string          // of git

	all      *Set // as they were listed
	omitted  int  // entries that are too many for that
	match    *fileMatch
	matching context.CancelFunc // ends the question for it
	untidy   bool               // a large folder has left memory behind

	places map[string]string // names that the cursor was on, by folder
	back   []string          // folders that were shown before
	visit  *visit            // nil while the view is not shown
}

// A visit is the time that a folder is shown without a break. What is asked about
// the folder ends with it.
type visit struct {
	ctx       context.Context
	leave     context.CancelFunc
	stale     bool // the folder is to be listed
	listing   bool
	resting   bool // and may not be again for a while, unless we changed it
	rests     int  // counts them
	askGit    bool
	askingGit bool
	watched   bool
	stamp     string
}

// begin asks for all that is to be known of the folder anew.
func (f *folder) begin() {
	f.end()
	v := &visit{stale: true, askGit: true}
	v.ctx, v.leave = context.WithCancel(f.env.Context())
	f.visit, f.matching = v, nil
}

// whenListed makes an action on rows wait for them, and for all of them if it is about the
// whole folder. The action is dropped when the folder is left or cannot be read.
func (f *folder) whenListed(whole bool, act func() tea.Cmd) func() tea.Cmd {
	return func() tea.Cmd {
		if f.isListed(whole) {
			return act()
		}
		f.saySlow()
		path := f.path
		left := func() bool { return f.visit == nil || f.path != path }
		return f.env.Await(panes.Pending{
			Ready: func() bool { return f.isListed(whole) || left() },
			Then: func() tea.Cmd {
				if left() || f.list.Bad {
					return nil
				}
				return act()
			},
		})
	}
}

func (f *folder) isListed(whole bool) bool { return f.list.Rows() != nil && !(whole && f.list.More) }

// end ends what is under way for the folder.
func (f *folder) end() {
	if f.visit != nil {
		f.visit.leave()
		f.visit = nil
	}
}

// goTo shows a folder with the cursor on a name, or where it was.
func (f *folder) goTo(path, name string) {
	if f.places == nil {
		f.places = map[string]string{}
	}
	path = filepath.Clean(path)
	if selected := f.list.Selected(); selected != nil {
		f.places[f.path] = selected.Name
	}
	if f.path != "" && f.path != path {
		f.back = append(f.back, f.path)
	}
	if name == "" {
		name = f.places[path]
	}
	f.untidy = f.untidy || f.all.Len() > pageEntries
	f.path, f.branch, f.all, f.omitted, f.match = path, "", nil, 0, nil
	f.order.Filter = ""
	f.list.Reset(path, name)
	f.list.Marked = f.marked
	f.begin()
}

// fetch asks for what is not known of the folder.
func (f *folder) fetch() tea.Cmd {
	if f.visit == nil {
		return nil
	}
	return tea.Batch(f.fetchEntries(), f.fetchWatch(), f.fetchGit())
}

// onVisit asks the engine about the folder that is shown. The answer counts as
// long as the visit lasts.
func onVisit[T any](f *folder, ask func(context.Context, panes.Engine) (T, error), then func(T, error) tea.Cmd) tea.Cmd {
	v := f.visit
	return panes.Ask(v.ctx, f.env, ask, func(answer T, err error) tea.Cmd {
		if v.ctx.Err() != nil {
			return nil
		}
		return then(answer, err)
	})
}

// after goes on with the visit when a time has passed.
func (v *visit) after(d time.Duration, then func()) tea.Cmd {
	return panes.After(d, func() tea.Cmd {
		if v.ctx.Err() == nil {
			then()
		}
		return nil
	})
}

func (f *folder) fetchEntries() tea.Cmd {
	v := f.visit
	if !v.stale || v.listing {
		return nil
	}
	v.stale, v.listing = false, true
	limit := firstEntries
	if f.all.Len() > 0 {
		limit = mostEntries
	}
	return tea.Batch(f.listEntries(nil, limit), v.after(slowListing, f.saySlow))
}

// saySlow says that the folder is still being read.
func (f *folder) saySlow() {
	if f.list.Rows() == nil && f.list.Note == "" {
		f.list.Note = "reading the folder…"
	}
}

// A listing is what was listed of a folder.
type listing struct {
	entries *Set
	rows    *Rows
	omitted int
	partial bool // the rest is on its way
	elapsed time.Duration
}

// listEntries lists the folder as far as a limit, from behind what is held of it
// already.
func (f *folder) listEntries(held *Set, limit int) tea.Cmd {
	path, name, order := f.path, f.list.Wanted(), f.order
	return onVisit(f, func(ctx context.Context, e panes.Engine) (l listing, err error) {
		begin := time.Now()
		if l.entries, l.omitted, err = listEntries(ctx, e, path, "", held, limit); err != nil {
			return l, err
		}
		if l.partial = l.omitted > 0 && limit < mostEntries; l.omitted > 0 && !l.partial {
			l.alsoHas(ctx, e, path, name)
		}
		l.rows, l.elapsed = l.entries.Arrange(order), time.Since(begin)
		return l, nil
	}, f.listed)
}

// listEntries lists what of a folder matches words, without any all of it, in
// pages, so that neither side holds all in the form in which it is sent.
func listEntries(ctx context.Context, e panes.Engine, path, words string, set *Set, limit int) (*Set, int, error) {
	omitted := 0
	for set.Len() < limit {
		out, err := e.MatchFiles(ctx, path, words, set.LastName(), min(limit-set.Len(), pageEntries))
		if err != nil {
			return nil, 0, err
		}
		set, omitted = set.With(out.Entries), out.Omitted
		if omitted == 0 || len(out.Entries) == 0 {
			break
		}
	}
	return set, omitted, nil
}

// alsoHas adds the entry that the cursor is to be on, if it is one of those that
// are too many.
func (l *listing) alsoHas(ctx context.Context, e panes.Engine, path, name string) {
	if name == "" || l.entries.Has(name) {
		return
	}
	if info, err := e.StatFile(ctx, filepath.Join(path, name)); err == nil {
		l.entries = l.entries.With([]api.FileInfo{info})
		l.omitted--
	}
}

func (f *folder) listed(l listing, err error) tea.Cmd {
	f.list.More, f.omitted = l.partial, 0
	if err != nil {
		f.all, f.match = nil, nil
		f.list.SetRows(f.all.Arrange(f.order))
		f.list.Note, f.list.Bad, f.list.Omitted = reasonOf(err, f.path), true, 0
		return f.restListing(time.Second)
	}
	if f.all = l.entries; !l.partial {
		f.omitted = l.omitted
	}
	match := f.matchBeyond()
	if f.matched() == nil {
		f.setRows(l.rows)
	}
	cmd := tea.Batch(match, f.rearrange())
	if l.partial {
		return tea.Batch(cmd, f.listEntries(l.entries, mostEntries))
	}
	rest := f.restListing(min(max(3*l.elapsed, 150*time.Millisecond), 10*time.Second))
	return tea.Batch(cmd, f.tidy(), rest)
}

// tidy gives back the memory that a large folder has taken.
func (f *folder) tidy() tea.Cmd {
	if !f.untidy && f.all.Len() <= pageEntries {
		return nil
	}
	f.untidy = false
	return func() tea.Msg {
		debug.FreeOSMemory()
		return nil
	}
}

// restListing keeps a folder that changes all the time from being listed all
// the time.
func (f *folder) restListing(d time.Duration) tea.Cmd {
	v := f.visit
	v.resting = true
	v.rests++
	rest := v.rests
	return v.after(d, func() {
		if v.resting && rest == v.rests {
			v.listing, v.resting = false, false
		}
	})
}

// changed has the folder listed at once, because something was done to it here.
func (f *folder) changed() {
	if v := f.visit; v != nil {
		v.stale, v.askGit = true, true
		if v.resting {
			v.listing, v.resting = false, false
		}
	}
}

// reasonOf is an error without what the screen tells already.
func reasonOf(err error, path string) string {
	text := api.AsError(err).Message
	if _, cause, ok := strings.Cut(text, path+": "); ok {
		text = cause
	}
	return widget.Clean(text)
}

// setRows shows rows, or says why there are none.
func (f *folder) setRows(rows *Rows) {
	f.list.SetRows(rows)
	_, f.list.Omitted = f.source()
	f.list.Bad = false
	switch {
	case rows.Len() > 0:
		f.list.Note = ""
	case rows.Order.Filter != "" && f.matching != nil:
		f.list.Note = "searching the rest of the folder…"
	case rows.Order.Filter != "":
		f.list.Note = "nothing matches “" + widget.Clean(rows.Order.Filter) + "”" +
			panes.WithKey(f.env.Bindings(), " · ", keymap.Clear, " shows all", keymap.ScopeFiles, keymap.ScopeList)
	case f.list.More:
		f.list.Note = "reading the folder…"
	case f.all.Len() > 0:
		f.list.Note = "only hidden files"
	default:
		f.list.Note = "empty folder"
	}
}

// willShow puts the cursor on a name when it is there, and shows hidden files if
// it is one.
func (f *folder) willShow(name string) tea.Cmd {
	f.list.Select(name)
	f.order.Hidden = f.order.Hidden || strings.HasPrefix(name, ".")
	return f.rearrange()
}

// toggle marks a path, or takes its mark away.
func (f *folder) toggle(path string) {
	if f.marked[path] {
		delete(f.marked, path)
	} else {
		f.marked[path] = true
	}
}

// mark marks the entry under the cursor and goes to the next.
func (f *folder) mark() {
	if path := f.list.SelectedPath(); path != "" {
		f.toggle(path)
		f.list.Move(1)
	}
}

func (f *folder) markAll() {
	rows := f.list.Rows()
	for i := range rows.Len() {
		f.toggle(filepath.Join(f.path, rows.Name(i)))
	}
}
