package ui

import (
	"context"
	"errors"
	"path/filepath"
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/files"
	"tandem/panes/preview"
	"tandem/panes/terminal"
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

// files is the state of the files view: a folder, the preview of the entry
// under the cursor, and the folder above where there is room.
type filesView struct {
	path      string // of the folder; "" before the view was shown
	list      files.List
	above     files.List
	preview   preview.Preview
	onPreview bool // the preview has the keyboard
	zoomed    bool // what has the keyboard fills the view
	order     files.Order
	branch    string

	all        *files.Set // as they were listed
	omitted    int        // entries that are too many for that
	match      *fileMatch
	matching   context.CancelFunc // ends the question for it
	untidy     bool               // a large folder has left memory behind
	places     map[string]string
	back       []string // folders that were shown before
	marked     map[string]bool
	search     *fileSearch // in the file that is shown; nil for none
	line       int64       // of the file that is shown next, where a search found something
	click      widget.Click
	visiting   *terminal.Terminal   // the session that the view was left for
	afterVisit func(*model) tea.Cmd // what is done when it has ended
	undos      []undo
	job        *transfer
	wanted     []wantedTransfer // after it
	marks      []string         // bookmarks
	marksFor   string           // data folder that they were read from

	serial    int // of the folder that is shown
	ctx       context.Context
	leave     context.CancelFunc // ends what is under way for the folder
	stale     bool               // the folder is to be listed
	listing   bool
	resting   bool // and may not be again for a while, unless we changed it
	rests     int  // counts them
	askGit    bool
	asking    bool
	watched   bool
	stamp     string
	snapshots int // of the engine that is asked
	aboveOf   string
	peek      context.CancelFunc // ends what is under way for the preview
}

// Messages of the files view. Each is of the folder with that serial number.
type (
	filesListed struct {
		serial  int
		entries *files.Set
		rows    *files.Rows
		omitted int
		partial bool // the rest is on its way
		took    time.Duration
		err     error
	}
	filesArranged struct {
		serial int
		set    *files.Set
		rows   *files.Rows
	}
	filesRested  struct{ serial, rest int }
	filesSlow    struct{ serial int }
	filesWatched struct {
		serial int
		out    api.FilesWatchOutput
		err    error
	}
	filesGit struct {
		serial int
		out    api.FilesGitOutput
		took   time.Duration
	}
	gitRested  struct{ serial int }
	filesAbove struct {
		path string
		rows *files.Rows
	}
	previewed struct{ part preview.Part }
)

// onFiles reports whether the files view is shown.
func (m *model) onFiles() bool { return m.view == viewFiles && !m.layout.tooSmall() }

// enterFiles brings the view up when it is shown: at first where the session
// is.
func (m *model) enterFiles() {
	if m.view != viewFiles {
		m.restFiles()
		return
	}
	f := &m.files
	if f.path == "" {
		m.goFolder(m.cwd(m.currentPane()), "")
	} else if f.leave == nil {
		f.begin(m.ctx)
	}
}

// restFiles ends what is under way while the view is not shown.
func (m *model) restFiles() {
	if f := &m.files; f.leave != nil {
		f.leave()
		f.leave = nil
	}
}

// begin asks for all that is to be known of the folder anew.
func (f *filesView) begin(ctx context.Context) {
	if f.leave != nil {
		f.leave()
	}
	f.serial++
	f.ctx, f.leave = context.WithCancel(ctx)
	f.stale, f.listing, f.resting = true, false, false
	f.askGit, f.asking, f.watched, f.stamp = true, false, false, ""
	f.aboveOf, f.matching = "", nil
}

// goFolder shows a folder with the cursor on a name, or where it was.
func (m *model) goFolder(path, name string) {
	f := &m.files
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
	f.begin(m.ctx)
	m.dirty = true
}

// pumpFiles asks for what the view needs now.
func (m *model) pumpFiles() tea.Cmd {
	f := &m.files
	if f.visiting != nil {
		if g, _ := m.groupOf(f.visiting); g == nil {
			return m.backFromVisit()
		}
	}
	transfers := m.pumpTransfers()
	if !m.onFiles() || !m.news.Connected {
		return transfers
	}
	if f.leave != nil && f.snapshots != m.news.Snapshots { // another engine: what was asked of the last one is lost
		f.snapshots = m.news.Snapshots
		f.begin(m.ctx)
		f.preview.Clear()
	}
	return tea.Batch(transfers, m.pumpFolder(), m.pumpWatch(), m.pumpGit(), m.pumpAbove(), m.pumpPreview())
}

// ofFolder runs an operation for the folder that is shown; it ends when
// another one is.
func (m *model) ofFolder(do func(context.Context, panes.Engine) tea.Msg) tea.Cmd {
	ctx, l := m.files.ctx, m.link
	return func() tea.Msg {
		e, err := l.At(ctx)
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

func (m *model) pumpFolder() tea.Cmd {
	f := &m.files
	if !f.stale || f.listing || f.leave == nil {
		return nil
	}
	f.stale, f.listing = false, true
	limit := firstEntries
	if f.all.Len() > 0 {
		limit = mostEntries
	}
	slow := filesSlow{f.serial}
	return tea.Batch(m.listFolder(nil, limit), tea.Tick(slowListing, func(time.Time) tea.Msg { return slow }))
}

// takeSlow says that a folder is still being read.
func (m *model) takeSlow(msg filesSlow) {
	if f := &m.files; msg.serial == f.serial && f.list.Rows() == nil && f.list.Note == "" {
		f.list.Note = "reading the folder…"
		m.dirty = true
	}
}

// listFolder lists the folder as far as a limit, from behind what is held of it
// already.
func (m *model) listFolder(held *files.Set, limit int) tea.Cmd {
	f := &m.files
	serial, path, name, order := f.serial, f.path, f.list.Wanted(), f.order
	return m.ofFolder(func(ctx context.Context, e panes.Engine) tea.Msg {
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
func listEntries(ctx context.Context, e panes.Engine, path, words string, set *files.Set, limit int) (*files.Set, int, error) {
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

func (m *model) takeListed(msg filesListed) tea.Cmd {
	f := &m.files
	if msg.serial != f.serial {
		return nil
	}
	m.dirty = true
	f.list.More, f.omitted = msg.partial, 0
	if msg.err != nil {
		f.all, f.match = nil, nil
		f.list.SetRows(f.all.Arrange(f.order))
		f.list.Note, f.list.Bad, f.list.Omitted = reasonOf(msg.err, f.path), true, 0
		return m.restListing(time.Second)
	}
	if f.all = msg.entries; !msg.partial {
		f.omitted = msg.omitted
	}
	match := m.matchBeyond()
	if f.matched() == nil {
		f.setRows(msg.rows)
	}
	cmd := tea.Batch(match, m.rearrange())
	if msg.partial {
		return tea.Batch(cmd, m.listFolder(msg.entries, mostEntries))
	}
	return tea.Batch(cmd, m.tidyFiles(), m.restListing(min(max(3*msg.took, 150*time.Millisecond), 10*time.Second)))
}

// tidyFiles gives back the memory that a large folder has taken.
func (m *model) tidyFiles() tea.Cmd {
	f := &m.files
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
func (m *model) restListing(d time.Duration) tea.Cmd {
	f := &m.files
	f.resting = true
	f.rests++
	rested := filesRested{f.serial, f.rests}
	return tea.Tick(d, func(time.Time) tea.Msg { return rested })
}

// changed has the folder listed at once, because something was done to it here.
func (f *filesView) changed() {
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
func (f *filesView) setRows(rows *files.Rows) {
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

func (m *model) pumpWatch() tea.Cmd {
	f := &m.files
	if f.watched || f.leave == nil {
		return nil
	}
	f.watched = true
	serial, path, stamp := f.serial, f.path, f.stamp
	return m.ofFolder(func(ctx context.Context, e panes.Engine) tea.Msg {
		out, err := e.WatchFolder(ctx, path, stamp)
		return filesWatched{serial, out, err}
	})
}

func (m *model) takeWatched(msg filesWatched) tea.Cmd {
	f := &m.files
	if msg.serial != f.serial {
		return nil
	}
	if msg.err != nil { // looked at again, less often
		serial := f.serial
		f.stale = f.stale || errors.Is(msg.err, api.CodeNotFound) // it is gone
		return tea.Tick(2*time.Second, func(time.Time) tea.Msg {
			return filesWatched{serial, api.FilesWatchOutput{Changed: true}, nil}
		})
	}
	f.watched, f.stamp = false, msg.out.Stamp
	if msg.out.Changed {
		f.stale, f.askGit = true, true
	}
	return nil
}

func (m *model) pumpGit() tea.Cmd {
	f := &m.files
	if !f.askGit || f.asking || f.leave == nil {
		return nil
	}
	f.askGit, f.asking = false, true
	serial, path := f.serial, f.path
	return m.ofFolder(func(ctx context.Context, e panes.Engine) tea.Msg {
		begin := time.Now()
		out, _ := e.GitStatus(ctx, path) // without an answer there are no marks
		return filesGit{serial, out, time.Since(begin)}
	})
}

func (m *model) takeGit(msg filesGit) tea.Cmd {
	f := &m.files
	if msg.serial != f.serial {
		return nil
	}
	f.list.Git, f.list.GitAll, f.branch = msg.out.Marks, msg.out.All, msg.out.Branch
	m.dirty = true
	return tea.Tick(max(gitRest, 5*msg.took), func(time.Time) tea.Msg { return gitRested{msg.serial} })
}

// pumpAbove lists the folder above, where it is shown.
func (m *model) pumpAbove() tea.Cmd {
	f := &m.files
	up := filepath.Dir(f.path)
	if m.filesParts().above.w == 0 || f.aboveOf == f.path || f.leave == nil {
		return nil
	}
	f.aboveOf = f.path
	if up == f.path {
		f.above.Reset("", "")
		return nil
	}
	if f.above.Path != up {
		f.above.Reset(up, filepath.Base(f.path))
	}
	f.above.Plain = true
	f.above.Select(filepath.Base(f.path))
	order := files.Order{Hidden: f.order.Hidden}
	return m.ofFolder(func(ctx context.Context, e panes.Engine) tea.Msg {
		out, err := e.ListFiles(ctx, up, "", firstEntries)
		if err != nil {
			return nil
		}
		return filesAbove{up, files.Arrange(out.Entries, order)}
	})
}

func (m *model) takeAbove(msg filesAbove) {
	if f := &m.files; f.above.Path == msg.path {
		f.above.SetRows(msg.rows)
		m.dirty = true
	}
}

// pumpPreview reads what is seen of the file under the cursor.
func (m *model) pumpPreview() tea.Cmd {
	f := &m.files
	if m.filesParts().preview.w == 0 {
		return nil
	}
	if selected := f.list.Selected(); selected == nil {
		if f.list.Rows() != nil && f.preview.Path() != "" {
			f.preview.Clear()
		}
	} else if path := f.list.SelectedPath(); f.leave != nil {
		f.preview.Colors = colorsOf(m.profile)
		f.preview.Show(path, *selected)
		if f.line > 0 {
			f.preview.GoLine(f.line)
			f.line = 0
		}
	}
	if f.search != nil && f.search.path != f.preview.Path() {
		m.endFileSearch()
	}
	parts := m.filesParts()
	f.preview.Resize(parts.preview.w, parts.preview.h)
	r, ok := f.preview.Next()
	if !ok {
		return nil
	}
	if f.peek != nil {
		f.peek()
	}
	ctx, cancel := context.WithCancel(m.ctx)
	f.peek = cancel
	l := m.link
	return func() tea.Msg {
		if r.Slow() && !rest(ctx, previewRest) {
			return nil
		}
		e, err := l.At(ctx)
		if err != nil {
			return nil
		}
		part := preview.Load(ctx, fileSource{e}, r)
		if ctx.Err() != nil {
			return nil
		}
		return previewed{part}
	}
}

// rest waits; it is false when ctx ended before.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func colorsOf(p colorprofile.Profile) int {
	switch p {
	case colorprofile.TrueColor:
		return 1 << 24
	case colorprofile.ANSI256:
		return 256
	case colorprofile.ANSI:
		return 16
	}
	return 0
}

func (m *model) takePreviewed(msg previewed) {
	m.files.preview.Take(msg.part)
	m.dirty = true
}

// A fileSource reads the engine's files for a preview.
type fileSource struct{ engine panes.Engine }

func (s fileSource) ReadAt(ctx context.Context, path string, off, n int64) ([]byte, int64, error) {
	out, err := s.engine.ReadFile(ctx, path, off, n)
	if out.Data != nil {
		return out.Data, out.Size, err
	}
	return []byte(out.Text), out.Size, err
}

func (s fileSource) List(ctx context.Context, path string, limit int) ([]api.FileInfo, int, error) {
	out, err := s.engine.ListFiles(ctx, path, "", limit)
	return out.Entries, out.Omitted, err
}
