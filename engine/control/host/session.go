package host

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"

	"tandem/engine/control/supervise"
	"tandem/engine/screen/vt"
	"tandem/engine/screen/vt10x"
	"tandem/engine/session/prompt"
	"tandem/engine/session/terminal"
	"tandem/engine/system/keeper"
	"tandem/persist/inputnotes"
	"tandem/persist/ptylog"
	"tandem/persist/store"
)

// sessionLogLimit returns the size limit of a terminal's log. own is the limit in its record, or 0.
func (h *Host) sessionLogLimit(own int64) int64 {
	return max(cmp.Or(own, h.settings.now().LogLimit), terminal.MinLogLimit)
}

func (h *Host) openLog(r store.Record) (terminal.Log, error) {
	if r.Private {
		return h.private.openLog(h.store.LogPath(r), h.sessionLogLimit(r.LogLimit), r.Identity != nil)
	}
	sizes, err := h.store.ReadResizes(r.ID)
	if err != nil {
		return nil, err
	}
	o := ptylog.Options{Limit: h.sessionLogLimit(r.LogLimit)}
	// The last resize proves that everything before it is output. So NULs there are not
	// preallocated space left by a crash.
	if len(sizes) > 0 {
		o.Committed = sizes[len(sizes)-1].Offset
	}
	return ptylog.Open(h.store.LogPath(r), o)
}

// adoptSession continues a session that was started by an earlier engine.
func (h *Host) adoptSession(r store.Record, c keeper.Child, master *os.File) supervise.Session {
	id := supervise.IdentityOf(c)
	r.Identity = &id
	if r.Private { // its record does not say
		r.Argv = commandLineOf(c.PID)
	}
	s := h.newSession(r, master, nil, screenStart{redraw: r.Private})
	if cwd, err := os.Readlink("/proc/" + strconv.Itoa(c.PID) + "/cwd"); err == nil {
		s.SetCWD(cwd)
	}
	return s
}

// ReviveSession implements supervise.Executor.
func (h *Host) ReviveSession(r store.Record) *terminal.Session {
	return h.newSession(r, nil, nil, screenStart{})
}

// A screenStart says how the screen of a session begins.
type screenStart struct {
	new   bool // with a new child
	below bool // below what earlier children printed

	redraw bool // by the program: nothing else knows what was on it
}

// newSession starts a session from a record. master is nil if no program is running. log is the log
// opened for a new child; if it is nil, the session opens the record's log.
func (h *Host) newSession(r store.Record, master *os.File, log terminal.Log, start screenStart) *terminal.Session {
	h.sessions.Add(1)
	pid, nonce := 0, ""
	if !r.Sandboxed { // it could not read the scripts
		nonce = h.settings.now().shells.Nonce(r.ID, r.Argv)
	}
	if master != nil && r.Identity != nil {
		pid = r.Identity.PID
	}
	s := terminal.Start(terminal.Options{
		ID:       r.ID,
		Host:     &sessionHost{host: h, record: r, log: log},
		PID:      pid,
		Nonce:    nonce,
		Secret:   h.settings.now().shells.Secret(r.ID),
		Kind:     prompt.KindOf(r.Argv),
		Actor:    r.Actor,
		From:     r.From,
		Master:   master,
		New:      start.new,
		Below:    start.below,
		Redraw:   start.redraw,
		Cols:     r.Cols,
		Rows:     r.Rows,
		Journal:  h.private.journalFor(r, h.store),
		Displays: &h.displays,
		Replays:  h.replays,
		Chunks:   h.chunks,
		Log:      loggerFor(r, h.log),
		Ending:   h.Control.Context().Done(),
	}, func() {
		h.Agents.RemoveExited(r.ID)
		h.sessions.Done()
	})
	// Only a session with a running program can have a coding agent.
	if master != nil {
		h.Agents.Start(r.ID, pid, r.Agent, s, h.Launcher.ConfinerFor(r))
	}
	s.Admit(r.Keyboard != "", r.AdmitsSandboxed)
	return s
}

// A sessionHost is the host of one session.
type sessionHost struct {
	host   *Host
	record store.Record // as of the start of the session
	log    terminal.Log // of a new child; nil otherwise
}

// OpenLog implements terminal.Host.
func (h *sessionHost) OpenLog() (terminal.Log, error) {
	if h.log != nil {
		return h.log, nil
	}
	return h.host.openLog(h.record)
}

// OpenInputNotes implements terminal.Host.
func (h *sessionHost) OpenInputNotes() (*inputnotes.Notes, error) {
	return inputnotes.Open(filepath.Join(h.host.store.Dir(h.record.ID), "input"))
}

// NewEmulator implements terminal.Host with the emulator chosen by the user.
func (h *sessionHost) NewEmulator(o vt.Options) terminal.Emulator {
	now := h.host.settings.now()
	o.ScrollbackLines = now.Scrollback
	if now.Emulator == "vt10x" {
		o.Grid = vt10x.New
	}
	return vt.New(o)
}

// LogGrows implements terminal.Host.
func (h *sessionHost) LogGrows(offset int64) {
	h.host.Logs.Begin(h.host.store.LogPath(h.record), offset)
}

// OutputRead implements terminal.Host.
func (h *sessionHost) OutputRead() { h.host.Control.ReportDrained(h.record.ID) }

// ScreenChanged implements terminal.Host.
func (h *sessionHost) ScreenChanged() { h.host.Agents.NoteChange(h.record.ID) }

// FactsChanged implements terminal.Host.
func (h *sessionHost) FactsChanged() {
	h.host.Agents.NoteChange(h.record.ID)
	h.host.Control.PublishView(h.record.ID)
}

// Notify implements terminal.Host.
func (h *sessionHost) Notify(text string) { h.host.Control.PublishNoticeOf(h.record, text) }
