package list

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// Trees tracks the git worktrees of sessions. It shows uncommitted and unmerged work in the list,
// and asks whether to keep a worktree after its session has exited.
type Trees struct {
	p        *Pane
	known    map[string]api.Worktree // by path
	fetchKey string                  // the state of the last fetch
	stale    bool                    // something may have changed
	fetching bool                    // a fetch is running
	killed   map[string]bool         // sessions stopped by the user here
	asked    map[string]time.Time    // start times of exited sessions already asked about
}

// worktreesSuffix is the end of the name of a directory with a repository's worktrees.
const worktreesSuffix = ".worktrees"

// worktreeAt returns the worktree that contains a directory, if Tandem made it; otherwise "".
func worktreeAt(folder string) string {
	if !strings.Contains(folder, worktreesSuffix+"/") { // as of almost all sessions
		return ""
	}
	for dir := folder; dir != "/" && dir != "." && dir != ""; dir = filepath.Dir(dir) {
		if strings.HasSuffix(filepath.Dir(dir), worktreesSuffix) {
			return dir
		}
	}
	return ""
}

// RepositoryNear returns the main directory of a repository for a directory in one of its
// worktrees, and any other directory unchanged.
func RepositoryNear(folder string) string {
	if tree := worktreeAt(folder); tree != "" {
		return strings.TrimSuffix(filepath.Dir(tree), worktreesSuffix)
	}
	return folder
}

// worktreeOf returns the worktree of a session; "" if it has none or runs on another machine.
func worktreeOf(session *api.Process) string {
	if machine, _ := api.MachineOf(session.ID); machine != "" || session.Kind != api.KindSession {
		return ""
	}
	return worktreeAt(session.CWD)
}

// worktreeFor returns the state of a session's worktree as fetched last; nil if it has none or the
// state is unknown.
func (t *Trees) worktreeFor(session *api.Process) *api.Worktree {
	tree := worktreeOf(session)
	if tree == "" {
		return nil
	}
	if w, ok := t.known[tree]; ok {
		return &w
	}
	return nil
}

// fetchInterval is the minimum time between two fetches, so that many commands in a row cause only
// one.
const fetchInterval = time.Second

// fetchTrees loads the state of the sessions' worktrees if something may have changed it since the
// last time: sessions or agents have changed, or a command has exited. While the list is hidden it
// does nothing.
func (t *Trees) fetchTrees() tea.Cmd {
	if t.fetching || !t.stale || !t.p.shown {
		return nil
	}
	t.stale = false
	var repositories []string // one worktree of each
	seen, news := "", t.p.env.News()
	for i := range news.Processes {
		session := &news.Processes[i]
		tree := worktreeOf(session)
		if tree == "" || session.State.Ended() {
			continue
		}
		seen += session.ID + " " + tree
		if session.Agent != nil {
			seen += string(session.Agent.State)
		}
		if session.Terminal != nil {
			seen += session.Terminal.Waiting
		}
		same := func(other string) bool { return filepath.Dir(other) == filepath.Dir(tree) }
		if !slices.ContainsFunc(repositories, same) {
			repositories = append(repositories, tree)
		}
	}
	if seen != "" {
		seen += strconv.FormatInt(news.History, 10)
	}
	// Nothing has happened since the last fetch that could have changed a worktree.
	if seen == t.fetchKey {
		return nil
	}
	t.fetchKey = seen
	if seen == "" {
		t.known = nil
		return nil
	}
	t.fetching = true
	return panes.Call(t.p.env.Context(), t.p.env, func(ctx context.Context, e panes.Engine) (map[string]api.Worktree, error) {
		known := map[string]api.Worktree{}
		for _, tree := range repositories {
			out, _ := api.WorktreeList.Call(ctx, e, api.WorktreeListInput{CWD: tree}) // a failed one is not shown
			for _, w := range out.Worktrees {
				known[w.Path] = w
			}
		}
		return known, nil
	}, func(known map[string]api.Worktree, _ error) tea.Cmd {
		t.known = known
		t.p.Refresh()
		return panes.After(fetchInterval, func() tea.Cmd {
			t.fetching, t.stale = false, true
			return nil
		})
	})
}

// worktreeMark returns a short mark for uncommitted changes and the number of unmerged commits.
func worktreeMark(w *api.Worktree, look *look.Look) (sign string) {
	if w.Dirty {
		sign = "*"
	}
	if w.Unmerged > 0 {
		sign += look.Glyphs.Ascending + strconv.Itoa(w.Unmerged)
	}
	return sign
}

// describeTree returns the branch of a session's worktree, and what would be lost if it were
// removed; "" if there is no worktree.
func (t *Trees) describeTree(session *api.Process) string {
	w := t.worktreeFor(session)
	if w == nil {
		return ""
	}
	return strings.Join(append([]string{"branch " + text.Clean(w.Branch)}, describeLoss(w)...), ", ")
}

// describeLoss lists what exists only in a worktree: uncommitted files and unmerged commits.
func describeLoss(w *api.Worktree) (all []string) {
	if w.Dirty {
		all = append(all, countUncommitted(w))
	}
	if w.Unmerged > 0 {
		all = append(all, strconv.Itoa(w.Unmerged)+" unmerged")
	}
	return all
}

func countUncommitted(w *api.Worktree) string {
	if w.Uncommitted == 0 { // git could not tell
		return "perhaps uncommitted changes"
	}
	return strconv.Itoa(w.Uncommitted) + " uncommitted"
}

// uncommittedFiles returns the number of uncommitted files as a line of a dialog.
func uncommittedFiles(w *api.Worktree) string {
	if w.Uncommitted == 0 {
		return "Perhaps uncommitted changes"
	}
	return text.Count(w.Uncommitted, "uncommitted file")
}

// HandleExit asks about the worktree of an exited session. Unless attended is set, it only shows a
// note. attended says that the user stopped the session in this dashboard, or had the keyboard in
// it.
func (t *Trees) HandleExit(session *api.Process, attended bool) tea.Cmd {
	tree := worktreeOf(session)
	if tree == "" || slices.Equal(session.Argv, diffCommand()) {
		return nil
	}
	// Several events may report one exit.
	if at, known := t.asked[session.ID]; known && at.Equal(session.StartedAt) {
		return nil
	}
	t.asked[session.ID] = session.StartedAt
	return t.loadTree(tree, func(w *api.Worktree) tea.Cmd {
		switch {
		case len(w.Sessions) > 0:
			return nil
		case attended:
			t.askTree(w)
			return nil
		case len(describeLoss(w)) == 0:
			return nil
		}
		return t.p.env.ShowNote("worktree "+text.Clean(filepath.Base(w.Path))+": "+strings.Join(describeLoss(w), ", ")+"; see tandem worktree list", false)
	})
}

// handleExits calls HandleExit for the sessions that have exited since the news in earlier.
func (t *Trees) handleExits(earlier *panes.News) (cmd tea.Cmd) {
	focused, _ := t.p.env.Focused()
	all := t.p.env.News().Processes
	for i := range all {
		session := &all[i]
		if !session.State.Ended() || worktreeOf(session) == "" {
			continue
		}
		if known, ok := earlier.Process(session.ID); ok && !known.State.Ended() {
			cmd = tea.Batch(cmd, t.HandleExit(session, t.killed[session.ID] || focused == session.ID))
			delete(t.killed, session.ID)
		}
	}
	return cmd
}

// askTarget asks about the worktree of the target session.
func (t *Trees) askTarget() tea.Cmd {
	session, ok := t.p.targetSession()
	if !ok {
		return nil
	}
	tree := worktreeOf(&session)
	if tree == "" {
		return t.p.env.Say("this session is not in a worktree", false)
	}
	return panes.AwaitAnswer(t.p.env.Context(), t.p.env, listTrees(tree), t.findTree(tree, func(w *api.Worktree) tea.Cmd {
		t.askTree(w)
		return nil
	}))
}

// askAbout asks about a worktree in which a program has exited.
func (t *Trees) askAbout(tree string) tea.Cmd {
	return t.loadTree(tree, func(w *api.Worktree) tea.Cmd {
		t.askTree(w)
		return nil
	})
}

// loadTree loads the state of a worktree and passes it to next. If the worktree is gone, next is
// not called.
func (t *Trees) loadTree(tree string, next func(*api.Worktree) tea.Cmd) tea.Cmd {
	return panes.Call(t.p.env.Context(), t.p.env, listTrees(tree), t.findTree(tree, next))
}

// listTrees returns a call to the engine that lists all worktrees of the repository to which tree
// belongs.
func listTrees(tree string) func(context.Context, panes.Engine) (api.WorktreeListOutput, error) {
	return func(ctx context.Context, e panes.Engine) (api.WorktreeListOutput, error) {
		return api.WorktreeList.Call(ctx, e, api.WorktreeListInput{CWD: tree})
	}
}

// findTree returns the handler for the answer to listTrees. It passes the worktree to next. If the
// worktree is gone, next is not called.
func (t *Trees) findTree(tree string, next func(*api.Worktree) tea.Cmd) func(api.WorktreeListOutput, error) tea.Cmd {
	return func(out api.WorktreeListOutput, err error) tea.Cmd {
		// The answer may differ from the stored state, so fetch again.
		t.fetchKey, t.stale = "", true
		at := slices.IndexFunc(out.Worktrees, func(w api.Worktree) bool { return w.Path == tree })
		if err != nil || at < 0 {
			return nil
		}
		return next(&out.Worktrees[at])
	}
}

// askTree asks about a worktree and lists what would be lost.
func (t *Trees) askTree(w *api.Worktree) {
	env := t.p.env
	q := &dialog.Question{
		Title: "Keep worktree " + text.Clip(text.Clean(filepath.Base(w.Path)), 30) + "?",
		Lines: []string{"of " + text.ClipLeft(text.ShortPath(w.Repository, env.Home()), 40)},
		No:    "keep it",
	}
	add := func(key, does string, then func() tea.Cmd) {
		q.Replies = append(q.Replies, dialog.Reply{Key: key, Does: does, Then: then})
	}
	switch {
	case w.Unmerged > 0:
		q.Lines = append(q.Lines, text.Count(w.Unmerged, "commit")+" of branch "+text.Clip(text.Clean(w.Branch), 30)+" not merged")
	case !w.Dirty:
		q.Lines = append(q.Lines, "Everything in it is merged.")
	}
	if w.Dirty {
		q.Lines = append(q.Lines, uncommittedFiles(w))
		add("s", "shell there", func() tea.Cmd { return env.StartSession(nil, w.Path) })
	}
	if !w.Gone && (w.Dirty || w.Unmerged > 0) {
		add("d", "diff", func() tea.Cmd { return t.showDiff(w.Path, func() tea.Cmd { return t.askAbout(w.Path) }) })
	}
	if w.Unmerged > 0 && !w.Dirty {
		add("m", "merge", func() tea.Cmd {
			return env.Visit("merge", append([]string{"git"}, w.MergeArguments()...), w.Repository, func() tea.Cmd { return t.askAbout(w.Path) })
		})
	}
	if n := len(w.Sessions); n > 0 {
		q.Lines = append(q.Lines, "It can be removed once nothing runs in it.")
	} else {
		add("r", "remove", func() tea.Cmd { return t.askRemove(w) })
	}
	env.Ask(q)
}

// diffCommand returns the command that shows how a worktree has changed since it branched off the
// HEAD of the main worktree. Its pager stays open until the user quits it.
func diffCommand() []string {
	return []string{"env", "LESS=R", "git", "diff", "--patch-with-stat", "--merge-base", "main-worktree/HEAD"}
}

// showDiff shows the changes in a worktree. When the user closes the diff, next is called; it may
// be nil.
func (t *Trees) showDiff(tree string, next func() tea.Cmd) tea.Cmd {
	return t.p.env.Visit("diff", diffCommand(), tree, next)
}

// askRemove removes a worktree. It asks first if something would be lost.
func (t *Trees) askRemove(w *api.Worktree) tea.Cmd {
	if !w.Dirty {
		return t.removeTree(w, false)
	}
	q := &dialog.Question{
		Title: "Remove " + text.Clip(text.Clean(filepath.Base(w.Path)), 30) + " with its uncommitted changes?",
		Lines: []string{uncommittedFiles(w) + ": lost permanently."},
		Yes:   "discard and remove",
		Then:  func() tea.Cmd { return t.removeTree(w, true) },
	}
	if w.Unmerged > 0 {
		q.Lines = append(q.Lines, "Its branch stays, with its unmerged commits.")
	}
	t.p.env.Ask(q)
	return nil
}

func (t *Trees) removeTree(w *api.Worktree, discard bool) tea.Cmd {
	env := t.p.env
	return panes.Call(env.Context(), env, func(ctx context.Context, e panes.Engine) (api.WorktreeRemoveOutput, error) {
		return api.WorktreeRemove.Call(ctx, e, api.WorktreeRemoveInput{Path: w.Path, Discard: discard})
	}, panes.ReportErrors(env.Say, func(out api.WorktreeRemoveOutput) tea.Cmd {
		note := "removed " + text.ShortPath(w.Path, env.Home())
		if out.Branch != "" && !out.BranchRemoved {
			note += fmt.Sprintf("; branch %s stays, with %d unmerged", text.Clean(out.Branch), w.Unmerged)
		}
		return env.Say(note, false)
	}))
}
