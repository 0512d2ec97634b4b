package files

import (
	"context"
	"path/filepath"
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/preview"
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
	// previewRest is how long the cursor rests before a file is read.
	previewRest = 25 * time.Millisecond
	// slowListing is how long a folder is awaited in silence.
	slowListing = 400 * time.Millisecond
	// gitRest is the least time between two questions to git.
	gitRest = time.Second
)

// A Pane is the view of a folder: the preview of the entry under the cursor, and
// the folder above where there is room.
type Pane struct {
	env     panes.Env
	actions panes.Actions
	shown   bool
	w, h    int

	path      string // of the folder; "" before the view was shown
	list      List
	above     List
	preview   preview.Preview
	onPreview bool // the preview has the keyboard
	zoomed    bool // what has the keyboard fills the view
	order     Order
	branch    string

	all      *Set // as they were listed
	omitted  int  // entries that are too many for that
	match    *fileMatch
	matching context.CancelFunc // ends the question for it
	untidy   bool               // a large folder has left memory behind
	places   map[string]string
	back     []string // folders that were shown before
	marked   map[string]bool
	search   *fileSearch // in the file that is shown; nil for none
	line     int64       // of the file that is shown next, where a search found something
	click    widget.Click
	asking   *conflict // what is to become of files that are in the way
	undos    []undo
	job      *transfer
	wanted   []wantedTransfer // after it

	serial    int // of the folder that is shown
	ctx       context.Context
	leave     context.CancelFunc // ends what is under way for the folder
	stale     bool               // the folder is to be listed
	listing   bool
	resting   bool // and may not be again for a while, unless we changed it
	rests     int  // counts them
	askGit    bool
	askingGit bool
	watched   bool
	stamp     string
	snapshots int // of the engine that is asked
	aboveOf   string
	peek      context.CancelFunc // ends what is under way for the preview
}

// New makes the view.
func New(env panes.Env) *Pane {
	f := &Pane{env: env}
	f.actions = f.makeActions()
	return f
}

// Show asks for the folder: at first for that of the session.
func (f *Pane) Show() {
	f.shown = true
	if f.path == "" {
		_, folder := f.env.Session()
		f.GoFolder(folder, "")
	} else if f.leave == nil {
		f.begin(f.env.Context())
	}
}

// Hide ends what is under way for the folder.
func (f *Pane) Hide() {
	f.shown = false
	if f.leave != nil {
		f.leave()
		f.leave = nil
	}
}

// Resize gives the view its size.
func (f *Pane) Resize(w, h int) { f.w, f.h = w, h }

// begin asks for all that is to be known of the folder anew.
func (f *Pane) begin(ctx context.Context) {
	if f.leave != nil {
		f.leave()
	}
	f.serial++
	f.ctx, f.leave = context.WithCancel(ctx)
	f.stale, f.listing, f.resting = true, false, false
	f.askGit, f.askingGit, f.watched, f.stamp = true, false, false, ""
	f.aboveOf, f.matching = "", nil
}

// GoFolder shows a folder with the cursor on a name, or where it was.
func (f *Pane) GoFolder(path, name string) {
	if f.places == nil {
		f.places, f.marked = map[string]string{}, map[string]bool{}
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
	f.onPreview, f.zoomed = false, false
	f.begin(f.env.Context())
}

// Fetch asks for what the view needs now.
func (f *Pane) Fetch() tea.Cmd {
	transfers := f.pumpTransfers()
	if !f.shown || f.h == 0 || !f.env.News().Connected {
		return transfers
	}
	if f.leave != nil && f.snapshots != f.env.News().Snapshots { // another engine: what was asked of the last one is lost
		f.snapshots = f.env.News().Snapshots
		f.begin(f.env.Context())
		f.preview.Clear()
	}
	return tea.Batch(transfers, f.fetchFolder(), f.fetchWatch(), f.fetchGit(), f.fetchAbove(), f.fetchPreview())
}

// ofFolder runs an operation for the folder that is shown; it ends when
// another one is.
func (f *Pane) ofFolder(do func(context.Context, panes.Engine) tea.Msg) tea.Cmd {
	ctx := f.ctx
	return func() tea.Msg {
		e, err := f.env.Engine(ctx)
		if err != nil {
			return nil
		}
		msg := do(ctx, e)
		if ctx.Err() != nil {
			return nil
		}
		return msg
	}
}

func (f *Pane) fetchFolder() tea.Cmd {
	if !f.stale || f.listing || f.leave == nil {
		return nil
	}
	f.stale, f.listing = false, true
	limit := firstEntries
	if f.all.Len() > 0 {
		limit = mostEntries
	}
	slow := filesSlow{f.serial}
	return tea.Batch(f.listFolder(nil, limit), tea.Tick(slowListing, func(time.Time) tea.Msg { return slow }))
}

// takeSlow says that a folder is still being read.
func (f *Pane) takeSlow(msg filesSlow) {
	if msg.serial == f.serial && f.list.Rows() == nil && f.list.Note == "" {
		f.list.Note = "reading the folder…"
	}
}

// listFolder lists the folder as far as a limit, from behind what is held of it
// already.
func (f *Pane) listFolder(held *Set, limit int) tea.Cmd {
	serial, path, name, order := f.serial, f.path, f.list.Wanted(), f.order
	return f.ofFolder(func(ctx context.Context, e panes.Engine) tea.Msg {
		begin := time.Now()
		msg := filesListed{serial: serial}
		msg.entries, msg.omitted, msg.err = listEntries(ctx, e, path, "", held, limit)
		if msg.err != nil {
			return msg
		}
		if msg.partial = msg.omitted > 0 && limit < mostEntries; msg.omitted > 0 && !msg.partial {
			msg.alsoHas(ctx, e, path, name)
		}
		msg.rows, msg.took = msg.entries.Arrange(order), time.Since(begin)
		return msg
	})
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
func (msg *filesListed) alsoHas(ctx context.Context, e panes.Engine, path, name string) {
	if name == "" || msg.entries.Has(name) {
		return
	}
	if info, err := e.StatFile(ctx, filepath.Join(path, name)); err == nil {
		msg.entries = msg.entries.With([]api.FileInfo{info})
		msg.omitted--
	}
}

func (f *Pane) takeListed(msg filesListed) tea.Cmd {
	if msg.serial != f.serial {
		return nil
	}
	f.list.More, f.omitted = msg.partial, 0
	if msg.err != nil {
		f.all, f.match = nil, nil
		f.list.SetRows(f.all.Arrange(f.order))
		f.list.Note, f.list.Bad, f.list.Omitted = reasonOf(msg.err, f.path), true, 0
		return f.restListing(time.Second)
	}
	if f.all = msg.entries; !msg.partial {
		f.omitted = msg.omitted
	}
	match := f.matchBeyond()
	if f.matched() == nil {
		f.setRows(msg.rows)
	}
	cmd := tea.Batch(match, f.rearrange())
	if msg.partial {
		return tea.Batch(cmd, f.listFolder(msg.entries, mostEntries))
	}
	return tea.Batch(cmd, f.tidyFiles(), f.restListing(min(max(3*msg.took, 150*time.Millisecond), 10*time.Second)))
}

// tidyFiles gives back the memory that a large folder has taken.
func (f *Pane) tidyFiles() tea.Cmd {
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
func (f *Pane) restListing(d time.Duration) tea.Cmd {
	f.resting = true
	f.rests++
	rested := filesRested{f.serial, f.rests}
	return tea.Tick(d, func(time.Time) tea.Msg { return rested })
}

// changed has the folder listed at once, because something was done to it here.
func (f *Pane) changed() {
	f.stale, f.askGit = true, true
	if f.resting {
		f.listing, f.resting = false, false
	}
}

// reasonOf is an error without what the screen tells already.
func reasonOf(err error, path string) string {
	text := api.AsError(err).Message
	if cause, ok := cutBehind(text, path+": "); ok {
		text = cause
	}
	return widget.Clean(text)
}

// setRows shows rows, or says why there are none.
func (f *Pane) setRows(rows *Rows) {
	f.list.SetRows(rows)
	_, f.list.Omitted = f.source()
	f.list.Bad = false
	switch {
	case rows.Len() > 0:
		f.list.Note = ""
	case rows.Order.Filter != "" && f.matching != nil:
		f.list.Note = "looking through the rest of the folder…"
	case rows.Order.Filter != "":
		f.list.Note = "nothing matches “" + widget.Clean(rows.Order.Filter) + "”"
	case f.all.Len() > 0:
		f.list.Note = "only hidden files"
	default:
		f.list.Note = "an empty folder"
	}
}
