package host

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/base/sleep"
	"tandem/engine/control/supervise"
	"tandem/engine/session/prompt"
	"tandem/engine/session/terminal"
	"tandem/persist/store"
)

// A previousEngine is what is known about the engine that ran before this one. It is zero if
// nothing is known.
type previousEngine struct {
	store.LastEngine
	supervise.Aftermath
	next store.LastEngine // what the next engine finds
}

// loadLastEngine reads what the previous engine left behind. If that fails, exits before the end of
// that engine count as ordinary exits.
func (h *Host) loadLastEngine() {
	var err error
	if h.previous.LastEngine, err = h.store.LoadLastEngine(); err != nil {
		h.log.Warn("load description of the last engine", "error", err)
	}
}

// DescribeEngine saves a description of this engine for the next one. stopped is when this engine
// was asked to exit; it is zero while the engine runs. If all is set, the user stopped everything,
// so no exit was an interruption.
func (h *Host) DescribeEngine(stopped time.Time, all bool) {
	next := &h.previous.next
	next.StoppedAt = stopped
	if who := h.Link.Identity(); who != nil { // during a shutdown it may have exited already
		next.Keeper = *who
	}
	if all {
		next.Keeper = store.Identity{}
	}
	if stopped.IsZero() && next.Keeper == h.previous.Keeper {
		return // the keeper's earlier engine has saved it
	}
	if err := h.store.SaveLastEngine(*next); err != nil {
		h.log.Warn("save description of this engine", "error", err)
	}
}

// lastWrite returns when a terminal's log was last written, or zero if that is unknown.
func (h *Host) lastWrite(r store.Record) (at time.Time) {
	if info, err := os.Stat(h.store.LogPath(r)); err == nil {
		at = info.ModTime()
	}
	return at
}

// noteInterruption checks whether a session was interrupted. If so, it records that, and what the
// session was doing.
func (a adoption) noteInterruption(f *supervise.Found) {
	if !a.h.previous.IsInterrupted(f) {
		return
	}
	r := &f.Rec
	i := a.h.previous.Describe(*r)
	i.Folder, i.Program = a.lastDoing(*r)
	if sizes, err := a.h.store.ReadResizes(r.ID); err == nil && len(sizes) > 0 {
		r.Cols, r.Rows = sizes[len(sizes)-1].Cols, sizes[len(sizes)-1].Rows
	}
	r.Interrupted, f.Changed = &i, true
}

// lastDoing returns the last folder of an exited session, and the command line to be typed in a shell
// in its place.
func (a adoption) lastDoing(r store.Record) (folder, program string) {
	h, last := a.h, a.readLastState(r)
	folder = cmp.Or(last.Folder, r.Folder)
	switch {
	case !h.isShell(r.Argv):
		program = names.CommandLine(r.Argv)
	case last.IsFresh: // what was typed for it is still to be run
		program = r.Typed
	case last.Command != "" || r.Agent == nil:
		if !h.History.Ignores(last.Command) {
			program = last.Command
		}
	default:
		program = r.Agent.Name
	}
	return folder, program
}

// DescribeEnd describes a session that has ended without a reboot or crash, so that it can be restored
// as an interrupted one. Should the engine die before the session runs again, it is offered as one.
func (h *Host) DescribeEnd(r store.Record) store.Interruption {
	i := store.Interruption{By: api.ByCrash, At: time.Now()}
	i.Folder, i.Program = adoption{h: h}.lastDoing(r)
	if last := len(r.Runs) - 1; last >= 0 && r.EndedBy == "" && r.Runs[last].ExitSignal == "" && h.isShell(r.Argv) {
		i.Program = "" // the shell exited by itself: its last command was exit
	}
	return i
}

// isShell reports whether a program is a shell in which the user runs commands.
func (h *Host) isShell(argv []string) bool {
	return names.IsPlainShell(argv) || prompt.KindOf(argv).IsShell() || slices.Equal(argv, h.Shell(nil))
}

// readLastState reads the log of an exited session and returns the last state of its program.
func (a adoption) readLastState(r store.Record) (none terminal.LastState) {
	h := a.h
	if !h.store.MayHaveLog(r) {
		return none
	}
	log, err := h.openLog(r)
	if err != nil {
		h.log.Warn("read log of interrupted session", "id", r.ID, "error", err)
		return none
	}
	defer log.Close()
	checkpoints, _ := h.store.ReadCheckpoints(r.ID) // without them, more of the log is read
	return terminal.ReadLastState(log, r.LogStart, checkpoints, h.settings.now().shells.Secret(r.ID))
}

// folderInterval is the time between two checks of the sessions' folders.
const folderInterval = time.Minute

// RecordFolders saves the working directories of sessions from time to time, until ctx ends.
// Otherwise a reboot would lose those of programs that do not report theirs.
func (h *Host) RecordFolders(ctx context.Context) {
	for sleep.For(ctx, folderInterval) == nil {
		h.updateFolders(ctx)
	}
}

func (h *Host) updateFolders(ctx context.Context) {
	running := map[int]store.Record{}                  // by pid
	_ = h.Control.Visit(ctx, func(e supervise.Entry) { // fails only if ctx ends
		if e.Session != nil && e.Child.PID != 0 && !e.Rec.Private {
			running[e.Child.PID] = e.Rec
		}
	})
	for pid, r := range running {
		folder, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
		if folder = strings.TrimSuffix(folder, " (deleted)"); err == nil && folder != cmp.Or(r.Folder, r.CWD) {
			h.Control.SetFolder(r.ID, folder)
		}
	}
}
