package processes

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
	"tandem/panes/processes/logview"
	"tandem/panes/states"
)

// logs has the log below the table: the log of the process under the cursor, or the merged logs of
// several processes.
type logs struct {
	env      panes.Env
	selected func() (api.Process, bool) // the process under the cursor

	log      *logview.Log // nil for none
	merged   bool         // log is that of several processes
	fetching panes.LatestCall
	search   search
	screen   lastScreen // in place of log
}

// newLogs returns logs that shows the log of the process returned by selected. Call focus to give
// the log the keyboard.
func newLogs(env panes.Env, selected func() (api.Process, bool), focus func()) *logs {
	l := &logs{env: env, selected: selected, screen: lastScreen{env: env}}
	l.search = search{env: env, shown: l.shown, focus: focus}
	return l
}

func (l *logs) actions() panes.Actions {
	on := l.onShown
	by := func(rows int) func() tea.Cmd { return on(func(log *logview.Log) { log.Scroll(rows) }) }
	byHalves := func(halves int) func() tea.Cmd { return on(func(log *logview.Log) { log.ScrollHalfPages(halves) }) }
	return panes.Actions{
		keymap.ScrollDown: by(1), keymap.ScrollUp: by(-1),
		keymap.ScrollPageDown: byHalves(2), keymap.ScrollPageUp: byHalves(-2),
		keymap.ScrollHalfDown: byHalves(1), keymap.ScrollHalfUp: byHalves(-1),
		keymap.ScrollFirst: on((*logview.Log).ScrollToStart), keymap.ScrollLast: on((*logview.Log).ScrollToEnd),
		keymap.LogLeft:     on(func(log *logview.Log) { log.ScrollSideways(-1) }),
		keymap.LogRight:    on(func(log *logview.Log) { log.ScrollSideways(1) }),
		keymap.LogFollow:   on((*logview.Log).ToggleFollow),
		keymap.LogWrap:     on((*logview.Log).ToggleWrap),
		keymap.LogTimes:    on((*logview.Log).ToggleTimes),
		keymap.LogPretty:   on((*logview.Log).TogglePretty),
		keymap.LogSearch:   l.search.ask,
		keymap.LogNext:     func() tea.Cmd { return l.search.nextMatch(false) },
		keymap.LogPrevious: func() tea.Cmd { return l.search.nextMatch(true) },
		keymap.LogStream:   l.switchStream,
		keymap.LogSave:     l.askSave,
	}
}

// shown returns the log on the screen; nil if there is none. After the cursor has moved, it opens
// the log of the process now selected at once, because the next keys are meant for that log.
func (l *logs) shown() *logview.Log {
	if l.merged {
		return l.log
	}
	selected, ok := l.selected()
	if !ok {
		l.show(nil)
		return nil
	}
	if l.log == nil || l.log.ID != selected.ID {
		stream := ""
		if states.SplitLog(&selected) {
			stream = "stdout"
			if selected.Failed() { // errors usually explain a failure
				stream = "stderr"
			}
		}
		l.show(logview.New(selected.ID, stream, selected.Kind))
	}
	var tail []string
	if selected.Supervision != nil {
		tail = selected.Supervision.LastLines
	}
	l.log.SetState(selected.State, tail)
	return l.log
}

// show replaces the log. It cancels the request and the search of the old one.
func (l *logs) show(log *logview.Log) {
	l.search.cancel()
	l.fetching.Cancel()
	l.log, l.merged = log, false
}

func (l *logs) showMerged(log *logview.Log) {
	l.show(log)
	l.merged = true
}

// closeMerged returns to the log of the process under the cursor.
func (l *logs) closeMerged() {
	if l.merged {
		l.show(nil)
	}
}

// lastScreen returns the screen to show in place of the log; nil if the log itself is to be shown.
// The log is shown if no full-screen program printed it, if it is merged, or if the user searches
// or scrolls it.
func (l *logs) lastScreen() *lastScreen {
	log := l.shown()
	if log == nil || l.merged || l.screen.lines == nil || l.screen.id != log.ID || !log.Following() {
		return nil
	}
	return &l.screen
}

// fetch returns a command that loads the data the log needs next to fill h rows of w cells.
func (l *logs) fetch(w, h int) (cmd tea.Cmd) {
	log := l.shown()
	if log == nil {
		return nil
	}
	if selected, ok := l.selected(); ok && !l.merged {
		cmd = l.screen.fetch(&selected)
	}
	return tea.Batch(cmd, l.fetchLog(log, w, h))
}

func (l *logs) fetchLog(log *logview.Log, w, h int) tea.Cmd {
	log.SetSize(w, h)
	log.SetEngine(l.env.News().Snapshots)
	request, ok := log.NextRequest()
	if !ok {
		return nil
	}
	ctx := l.fetching.Begin(l.env.Context())
	return panes.Call(ctx, l.env, func(ctx context.Context, e panes.Engine) (logview.Answer, error) {
		_ = sleep.For(ctx, request.Delay)
		return request.Run(ctx, e)
	}, func(a logview.Answer, err error) tea.Cmd {
		if log.AcceptAnswer(request, a, err) && l.search.pending == log {
			return l.search.searchNext(log, log.Following())
		}
		return nil
	})
}

// switchStream switches between the logs of stdout and stderr.
func (l *logs) switchStream() tea.Cmd {
	if l.merged {
		return l.env.Say("merged logs show both output and errors; errors have ! after the name", false)
	}
	selected, ok := l.selected()
	if !ok || !states.SplitLog(&selected) {
		return l.env.Say("this process has one log for both output and errors", false)
	}
	stream := map[string]string{"stdout": "stderr", "stderr": "stdout"}[l.shown().Stream]
	l.show(logview.New(selected.ID, stream, selected.Kind))
	return nil
}

// onShown returns an action that calls change with the log on the screen, if there is one.
func (l *logs) onShown(change func(*logview.Log)) func() tea.Cmd {
	return panes.ActionOf(func() {
		if log := l.shown(); log != nil {
			change(log)
		}
	})
}

func (l *logs) askSave() tea.Cmd {
	log := l.shown()
	if log == nil {
		return nil
	}
	title, name := "Save the logs of "+text.Clip(text.Clean(log.Title), 40), "merged"
	if log.Project != "" {
		name = log.Title
	}
	if !l.merged {
		selected, _ := l.selected()
		title, name = "Save the log of "+text.Clean(selected.Name), selected.Name
	}
	copyTo := log.CopyFunc()
	l.env.Ask(dialog.NewPrompt(title+" to", filepath.Join(l.env.Folder(), text.AsFileName(name)+".log"), func(path string) tea.Cmd {
		return panes.FileSave{What: "log", Path: text.ExpandHome(path, l.env.Home()),
			Write: func(ctx context.Context, e panes.Engine, to io.Writer) (int64, error) { return copyTo(ctx, e, to) }}.Save(l.env)
	}).SuggestPaths(l.env.Folder(), l.env.Home()))
	return nil
}

// mergeMarked returns the merged logs of the marked processes, with their names as the title.
func mergeMarked(marked []api.Process) *logview.Log {
	names := text.Some(marked, 4, func(p api.Process) string { return text.Clip(text.Clean(p.Name), 20) })
	return logview.NewMerged(strings.Join(names, ", "), marked)
}
