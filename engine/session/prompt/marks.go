package prompt

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
)

// A Command is a command that a shell has run, as reported by its marks.
type Command struct {
	Session   string // id
	Actor     string // person or agent:NAME that typed it, or that started the session if nothing was typed
	From      string // the other machine it was typed on, as user@host; "" for this one
	Line      string // may contain control characters; "" if the shell did not report it
	CWD       string // directory it was started in
	StartedAt time.Time
	Duration  time.Duration
	ExitCode  *int  // nil if the shell did not report it
	LogStart  int64 // offset in the log of the start of its output
	LogEnd    int64 // offset of the end of its output
	Stopped   bool  // the session was stopped or the command interrupted
}

// A phase is the state of a shell as reported by its marks.
type phase int

const (
	phaseUnknown phase = iota // no marks so far
	phaseBetween              // a command has exited, or the prompt is being drawn
	phaseReady                // at the prompt
	phaseRunning              // running a command
)

// A commandWatch follows one line typed for exec.
type commandWatch struct {
	line      string // the command; "" if the input is for a program that the shell runs
	begun     bool   // a mark reported the start of a command
	start     int64  // offset of the start of the first command's output
	ended     bool
	end       int64 // offset after the last command's output
	exit      *int
	lost      bool  // no mark reported the end
	once      bool  // a mark with a one-time nonce reported the end
	unmarked  int64 // offset of the next prompt, if no mark reported the command before it; 0: none
	prompted  bool  // the next prompt is being drawn
	ready     bool  // the next prompt is shown
	cursor    int64 // offset after that prompt
	continued int   // number of continuation prompts
	more      int64 // offset after the last of them
	began     time.Time
	endedAt   time.Time
}

// marks is the state of a shell according to its marks. Only marks with the session's nonce count.
// Whoever has locked the screen updates it; it is safe for concurrent use.
type marks struct {
	nonce string // "" if the shell was not asked for marks

	mu            sync.Mutex
	phase         phase
	noStart       bool         // the shell does not mark the start of commands
	entered       bool         // a line was sent since the prompt was drawn
	dropped       bool         // an interrupt or end of input was sent instead
	touched       bool         // something was typed since then
	begunBefore   bool         // part of a line was typed before it
	partial       bool         // part of a line was typed before the next prompt
	replayed      bool         // input before the engine's replay of the log is unknown
	ahead         int          // number of lines sent before the prompt and not yet run
	drawing       int64        // offset of the start of the last prompt
	prompt        inputStart   // after that prompt
	more          []inputStart // after its continuation prompts
	promptsOnly   bool         // prompts are marked, commands are not
	drawn         time.Time
	sentAt        time.Time     // when the last line was sent
	cursor        styled.Cursor // position after that prompt
	line          string        // of the running or next command
	reported      bool          // the shell reported line
	number        string        // of line in the shell's history
	start         int64         // offset of the start of the output
	replay        bool          // the running command was restored by a replay
	began         time.Time
	interruptedAt time.Time // time of the last interrupt; zero if none
	outputEnd     int64     // offset of the end of the output, before the shell's own mark of an unfinished line; 0 if not reported
	watch         *commandWatch
	once          oneTime
	notes         int // number of marks recorded
}

// An inputStart is the position after a prompt, where input starts.
type inputStart struct {
	at     int64  // offset in the log
	column int    // on the screen
	given  string // the command that exec typed there
}

// maxContinued is how many continuation prompts of one command are remembered.
const maxContinued = 200

// A markFound is a mark, its position, and the time at which it was read.
type markFound struct {
	vt.PromptEvent
	at     int64         // offset after the mark
	cursor styled.Cursor // at the time of the mark
	now    time.Time
	lost   bool // no mark: the shell was seen at a prompt
	// typed reads the line typed at a prompt from the log, for shells that do not report lines. It
	// also returns the offset of the output after the line, and whether the line was sent.
	typed func(from inputStart, to int64) (line string, output int64, sent bool)

	line   string // result of typed
	output int64
	sent   bool // the line was sent, but no mark reported its start
}

// noteMark records a mark. If the mark ends a command, it returns that command, without Session,
// Actor and CWD.
func (m *marks) noteMark(f markFound) (ended *Command) {
	if !m.hasNonce(f.PromptEvent) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.once.word != "" && f.Option("aid") == m.once.word {
			return m.noteOnce(f)
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
		m.promptsOnly = m.promptsOnly || f.sent || m.phase == phaseRunning
		ended = m.endCommand(f, nil)
		m.partial = m.partial || m.phase == phaseReady && !m.entered && (m.touched || m.begunBefore) // redrawn
		m.phase, m.noStart, m.drawing = phaseBetween, f.Option("c") == "0", f.at
		if m.watch != nil && m.watch.ended {
			m.watch.prompted = true
		}
	case 'B':
		m.phase, m.prompt, m.cursor, m.drawn = phaseReady, inputStart{at: f.at, column: f.cursor.X}, f.cursor, f.now
		m.more, m.entered, m.dropped, m.touched, m.replayed, m.outputEnd = nil, false, false, false, false, 0
		m.begunBefore, m.partial = m.partial, false
		if w := m.watch; w != nil && w.prompted {
			w.ready, w.cursor = true, f.at
		}
	case 'P':
		m.notePart(f)
	case 'E':
		if m.phase == phaseRunning { // no mark reported its end
			ended = m.endCommand(f, nil)
		}
		m.noteLine(f)
	case 'C':
		ended = m.endCommand(f, nil)
		m.beginCommand(f)
	case 'D':
		m.promptsOnly = false
		if m.phase == phaseBetween && m.watch != nil && m.watch.ended {
			// The shell has a second hook, which reports the status of the first.
			break
		}
		ended = m.endCommand(f, f.Exit)
		m.phase, m.reported = phaseBetween, false
	}
	return ended
}

// readTyped reads the typed line if the mark needs it. It reads the log before it takes the lock,
// so that callers of snapshot do not wait for the disk.
func (m *marks) readTyped(f *markFound) {
	m.mu.Lock()
	needed, unmarked := m.needsTyped(f)
	starts := append([]inputStart{m.prompt}, m.more...)
	m.mu.Unlock()
	if !needed {
		return
	}
	var lines []string
	for _, from := range starts {
		line, output, sent := f.typed(from, f.at)
		lines = append(lines, line)
		// The line at the last prompt completes the command, so that prompt decides.
		f.output, f.sent = output, sent && unmarked
	}
	f.line = strings.Join(lines, "\n")
}

// needsTyped reports whether a mark needs the typed line, and whether that is because no mark
// reported the start of its command. The caller holds the lock.
func (m *marks) needsTyped(f *markFound) (needed, unmarked bool) {
	// A command starts whose line the shell has not reported. A report made before a command that
	// still counts as running belongs to that command.
	starts := f.Mark == 'C' && (!m.reported || m.phase == phaseRunning)
	// A command ends in a shell that does not mark starts.
	ends := f.Mark == 'D' && m.phase == phaseReady && m.noStart
	// A line was sent, and the shell is at a prompt again, but no mark reported that a command started.
	unmarked = m.phase == phaseReady && m.entered && !m.dropped && (f.lost || f.Mark == 'A' && !m.noStart)
	return starts || ends || unmarked, unmarked
}

// notePart records a continuation prompt, or the end of an output without a final line feed.
func (m *marks) notePart(f markFound) {
	switch f.Option("k") {
	case "s":
		if len(m.more) < maxContinued {
			m.more = append(m.more, inputStart{at: f.at, column: f.cursor.X})
		}
		if m.watch != nil {
			m.watch.continued++
			m.watch.more = f.at
		}
	case "e":
		m.outputEnd = f.at
	}
}

// noteLine records the line of the next command. Some shells report the newest entry of their
// history, with its number. If the number has not changed, the command was not added to the
// history.
func (m *marks) noteLine(f markFound) {
	number := f.Option("n")
	m.line, m.reported = f.Line, number == "" || number != m.number
	m.number = number
}

func (m *marks) beginCommand(f markFound) {
	w := m.watch
	switch {
	case w != nil && !w.begun && w.line != "": // not as it was typed
		m.line = w.line
	case !m.reported:
		m.line = f.line
	}
	m.phase, m.start, m.began, m.outputEnd, m.interruptedAt = phaseRunning, f.at, f.now, 0, time.Time{}
	m.promptsOnly, m.replay = false, f.Replay
	m.ahead = max(0, m.ahead-1)
	if w != nil && !w.begun {
		w.begun, w.start, w.began = true, f.at, f.now
	}
}

// endCommand records the end of the running command and returns it, or nil if there is none.
func (m *marks) endCommand(f markFound, exit *int) *Command {
	c := Command{Line: m.line, StartedAt: m.began, LogStart: m.start, LogEnd: f.at, ExitCode: exit}
	switch {
	case m.phase == phaseRunning:
	case m.phase == phaseReady && (m.noStart && f.Mark == 'D' || f.sent):
		if c.Line, c.LogStart = f.line, f.output; c.StartedAt.Before(m.drawn) {
			c.StartedAt = m.drawn
		}
		if m.prompt.given != "" { // not as it was typed
			c.Line = m.prompt.given
		}
		if w := m.watch; w != nil && f.sent {
			w.unmarked = f.at
		}
		// The echo of the line came before the prompt, so text after the prompt is output.
		if !m.entered && m.ahead > 0 {
			c.Line = ""
			m.ahead--
		}
	default:
		m.noteEnd(f, exit)
		return nil
	}
	if m.outputEnd > c.LogStart {
		c.LogEnd = m.outputEnd
	}
	c.Duration = max(0, f.now.Sub(c.StartedAt))
	c.Stopped = exit != nil && *exit != 0 && EndsInterrupt(m.interruptedAt, f.now)
	m.noteEnd(f, exit)
	m.phase, m.line, m.reported, m.outputEnd = phaseBetween, "", false, 0
	if f.Replay || c.Line == "" && (m.noStart || f.sent) {
		return nil
	}
	return &c
}

// endShell records the exit of the shell. If a command was running, it ended with the given status,
// and endShell returns it. A waiting exec is not told here: it learns that the session has exited.
func (m *marks) endShell(f markFound, exit *int) *Command {
	f.lost = m.snapshot().promptsOnly
	m.readTyped(&f)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.phase == phaseReady && !m.entered {
		return nil
	}
	m.watch = nil
	return m.endCommand(f, exit)
}

// noteEnd records the end of a command for the exec that waits for it. A shell reports an end
// before each prompt, even if it ran nothing.
func (m *marks) noteEnd(f markFound, exit *int) {
	w := m.watch
	if w == nil || f.Mark == 'C' || f.Mark == 'E' || f.Mark == 'A' && (w.ended || !w.begun) || w.ended && (w.once || f.lost) {
		return
	}
	w.ended, w.end, w.exit, w.endedAt = true, f.at, exit, f.now
	if m.outputEnd > 0 {
		w.end = m.outputEnd
	}
}

// forgetProgram resets the state to that of a shell without any marks yet.
func (m *marks) forgetProgram() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.phase, m.noStart, m.replayed, m.replay, m.line, m.reported, m.number, m.notes = phaseUnknown, false, false, false, "", false, "", 0
}

// noteInterrupt records the time of an interrupt.
func (m *marks) noteInterrupt(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.interruptedAt = now
}

// interruptLimit is how long after an interrupt an exit may still count as caused by it.
const interruptLimit = 10 * time.Second

// EndsInterrupt reports whether an exit may have been caused by an interrupt.
func EndsInterrupt(interrupt, end time.Time) bool {
	after := end.Sub(interrupt)
	return !interrupt.IsZero() && 0 <= after && after <= interruptLimit
}

// appendState appends marks that produce the current state to dst. A checkpoint stores them, so a
// replay from there knows the state.
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

// escapeLine encodes a command line for OSC 633;E.
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

// watchNext starts to follow the line that will be typed next.
func (m *marks) watchNext() *commandWatch {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watch = &commandWatch{}
	return m.watch
}

// setWatched sets the command of the line that watchNext follows.
func (m *marks) setWatched(line string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watch.line, m.prompt.given = line, line
}

func (m *marks) stopWatching() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watch = nil
}

// readWatch returns a copy of w.
func (m *marks) readWatch(w *commandWatch) commandWatch {
	m.mu.Lock()
	defer m.mu.Unlock()
	return *w
}

// A promptState is a snapshot of marks.
type promptState struct {
	phase         phase
	noStart       bool
	entered       bool
	dropped       bool // an interrupt or end of input was sent
	touched       bool
	begunBefore   bool
	unsure        bool  // input before a replay is unknown
	ahead         bool  // the shell may still read a line typed before the prompt
	promptsOnly   bool  // prompts are marked, commands are not
	more          bool  // the shell has shown a continuation prompt
	drawing       int64 // offset of the start of the last prompt
	prompt        int64 // offset after that prompt
	drawn         time.Time
	sentAt        time.Time
	began         time.Time // of the running command
	interruptedAt time.Time // of its last interrupt
	cursor        styled.Cursor
	line          string // of the running command
	notes         int    // number of marks recorded
}

func (m *marks) snapshot() promptState {
	m.mu.Lock()
	defer m.mu.Unlock()
	return promptState{
		m.phase, m.noStart, m.entered, m.dropped, m.touched, m.begunBefore, m.replayed, m.ahead > 0, m.promptsOnly, len(m.more) > 0,
		m.drawing, m.prompt.at, m.drawn, m.sentAt, m.began, m.interruptedAt, m.cursor, m.line, m.notes,
	}
}

// isLineNew reports whether a line was sent so recently that the shell may not have read it yet, on
// a busy machine.
func (p promptState) isLineNew(now time.Time) bool {
	return p.phase == phaseReady && p.entered && now.Sub(p.sentAt) < enterSettles
}

// atPrompt reports whether the shell waits at its prompt, according to its marks alone.
func (p promptState) atPrompt() bool {
	return p.phase == phaseReady && !p.entered && !p.ahead
}
