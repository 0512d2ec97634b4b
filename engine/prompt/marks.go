package prompt

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"tandem/engine/styled"
	"tandem/engine/vt"
)

// A Command is one that a shell has run, as its marks tell it.
type Command struct {
	Session   string // id
	Actor     string // who typed it: person or agent:NAME; who started the session if nobody has typed
	From      string // on which other machine, user@host; "" for this one
	Line      string // "" when the shell did not tell; it may hold control characters
	CWD       string // where it was started
	StartedAt time.Time
	Duration  time.Duration
	ExitCode  *int  // nil when the shell did not tell
	LogStart  int64 // offset in the log where its output begins
	LogEnd    int64 // and ends
	Stopped   bool  // somebody has ended the session, or has interrupted the command
}

// A phase is what a shell does, as its marks tell it.
type phase int

const (
	phaseUnknown phase = iota // it has told nothing
	phaseBetween              // a command has ended, or the prompt is being drawn
	phaseReady                // it is at its prompt
	phaseRunning              // a command runs
)

// A commandWatch follows what becomes of one line that was typed for exec.
type commandWatch struct {
	typed     string // what the shell is given for the command, if that is not its own text
	line      string // the command then
	begun     bool   // a mark told that a command begins
	start     int64  // offset where the first command's output begins
	ended     bool
	end       int64 // offset behind the last command's output
	exit      *int
	lost      bool  // no mark reported the end
	lent      bool  // a mark with a lent nonce reported the end
	unmarked  int64 // offset of a prompt without a mark of the command before it; 0: none
	prompted  bool  // the prompt is being drawn after the end
	ready     bool  // and is there
	cursor    int64 // offset behind that prompt
	continued int   // prompts for more of the command
	more      int64 // offset behind the last of them
	began     time.Time
	endedAt   time.Time
}

// marks are what a shell has told by those with the session's nonce. The
// screen goroutine tells it what it sees; anybody may ask.
type marks struct {
	nonce string // "" when the shell was not asked to tell

	mu       sync.Mutex
	phase    phase
	noStart  bool         // the shell cannot tell when a command begins
	entered  bool         // a line was sent since the prompt was drawn
	dropped  bool         // an interrupt or end of input was sent instead
	touched  bool         // something was typed since then
	replayed bool         // input before the engine's replay of the log is unknown
	ahead    int          // lines sent while no prompt was there, that no command has taken
	drawing  int64        // offset of the start of the last prompt
	prompt   inputStart   // after that prompt
	more     []inputStart // after its continuation prompts
	bare     bool         // prompts are marked, commands are not
	drawn    time.Time
	lined    time.Time     // when a line was sent last
	cursor   styled.Cursor // where that prompt left it
	line     string        // of the command that runs or is about to
	told     bool          // the shell told line
	number   string        // of line in the shell's history
	start    int64         // offset where output begins
	replay   bool          // a replay told so
	began    time.Time
	broken   time.Time // time of the last interrupt; zero if none
	leftover int64     // offset where the output ended, before the shell's own mark of an unfinished line; 0 if it did not tell
	watch    *commandWatch
	lent     loan
	notes    int // number of marks recorded
}

// An inputStart is the position after a prompt, where input starts.
type inputStart struct {
	at     int64 // offset in the log
	column int   // on the screen
}

// maxContinued is how many continuation prompts of one command are remembered.
const maxContinued = 200

// A markFound is a mark with what the session knows where it stands.
type markFound struct {
	vt.PromptEvent
	at     int64         // offset behind the mark
	cursor styled.Cursor // when the mark came
	now    time.Time
	lost   bool // no mark: the shell was seen at a prompt
	// typed reads from the log the line typed at a prompt, the offset of the output after it, and
	// whether the line was sent; for shells that do not report lines.
	typed func(from inputStart, to int64) (line string, output int64, sent bool)

	line   string // result of typed
	output int64
	sent   bool // the line was sent, but no mark reported its start
}

// ours reports whether a mark carries the nonce: what a program prints does not.
func (m *marks) ours(e vt.PromptEvent) bool {
	if m.nonce == "" {
		return false
	}
	if e.Mark == 'E' {
		nonce, _, _ := strings.Cut(e.Options, ";")
		return nonce == m.nonce
	}
	return e.Option("aid") == m.nonce
}

// note notes a mark, and gives the command that has ended with it; nil if none
// has. The command has no Session, Actor or CWD yet.
func (m *marks) note(f markFound) (ended *Command) {
	if !m.ours(f.PromptEvent) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.lent.word != "" && f.Option("aid") == m.lent.word {
			return m.noteLent(f)
		}
		return nil
	}
	if at, err := strconv.ParseInt(f.Option("at"), 10, 64); err == nil && f.Replay {
		f.at = at
	}
	m.readTyped(&f)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notes++
	switch f.Mark {
	case 'A':
		m.bare = m.bare || f.sent || m.phase == phaseRunning
		ended = m.finish(f, nil)
		m.phase, m.noStart, m.drawing = phaseBetween, f.Option("c") == "0", f.at
		if m.watch != nil && m.watch.ended {
			m.watch.prompted = true
		}
	case 'B':
		m.phase, m.prompt, m.cursor, m.drawn = phaseReady, inputStart{f.at, f.cursor.X}, f.cursor, f.now
		m.more, m.entered, m.dropped, m.touched, m.replayed, m.leftover = nil, false, false, false, false, 0
		if w := m.watch; w != nil && w.prompted {
			w.ready, w.cursor = true, f.at
		}
	case 'P':
		m.part(f)
	case 'E':
		m.tellLine(f)
	case 'C':
		ended = m.finish(f, nil)
		m.begin(f)
	case 'D':
		m.bare = false
		if m.phase == phaseBetween && m.watch != nil && m.watch.ended {
			break // a duplicate hook; its status is that of another hook
		}
		ended = m.finish(f, f.Exit)
		m.phase, m.told = phaseBetween, false
	}
	return ended
}

// readTyped reads the line that was typed if the mark will ask for it. That is
// done before the lock is held: who wants to know the state must not wait for
// the log.
func (m *marks) readTyped(f *markFound) {
	m.mu.Lock()
	begins := f.Mark == 'C' && (!m.told || m.phase == phaseRunning)
	ends := f.Mark == 'D' && m.phase == phaseReady && m.noStart
	unmarked := m.phase == phaseReady && m.entered && !m.dropped && (f.lost || f.Mark == 'A' && !m.noStart)
	starts := append([]inputStart{m.prompt}, m.more...)
	m.mu.Unlock()
	if !begins && !ends && !unmarked {
		return
	}
	var lines []string
	for _, from := range starts {
		line, output, sent := f.typed(from, f.at)
		lines = append(lines, line)
		f.output, f.sent = output, sent && unmarked
	}
	f.line = strings.Join(lines, "\n")
}

// part notes a prompt for more of a command, or the end of an output that does
// not end with a line.
func (m *marks) part(f markFound) {
	switch f.Option("k") {
	case "s":
		if len(m.more) < maxContinued {
			m.more = append(m.more, inputStart{f.at, f.cursor.X})
		}
		if m.watch != nil {
			m.watch.continued++
			m.watch.more = f.at
		}
	case "e":
		m.leftover = f.at
	}
}

// tellLine notes the line of the command that is about to begin. A shell that tells the
// newest entry of its history says its number too: the same number again is not this
// command.
func (m *marks) tellLine(f markFound) {
	number := f.Option("n")
	m.line, m.told = f.Line, number == "" || number != m.number
	m.number = number
	if w := m.watch; w != nil && !w.begun && w.typed != "" && m.line == w.typed {
		m.line = w.line
	}
}

func (m *marks) begin(f markFound) {
	w := m.watch
	switch {
	case w != nil && !w.begun && (!m.told || m.lent.own):
		m.line = w.line
	case !m.told:
		m.line = f.line
	}
	m.phase, m.start, m.began, m.leftover, m.broken = phaseRunning, f.at, f.now, 0, time.Time{}
	m.bare, m.replay = false, f.Replay
	m.ahead = max(0, m.ahead-1)
	if w != nil && !w.begun {
		w.begun, w.start, w.began = true, f.at, f.now
	}
}

// finish notes that whatever ran has ended, if anything did.
func (m *marks) finish(f markFound, exit *int) *Command {
	c := Command{Line: m.line, StartedAt: m.began, LogStart: m.start, LogEnd: f.at, ExitCode: exit}
	switch {
	case m.phase == phaseRunning:
	case m.phase == phaseReady && (m.noStart && f.Mark == 'D' || f.sent):
		if c.Line, c.LogStart = f.line, f.output; c.StartedAt.Before(m.drawn) {
			c.StartedAt = m.drawn
		}
		if !m.entered && m.ahead > 0 { // its echo came before the prompt, so what stands behind that is output
			c.Line = ""
			m.ahead--
		}
		if w := m.watch; w != nil && f.sent {
			c.Line, w.unmarked = w.line, f.at
		}
	default:
		m.noteEnd(f, exit)
		return nil
	}
	if m.leftover > c.LogStart {
		c.LogEnd = m.leftover
	}
	c.Duration = max(0, f.now.Sub(c.StartedAt))
	c.Stopped = exit != nil && *exit != 0 && EndsInterrupt(m.broken, f.now)
	m.noteEnd(f, exit)
	m.phase, m.line, m.told, m.leftover = phaseBetween, "", false, 0
	if f.Replay || c.Line == "" && (m.noStart || f.sent) {
		return nil
	}
	return &c
}

// last notes that the shell has ended, with the status of whatever ran until
// then, and gives that; nil if nothing did. Who waits for the end of a command
// hears of that of the session instead.
func (m *marks) last(f markFound, exit *int) *Command {
	f.lost = m.state().bare
	m.readTyped(&f)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.phase == phaseReady && !m.entered {
		return nil
	}
	m.watch = nil
	return m.finish(f, exit)
}

// noteEnd tells who waits for the end of a command. A shell says so before each
// prompt, even if there was nothing to run.
func (m *marks) noteEnd(f markFound, exit *int) {
	w := m.watch
	if w == nil || f.Mark == 'C' || f.Mark == 'A' && (w.ended || !w.begun) || w.ended && (w.lent || f.lost) {
		return
	}
	w.ended, w.end, w.exit, w.endedAt = true, f.at, exit, f.now
	if m.leftover > 0 {
		w.end = m.leftover
	}
}

// noteTyped notes input. A line that is sent, or given up, leads to the next
// prompt; one that is sent to a shell which does not tell begins a command.
func (m *marks) noteTyped(p []byte, now time.Time) {
	if m.nonce == "" || len(p) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.phase != phaseReady {
		m.noteAhead(p)
		return
	}
	m.touched = true
	if at := bytes.IndexAny(p, "\r\n\x03\x04"); at >= 0 {
		if m.lined = now; !m.entered {
			m.began, m.broken = now, time.Time{}
		}
		if !m.entered || len(m.more) > 0 {
			m.dropped = p[at] == '\x03' || p[at] == '\x04'
		}
		m.entered = true
	}
}

// noteReplayed records that earlier input at the prompt is unknown.
func (m *marks) noteReplayed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.replayed = m.phase == phaseReady
}

// noteAhead counts the lines that are typed before the prompt is there: the shell reads
// them once it is, if what runs does not. An interrupt discards what nobody has read.
func (m *marks) noteAhead(p []byte) {
	if at := bytes.LastIndexByte(p, '\x03'); at >= 0 {
		m.ahead, p = 0, p[at:]
	}
	m.ahead += bytes.Count(p, []byte("\r")) + bytes.Count(p, []byte("\n"))
}

// noLineAhead notes that what was typed before the prompt was there has been read.
func (m *marks) noLineAhead() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ahead = 0
}

// noteInterrupt notes that somebody has sent an interrupt, to the command that
// runs if one does.
func (m *marks) noteInterrupt(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broken = now
}

// interruptLimit is how long after an interrupt a program's end still counts as caused
// by it.
const interruptLimit = 10 * time.Second

// EndsInterrupt reports whether an end may have been caused by an interrupt.
func EndsInterrupt(interrupt, end time.Time) bool {
	after := end.Sub(interrupt)
	return !interrupt.IsZero() && 0 <= after && after <= interruptLimit
}

// appendState writes the marks that bring a replay behind a checkpoint to where
// the shell is now.
func (m *marks) appendState(dst []byte) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	options := ""
	if m.noStart {
		options = "c=0;"
	}
	switch m.phase {
	case phaseBetween, phaseReady:
		dst = fmt.Appendf(dst, "\x1b]133;A;%said=%s\a", options, m.nonce)
	}
	switch m.phase {
	case phaseReady:
		dst = fmt.Appendf(dst, "\x1b]133;B;at=%d;aid=%s\a", m.prompt.at, m.nonce)
	case phaseRunning:
		dst = fmt.Appendf(dst, "\x1b]633;E;%s;%s\a", escapeLine(m.line), m.nonce)
		dst = fmt.Appendf(dst, "\x1b]133;C;at=%d;aid=%s\a", m.start, m.nonce)
	}
	return dst
}

// escapeLine writes a command line in the way of OSC 633;E.
func escapeLine(line string) string {
	var b strings.Builder
	for _, c := range []byte(line) {
		switch {
		case c == '\\':
			b.WriteString(`\\`)
		case c < ' ' || c == ';' || c == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// follow starts to follow what becomes of a line that is typed next.
func (m *marks) follow() *commandWatch {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watch = &commandWatch{}
	return m.watch
}

// means says what is typed for the command that is followed.
func (m *marks) means(typed, line string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watch.typed, m.watch.line = typed, line
}

// unfollow stops following.
func (m *marks) unfollow() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watch = nil
}

// seen is a copy of what was followed so far.
func (m *marks) seen(w *commandWatch) commandWatch {
	m.mu.Lock()
	defer m.mu.Unlock()
	return *w
}

// A promptState is a shell's prompt as its marks tell it.
type promptState struct {
	phase   phase
	noStart bool
	entered bool
	touched bool
	unsure  bool  // input before a replay is unknown
	ahead   bool  // the shell may still read a line typed before the prompt
	bare    bool  // prompts are marked, commands are not
	more    bool  // the shell has shown a continuation prompt
	drawing int64 // offset of the start of the last prompt
	prompt  int64 // offset after that prompt
	drawn   time.Time
	lined   time.Time
	began   time.Time // of the running command
	broken  time.Time // of its last interrupt
	cursor  styled.Cursor
	line    string // of the running command
	notes   int    // number of marks recorded
}

func (m *marks) state() promptState {
	m.mu.Lock()
	defer m.mu.Unlock()
	return promptState{
		m.phase, m.noStart, m.entered, m.touched, m.replayed, m.ahead > 0, m.bare, len(m.more) > 0,
		m.drawing, m.prompt.at, m.drawn, m.lined, m.began, m.broken, m.cursor, m.line, m.notes,
	}
}

// lineIsNew reports whether a line was sent to the prompt so lately that the shell,
// where much runs, may not have begun to read it.
func (p promptState) lineIsNew(now time.Time) bool {
	return p.phase == phaseReady && p.entered && now.Sub(p.lined) < enterSettles
}

// atPrompt reports whether the marks alone say that the shell waits at its
// prompt.
func (p promptState) atPrompt() bool {
	return p.phase == phaseReady && !p.entered && !p.ahead
}
