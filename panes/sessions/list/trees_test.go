package list

import (
	"context"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/panestest"
	"tandem/themes"
)

// worktreePane returns a list of sessions in worktrees of one repository. *asked is the number of
// times that the worktrees were fetched.
func worktreePane() (p *Pane, e *fakeEnv, asked *int) {
	p, e = newTestPane()
	asked = new(int)
	panestest.On(e.API.(*panestest.Engine), api.WorktreeList, func(context.Context, api.WorktreeListInput) (api.WorktreeListOutput, error) {
		*asked++
		return api.WorktreeListOutput{Worktrees: []api.Worktree{
			{Path: "/src/app.worktrees/a", Branch: "a", Repository: "/src/app", Dirty: true, Uncommitted: 3, Unmerged: 2},
			{Path: "/src/app.worktrees/b", Branch: "b", Repository: "/src/app"},
		}}, nil
	})
	e.Known.Processes[0].CWD, e.Known.Processes[1].CWD = "/src/app.worktrees/a/lib", "/src/app.worktrees/b"
	return p, e, asked
}

func TestWorktreesAreFetchedOncePerChange(t *testing.T) {
	p, e, asked := worktreePane()
	p.Trees.stale = true
	if cmd := p.Trees.fetchTrees(); cmd == nil {
		t.Fatal("nothing is asked for")
	} else if cmd().(panes.Result)(); *asked != 1 {
		t.Fatalf("asked %d times", *asked)
	}
	p.Trees.fetching, p.Trees.stale = false, true // as after the interval
	if p.Trees.fetchTrees() != nil {
		t.Error("asked again though nothing has happened")
	}
	e.Known.History++
	p.Trees.stale = true
	if p.Trees.fetchTrees() == nil {
		t.Error("not asked after a command has ended")
	}
	e.Inks.Glyphs = themes.ASCIIGlyphs()
	rows := strings.Join(plainRows(p.list.Draw(34, 5, &e.Inks)), "\n")
	if strings.Count(rows, "*^2") != 1 {
		t.Errorf("the rows are\n%s", rows)
	}
}

func TestWorktreeQuestionListsPossibleLosses(t *testing.T) {
	p, e, _ := worktreePane()
	ended := e.Known.Processes[0]
	ended.State = api.StateStopped
	p.Trees.HandleExit(&ended, true)().(panes.Result)()
	q, ok := e.Shown.(*dialog.Question)
	if !ok || strings.Join(q.Lines, "; ") != "of /src/app; 2 commits of branch a not merged; 3 uncommitted files" {
		t.Fatalf("dialog: %+v", e.Shown)
	}
	keys := ""
	for _, r := range q.Replies {
		keys += r.Key
	}
	if keys != "sdr" || q.Title != "Keep worktree a?" || q.No != "keep it" {
		t.Errorf("the answers to %q are %s and %q", q.Title, keys, q.No)
	}
	if p.Trees.HandleExit(&ended, true) != nil {
		t.Error("the question opens twice")
	}
	e.note = ""
	ended.ID, e.Shown = "other", nil
	p.Trees.HandleExit(&ended, false)().(panes.Result)()
	if e.Shown != nil || !strings.Contains(e.note, "3 uncommitted, 2 unmerged") {
		t.Errorf("dialog %v, note %q", e.Shown, e.note)
	}
}
