package sessions

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
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// Trees are the git worktrees that sessions are in: what is uncommitted and unmerged there,
// and what becomes of them when their session has ended.
type Trees struct {
	p      *Pane
	known  map[string]api.Worktree // by path
	seen   string                  // what they were asked for
	due    bool                    // something may have changed
	asking bool                    // they are being asked for
	killed map[string]bool         // sessions whose end was asked for here
	told   map[string]time.Time    // of sessions that have ended: when they were started
}

// treesEnd is how the folder ends in which the worktrees of a repository are made.
const treesEnd = ".worktrees"

// treeAt is the worktree made by Tandem that a folder lies in, "" for none.
func treeAt(folder string) string {
	for dir := folder; dir != "/" && dir != "." && dir != ""; dir = filepath.Dir(dir) {
		if strings.HasSuffix(filepath.Dir(dir), treesEnd) {
			return dir
		}
	}
	return ""
}

// RepositoryNear is the repository's own folder if a folder lies in a worktree of it, else
// the folder.
func RepositoryNear(folder string) string {
	if tree := treeAt(folder); tree != "" {
		return strings.TrimSuffix(filepath.Dir(tree), treesEnd)
	}
	return folder
}

// treeOf is the worktree that a session of this machine is in, "" for none.
func treeOf(session *api.Process) string {
	if machine, _ := api.MachineOf(session.ID); machine != "" || session.Kind != api.KindSession {
		return ""
	}
	return treeAt(session.CWD)
}

// of is what is known of the worktree that a session is in, nil for nothing.
func (t *Trees) of(session *api.Process) *api.Worktree {
	if w, ok := t.known[treeOf(session)]; ok {
		return &w
	}
	return nil
}

// settle is how long worktrees are left alone after they were asked for, so that many
// commands in a row cost one look.
const settle = time.Second

// fetch asks for the worktrees that sessions are in where something may have changed in
// one: a session came, went or got its prompt back, its agent does something else, or a
// command has ended. Nothing is asked for while the list is not on the screen.
func (t *Trees) fetch() tea.Cmd {
	if t.asking || !t.due || !t.p.shown {
		return nil
	}
	t.due = false
	var repositories []string // one of the worktrees of each
	seen, news := "", t.p.env.News()
	for i := range news.Processes {
		session := &news.Processes[i]
		tree := treeOf(session)
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
	if seen == t.seen {
		return nil
	}
	t.seen = seen
	if seen == "" {
		t.known = nil
		return nil
	}
	t.asking = true
	return panes.Ask(t.p.env.Context(), t.p.env, func(ctx context.Context, e panes.Engine) (map[string]api.Worktree, error) {
		known := map[string]api.Worktree{}
		for _, tree := range repositories {
			out, _ := api.WorktreeList.Call(ctx, e, api.WorktreeListInput{CWD: tree}) // what cannot be told is not shown
			for _, w := range out.Worktrees {
				known[w.Path] = w
			}
		}
		return known, nil
	}, func(known map[string]api.Worktree, _ error) tea.Cmd {
		t.known = known
		t.p.Refresh()
		return panes.After(settle, func() tea.Cmd {
			t.asking, t.due = false, true
			return nil
		})
	})
}

// treeSign tells of a worktree in a few cells: what is uncommitted and how many commits are
// unmerged.
func treeSign(w *api.Worktree, look *widget.Look) (sign string) {
	if w.Dirty {
		sign = "*"
	}
	if w.Unmerged > 0 {
		sign += look.Glyphs.Ascending + strconv.Itoa(w.Unmerged)
	}
	return sign
}

// words name the branch of the worktree that a session is in, and what would be lost with
// it; "" where it is in none.
func (t *Trees) words(session *api.Process) string {
	w := t.of(session)
	if w == nil {
		return ""
	}
	return strings.Join(append([]string{"branch " + widget.Clean(w.Branch)}, lost(w)...), ", ")
}

// lost is what of a worktree is in no other place.
func lost(w *api.Worktree) (all []string) {
	if w.Dirty {
		all = append(all, uncommitted(w))
	}
	if w.Unmerged > 0 {
		all = append(all, strconv.Itoa(w.Unmerged)+" unmerged")
	}
	return all
}

func uncommitted(w *api.Worktree) string {
	if w.Uncommitted == 0 { // git could not tell
		return "perhaps uncommitted changes"
	}
	return strconv.Itoa(w.Uncommitted) + " uncommitted"
}

// Ended asks what becomes of the worktree of a session that has ended, or tells of it
// where the person does not wait for that: here is whether they ended it here, or had the
// keyboard in it.
func (t *Trees) Ended(session *api.Process, here bool) tea.Cmd {
	tree := treeOf(session)
	if tree == "" || slices.Equal(session.Argv, diffCommand()) {
		return nil
	}
	if at, told := t.told[session.ID]; told && at.Equal(session.StartedAt) {
		return nil
	}
	if t.told == nil {
		t.told = map[string]time.Time{}
	}
	t.told[session.ID] = session.StartedAt
	typing := !t.killed[session.ID]
	return t.look(tree, func(w *api.Worktree) tea.Cmd {
		switch {
		case len(w.Sessions) > 0:
			return nil
		case here && !t.p.env.Covered():
			t.ask(w, typing)
			return nil
		case len(lost(w)) == 0:
			return nil
		}
		return t.p.env.Tell("worktree "+widget.Clean(filepath.Base(w.Path))+": "+strings.Join(lost(w), ", ")+"; see tandem worktree list", false)
	})
}

// ending notes that the end of a session was asked for here.
func (t *Trees) ending(id string) {
	if t.killed == nil {
		t.killed = map[string]bool{}
	}
	t.killed[id] = true
}

// tellEnded does what Ended does for the sessions that have ended since.
func (t *Trees) tellEnded(before *panes.News) (cmd tea.Cmd) {
	focused, _ := t.p.env.Focused()
	all := t.p.env.News().Processes
	for i := range all {
		session := &all[i]
		if !session.State.Ended() || treeOf(session) == "" {
			continue
		}
		if was, ok := before.Process(session.ID); ok && !was.State.Ended() {
			cmd = tea.Batch(cmd, t.Ended(session, t.killed[session.ID] || focused == session.ID))
			delete(t.killed, session.ID)
		}
	}
	return cmd
}

// askTarget asks what becomes of the worktree of the session that is meant.
func (t *Trees) askTarget() tea.Cmd {
	session, ok := t.p.target()
	if !ok {
		return nil
	}
	tree := treeOf(&session)
	if tree == "" {
		return t.p.env.Say("this session is in no worktree", false)
	}
	return t.askAbout(tree)
}

func (t *Trees) askAbout(tree string) tea.Cmd {
	return t.look(tree, func(w *api.Worktree) tea.Cmd {
		t.ask(w, false)
		return nil
	})
}

// look finds out how it is in a worktree. One that is gone is nothing to go on with.
func (t *Trees) look(tree string, then func(*api.Worktree) tea.Cmd) tea.Cmd {
	return panes.Ask(t.p.env.Context(), t.p.env, func(ctx context.Context, e panes.Engine) (api.WorktreeListOutput, error) {
		return api.WorktreeList.Call(ctx, e, api.WorktreeListInput{CWD: tree})
	}, func(out api.WorktreeListOutput, err error) tea.Cmd {
		t.seen, t.due = "", true
		at := slices.IndexFunc(out.Worktrees, func(w api.Worktree) bool { return w.Path == tree })
		if err != nil || at < 0 {
			return nil
		}
		return then(&out.Worktrees[at])
	})
}

// ask asks what becomes of a worktree. What would be lost is in the question, which may
// come by itself.
func (t *Trees) ask(w *api.Worktree, unasked bool) {
	env := t.p.env
	repository := widget.ClipLeft(widget.ShortPath(w.Repository, env.Home()), 40)
	q := &overlay.Question{Unasked: unasked, Title: "Worktree " + widget.Clip(widget.Clean(filepath.Base(w.Path)), 30) + " of " + repository}
	add := func(key, does string, then func() tea.Cmd) {
		q.Replies = append(q.Replies, overlay.Reply{Key: key, Does: does, Then: then})
	}
	add("k", "keep", func() tea.Cmd { return nil })
	switch {
	case w.Unmerged > 0:
		q.Lines = append(q.Lines, widget.Count(w.Unmerged, "commit")+" of branch "+widget.Clip(widget.Clean(w.Branch), 30)+" not merged")
	case !w.Dirty:
		q.Lines = append(q.Lines, "Everything in it is merged.")
	}
	if w.Dirty {
		q.Lines = append(q.Lines, strings.ToUpper(uncommitted(w)[:1])+uncommitted(w)[1:])
		add("s", "shell there", func() tea.Cmd { return env.StartSession(nil, w.Path) })
	}
	if !w.Gone && (w.Dirty || w.Unmerged > 0) {
		add("d", "diff", func() tea.Cmd { return t.diff(w.Path, func() tea.Cmd { return t.askAbout(w.Path) }) })
	}
	if w.Unmerged > 0 && !w.Dirty {
		add("m", "merge", func() tea.Cmd {
			return env.Visit(append([]string{"git"}, w.MergeArguments()...), w.Repository, func() tea.Cmd { return t.askAbout(w.Path) })
		})
	}
	if n := len(w.Sessions); n > 0 {
		q.Lines = append(q.Lines, "It can be removed once nothing runs in it.")
	} else {
		add("r", "remove", func() tea.Cmd { return t.remove(w) })
	}
	env.Ask(q)
}

// diffCommand shows everything that a worktree has and the repository's own folder has
// not. Its pager stays until it is left.
func diffCommand() []string {
	return []string{"env", "LESS=R", "git", "diff", "--patch-with-stat", "--merge-base", "main-worktree/HEAD"}
}

// diff shows what was done in a worktree, and goes on when that was left.
func (t *Trees) diff(tree string, then func() tea.Cmd) tea.Cmd {
	return t.p.env.Visit(diffCommand(), tree, then)
}

// remove removes a worktree, after asking where something would be lost.
func (t *Trees) remove(w *api.Worktree) tea.Cmd {
	if !w.Dirty {
		return t.removeNow(w, false)
	}
	q := &overlay.Question{
		Title: "Remove " + widget.Clip(widget.Clean(filepath.Base(w.Path)), 30) + " with its uncommitted changes?",
		Lines: []string{uncommitted(w) + ": lost permanently."},
		Yes:   "discard and remove",
		Then:  panes.Result(func() tea.Cmd { return t.removeNow(w, true) }).Cmd,
	}
	if w.Unmerged > 0 {
		q.Lines = append(q.Lines, "Its branch stays, with its unmerged commits.")
	}
	t.p.env.Ask(q)
	return nil
}

func (t *Trees) removeNow(w *api.Worktree, discard bool) tea.Cmd {
	env := t.p.env
	return panes.Ask(env.Context(), env, func(ctx context.Context, e panes.Engine) (api.WorktreeRemoveOutput, error) {
		return api.WorktreeRemove.Call(ctx, e, api.WorktreeRemoveInput{Path: w.Path, Discard: discard})
	}, func(out api.WorktreeRemoveOutput, err error) tea.Cmd {
		said := "removed " + widget.ShortPath(w.Path, env.Home())
		switch {
		case err != nil:
			return env.Say(panes.ErrorText(err), true)
		case out.Branch != "" && !out.BranchRemoved:
			said += fmt.Sprintf("; branch %s stays, with %d unmerged", widget.Clean(out.Branch), w.Unmerged)
		}
		return env.Say(said, false)
	})
}
