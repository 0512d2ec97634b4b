package files

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/files/entries"
	"tandem/panes/kit/text"
)

// A folder may have hundreds of thousands of entries, change all the time or be on a slow disk. It
// is listed in pages. The first page is short, so that something appears at once. Larger pages
// follow, up to a limit; entries beyond the limit are searched only by the engine. A visit lasts as
// long as the folder is shown. It owns a context, so leaving the folder cancels all requests, and
// answers arriving late are dropped. After each listing there is a pause in proportion to its
// duration, so that a constantly changing folder does not keep the engine busy.

const (
	// firstEntries is the size of the first page of a folder, so that a huge folder appears at
	// once. pageEntries is the size of further pages, and maxEntries limits the entries held.
	firstEntries = 2000
	pageEntries  = 10_000
	maxEntries   = 200_000
	// maxQuickRows is the maximum number of rows sorted immediately; more are sorted in the
	// background.
	maxQuickRows = 2000
	// slowDelay is how long to wait for a folder before the view says that it is still being read.
	slowDelay = 400 * time.Millisecond
)

// A folder is the state of the current folder: its entries, their order and filter, and the cursor.
type folder struct {
	env    panes.Env
	onGo   func() // called when another folder is shown
	path   string // "" before the view is first shown
	list   entries.List
	order  entries.Order
	branch string // git branch

	all         *entries.Set // in the order of the listing
	omitted     int          // number of entries not held
	match       *fileMatch
	cancelMatch context.CancelFunc // cancels asking for match

	cursorNames map[string]string // last name under the cursor, by folder
	previous    []string          // folders shown before
	visit       *visit            // nil while the view is hidden
}

// A visit lasts from when a folder is shown until it is left or the view is hidden. Its end cancels
// all requests about the folder.
type visit struct {
	ctx       context.Context
	cancel    context.CancelFunc
	stale     bool // the folder must be listed
	listing   bool
	paused    bool // no further listing for a while, except after our own changes
	pauses    int  // number of pauses
	askGit    bool
	askingGit bool
	watched   bool
	stamp     string
}

// startVisit begins a new visit, so that everything about the folder is requested again.
func (f *folder) startVisit() {
	f.endVisit()
	v := &visit{stale: true, askGit: true}
	v.ctx, v.cancel = context.WithCancel(f.env.Context())
	f.visit, f.cancelMatch = v, nil
}

// whenListed delays an action on rows until there are rows or, if whole is set, until the whole
// folder is listed. The action is dropped if the folder is left or cannot be read.
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

// endVisit cancels all requests about the folder.
func (f *folder) endVisit() {
	if f.visit != nil {
		f.visit.cancel()
		f.visit = nil
	}
}

// goTo shows a folder with the cursor on name. If name is "", the cursor goes where it last was in
// the folder.
func (f *folder) goTo(path, name string) {
	if f.cursorNames == nil {
		f.cursorNames = map[string]string{}
	}
	path = filepath.Clean(path)
	if selected := f.list.CursorEntry(); selected != nil {
		f.cursorNames[f.path] = selected.Name
	}
	if f.path != "" && f.path != path {
		f.previous = append(f.previous, f.path)
	}
	if name == "" {
		name = f.cursorNames[path]
	}
	f.path, f.branch, f.all, f.omitted, f.match = path, "", nil, 0, nil
	f.order.Filter = ""
	f.list.Reset(path, name)
	f.startVisit()
	f.onGo()
}

// fetch requests missing information about the folder.
func (f *folder) fetch() tea.Cmd {
	if f.visit == nil {
		return nil
	}
	return tea.Batch(f.fetchEntries(), f.fetchWatch(), f.fetchGit())
}

// onVisit asks the engine about the current folder, and passes the answer to next. If the visit has
// ended by then, the answer is dropped.
func onVisit[T any](f *folder, ask func(context.Context, panes.Engine) (T, error), next func(T, error) tea.Cmd) tea.Cmd {
	v := f.visit
	return panes.Call(v.ctx, f.env, ask, func(answer T, err error) tea.Cmd {
		if v.ctx.Err() != nil {
			return nil
		}
		return next(answer, err)
	})
}

// runAfter calls next after d, unless the visit has ended by then.
func (v *visit) runAfter(d time.Duration, next func()) tea.Cmd {
	return panes.After(d, func() tea.Cmd {
		if v.ctx.Err() == nil {
			next()
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
	// If entries are on the screen already, no short first page is needed.
	if f.all.Len() > 0 {
		limit = maxEntries
	}
	return tea.Batch(f.listEntries(nil, limit), v.runAfter(slowDelay, f.saySlow))
}

// saySlow shows that the folder is still being read.
func (f *folder) saySlow() {
	if f.list.Rows() == nil && f.list.Note == "" {
		f.list.Note = "reading the folder…"
	}
}

// A listing is the result of listing a folder.
type listing struct {
	entries *entries.Set
	rows    *entries.Rows
	omitted int
	partial bool // more entries follow
	elapsed time.Duration
}

// listEntries lists up to limit entries of the folder. Those in held are known already, so it
// continues after them.
func (f *folder) listEntries(held *entries.Set, limit int) tea.Cmd {
	path, name, order := f.path, f.list.TargetName(), f.order
	return onVisit(f, func(ctx context.Context, e panes.Engine) (l listing, err error) {
		begin := time.Now()
		if l.entries, l.omitted, err = listEntries(ctx, e, path, "", held, limit); err != nil {
			return l, err
		}
		if l.partial = l.omitted > 0 && limit < maxEntries; l.omitted > 0 && !l.partial {
			l.addCursorEntry(ctx, e, path, name)
		}
		l.rows, l.elapsed = l.entries.Arrange(order), time.Since(begin)
		return l, nil
	}, f.handleListing)
}

// listEntries lists the entries of a folder that match words, or all entries if words is "". It
// adds them to set until that has limit entries, and returns how many were left out. It asks for
// them in pages, so that no message contains the whole folder.
func listEntries(ctx context.Context, e panes.FileReader, path, words string, set *entries.Set, limit int) (*entries.Set, int, error) {
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

// addCursorEntry adds the entry called name, on which the cursor should be, if the listing was too
// long to include it.
func (l *listing) addCursorEntry(ctx context.Context, e panes.FileReader, path, name string) {
	if name == "" || l.entries.Has(name) {
		return
	}
	if info, err := e.StatFile(ctx, filepath.Join(path, name)); err == nil {
		l.entries = l.entries.With([]api.FileInfo{info})
		l.omitted--
	}
}

func (f *folder) handleListing(l listing, err error) tea.Cmd {
	f.list.More, f.omitted = l.partial, 0
	if err != nil {
		f.all, f.match = nil, nil
		f.list.SetRows(f.all.Arrange(f.order))
		f.list.Note, f.list.Bad, f.list.Omitted = errorReason(err, f.path), true, 0
		return f.pauseListing(time.Second)
	}
	if f.all = l.entries; !l.partial {
		f.omitted = l.omitted
	}
	match := f.matchOnEngine()
	if f.currentMatch() == nil {
		f.setRows(l.rows)
	}
	cmd := tea.Batch(match, f.applyOrder())
	if l.partial {
		return tea.Batch(cmd, f.listEntries(l.entries, maxEntries))
	}
	rest := f.pauseListing(min(max(3*l.elapsed, 150*time.Millisecond), 10*time.Second))
	return tea.Batch(cmd, rest)
}

// pauseListing limits how often a constantly changing folder is listed.
func (f *folder) pauseListing(d time.Duration) tea.Cmd {
	v := f.visit
	v.paused = true
	v.pauses++
	pause := v.pauses
	return v.runAfter(d, func() {
		// The pause may have been ended by a change made here, or replaced by a newer pause.
		if v.paused && pause == v.pauses {
			v.listing, v.paused = false, false
		}
	})
}

// NoteChange requests a new listing of the folder at once, even during a pause, because the user
// has changed something here.
func (f *folder) NoteChange() {
	if v := f.visit; v != nil {
		v.stale, v.askGit = true, true
		if v.paused {
			v.listing, v.paused = false, false
		}
	}
}

// errorReason returns the text of an error without the path, which is on the screen already.
func errorReason(err error, path string) string {
	message := api.AsError(err).Message
	if _, cause, ok := strings.Cut(message, path+": "); ok {
		message = cause
	}
	return text.Clean(message)
}

// setRows shows rows, or why there are none.
func (f *folder) setRows(rows *entries.Rows) {
	f.list.SetRows(rows)
	_, f.list.Omitted = f.rowSource()
	f.list.Bad = false
	switch {
	case rows.Len() > 0:
		f.list.Note = ""
	case rows.Order.Filter != "" && f.cancelMatch != nil:
		f.list.Note = "searching the rest of the folder…"
	case rows.Order.Filter != "":
		f.list.Note = "nothing matches “" + text.Clean(rows.Order.Filter) + "”" +
			f.env.Bindings().WithKey(" · ", keymap.Clear, " shows all", keymap.ScopeFiles, keymap.ScopeList)
	case f.list.More:
		f.list.Note = "reading the folder…"
	case f.all.Len() > 0:
		f.list.Note = "only hidden files"
	default:
		f.list.Note = "empty folder"
	}
}

// selectName moves the cursor to an entry as soon as it is listed. If the entry is hidden, hidden
// entries are shown.
func (f *folder) selectName(name string) tea.Cmd {
	f.list.Select(name)
	f.order.Hidden = f.order.Hidden || strings.HasPrefix(name, ".")
	return f.applyOrder()
}

// SelectPath moves the cursor to a file if it is in the folder.
func (f *folder) SelectPath(path string) tea.Cmd {
	if path == "" || filepath.Dir(path) != f.path {
		return nil
	}
	return f.selectName(filepath.Base(path))
}

// SetMark marks a path or unmarks it.
func (f *folder) SetMark(path string, on bool) {
	if f.list.Marks[path] != on {
		f.list.Marks.Toggle(path)
	}
}

// markEntry toggles the mark of the current entry and moves to the next.
func (f *folder) markEntry() {
	if path := f.list.CursorPath(); path != "" {
		f.list.Marks.Toggle(path)
		f.list.Move(1)
	}
}

func (f *folder) markAll() {
	rows := f.list.Rows()
	for i := range rows.Len() {
		f.list.Marks.Toggle(filepath.Join(f.path, rows.At(i).Name))
	}
}
