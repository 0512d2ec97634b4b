package history

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/persist/histdb"
)

// A historyIndex holds the whole history in memory for searches. Equal strings are stored only
// once.
type historyIndex struct {
	rows     []historyEntry // oldest first
	commands []uint32       // the text of each row again, separate for a fast scan
	open     map[string][]int64

	texts historyTexts
	runs  []uint32 // number of rows of each text

	words   []string // directories, actors, ids, …
	wordIDs map[string]uint32

	queries queryCache
}

// A historyEntry is a row of the history. Strings are stored as numbers.
type historyEntry struct {
	id       int64
	started  int64 // microseconds since 1970
	duration int64 // microseconds; -1 if unknown
	logStart int64
	logEnd   int64
	process  uint64 // see processNumber
	text     uint32
	cwd      uint32
	actor    uint32
	from     uint32
	kind     uint32
	signal   uint32
	code     int32
	hasCode  bool
	running  bool
	stopped  bool
}

// hasFailed reports whether a run failed: it exited with a status other than 0 or by a signal, and
// was not stopped on request.
func (e *historyEntry) hasFailed() bool {
	return !e.stopped && (e.hasCode && e.code != 0 || e.signal != noWord)
}

// isInterrupt reports whether a run exited because of ctrl+c or ctrl+\, either directly or in the
// form that shells use: 128 plus the signal's number. Such an exit was requested, in Tandem or
// elsewhere.
func isInterrupt(code *int, signal string) bool {
	if code == nil {
		return signal == "SIGINT" || signal == "SIGQUIT"
	}
	return *code == 128+int(unix.SIGINT) || *code == 128+int(unix.SIGQUIT)
}

// noWord is the number of the empty string.
const noWord = 0

func newHistoryIndex() *historyIndex {
	x := &historyIndex{open: make(map[string][]int64), wordIDs: make(map[string]uint32)}
	x.internWord("") // becomes noWord
	x.reserveRows(0, 0)
	return x
}

// internWord returns the number of a string, and adds it if it is new.
func (x *historyIndex) internWord(s string) uint32 {
	if n, ok := x.wordIDs[s]; ok {
		return n
	}
	n := uint32(len(x.words))
	x.words = append(x.words, s)
	x.wordIDs[s] = n
	return n
}

// findWord returns the number of a known string.
func (x *historyIndex) findWord(s string) (uint32, bool) {
	n, ok := x.wordIDs[s]
	return n, ok
}

// Most processes have run one command, and most ids are 12 hex digits. Such an id is stored as a
// number, without a string.
const (
	idDigits = 12
	idNumber = 1 << 63
)

// processNumber returns the number of a process id. known is false if the id is a string and no row
// has it.
func (x *historyIndex) processNumber(id string) (number uint64, known bool) {
	if len(id) == idDigits && strings.Trim(id, "0123456789abcdef") == "" {
		n, err := strconv.ParseUint(id, 16, 64)
		return n | idNumber, err == nil
	}
	word, known := x.findWord(id)
	return uint64(word), known
}

func (x *historyIndex) processID(number uint64) string {
	if number&idNumber != 0 {
		return fmt.Sprintf("%0*x", idDigits, number&^idNumber)
	}
	return x.words[number]
}

// appendRow adds a row at the end; sortFrom moves it into place.
func (x *historyIndex) appendRow(r *histdb.Row) {
	text := x.texts.internLine(r.Command)
	if int(text) == len(x.runs) {
		x.runs = append(x.runs, 0)
	}
	x.runs[text]++
	process, known := x.processNumber(r.Process)
	if !known {
		process = uint64(x.internWord(r.Process))
	}
	e := historyEntry{
		id: r.ID, started: r.StartedAt.UnixMicro(), duration: -1, logStart: r.LogStart, logEnd: r.LogEnd,
		text: text, cwd: x.internWord(r.CWD), actor: x.internWord(r.Actor), from: x.internWord(r.From), process: process, kind: x.internWord(r.Kind),
		signal: x.internWord(r.ExitSignal), running: r.Running, stopped: r.Stopped || isInterrupt(r.ExitCode, r.ExitSignal),
	}
	if r.Duration >= 0 {
		e.duration = r.Duration.Microseconds()
	}
	if r.ExitCode != nil {
		e.code, e.hasCode = int32(*r.ExitCode), true
	}
	if r.Running {
		x.open[r.Process] = append(x.open[r.Process], r.ID)
	}
	x.rows, x.commands = append(x.rows, e), append(x.commands, text)
}

// insertRow adds a single row in its place.
func (x *historyIndex) insertRow(r histdb.Row) {
	n := len(x.rows)
	x.appendRow(&r)
	x.sortFrom(n)
}

// reserveRows allocates memory for rows with a total of bytes of text.
func (x *historyIndex) reserveRows(rows, bytes int) {
	x.rows = make([]historyEntry, 0, rows+rows/16)
	x.commands = make([]uint32, 0, rows+rows/16)
	x.runs = make([]uint32, 0, rows)
	x.texts = newHistoryTexts(rows, bytes+bytes/16)
}

func byStart(a, b historyEntry) int {
	return cmp.Or(cmp.Compare(a.started, b.started), cmp.Compare(a.id, b.id))
}

// sortFrom moves the rows appended from index n on to their places.
func (x *historyIndex) sortFrom(n int) {
	// A few new rows are nearly in order already, so moving each is cheaper than sorting all.
	if len(x.rows)-n > 16 {
		slices.SortStableFunc(x.rows, byStart)
		x.listCommands()
		return
	}
	moved := false
	for ; n < len(x.rows); n++ {
		e := x.rows[n]
		at := sort.Search(n, func(i int) bool { return byStart(x.rows[i], e) > 0 })
		copy(x.rows[at+1:n+1], x.rows[at:n])
		x.rows[at] = e
		moved = moved || at < n
	}
	if moved {
		x.listCommands()
	}
}

// listCommands updates the lists of commands and runs after rows have moved.
func (x *historyIndex) listCommands() {
	x.commands = x.commands[:len(x.rows)]
	clear(x.runs)
	for i := range x.rows {
		x.commands[i] = x.rows[i].text
		x.runs[x.rows[i].text]++
	}
}

// removeRows deletes the rows for which match returns true, and texts no longer used.
func (x *historyIndex) removeRows(match func(*historyEntry) bool) {
	before := len(x.rows)
	x.rows = slices.DeleteFunc(x.rows, func(e historyEntry) bool { return match(&e) })
	if len(x.rows) == before {
		return
	}
	// Rebuild the texts: nothing less removes a deleted secret from memory.
	old := x.texts
	x.texts, x.queries = newHistoryTexts(old.count(), len(old.all)), queryCache{}
	for i := range x.rows {
		e := &x.rows[i]
		e.text = x.texts.internLine(old.line(e.text))
	}
	x.runs = x.runs[:x.texts.count()]
	x.listCommands()
}

// endRuns completes the running rows of a process.
func (x *historyIndex) endRuns(e histdb.End) {
	ids := x.open[e.Process]
	delete(x.open, e.Process)
	for i := len(x.rows) - 1; i >= 0 && len(ids) > 0; i-- {
		r := &x.rows[i]
		at := slices.Index(ids, r.id)
		if at < 0 {
			continue
		}
		ids = slices.Delete(ids, at, at+1)
		r.running, r.stopped = false, e.Stopped || isInterrupt(e.ExitCode, e.ExitSignal)
		if !e.At.IsZero() {
			r.duration = max(0, e.At.UnixMicro()-r.started)
		}
		if e.ExitCode != nil {
			r.code, r.hasCode = int32(*e.ExitCode), true
		}
		r.signal = x.internWord(e.ExitSignal)
	}
}

// rowIDs returns the ids of the chosen rows.
func (x *historyIndex) rowIDs(chosen func(e *historyEntry) bool) (ids []int64) {
	for i := range x.rows {
		if chosen(&x.rows[i]) {
			ids = append(ids, x.rows[i].id)
		}
	}
	return ids
}

// An addedRun identifies a row added from a file.
type addedRun struct {
	text    uint32
	started int64
}

// addedRuns returns the imported rows. No engine recorded them as they ran.
func (x *historyIndex) addedRuns() map[addedRun]bool {
	runs := make(map[addedRun]bool)
	kind, ok := x.findWord(commandAdded)
	for i := range x.rows {
		if e := &x.rows[i]; ok && e.kind == kind {
			runs[addedRun{e.text, e.started}] = true
		}
	}
	return runs
}

// newestCommand returns the row with this id, which was just added, in the form for clients.
func (x *historyIndex) newestCommand(id int64) api.Command {
	for i := len(x.rows) - 1; i >= 0; i-- {
		if x.rows[i].id == id {
			return x.toCommand(&x.rows[i])
		}
	}
	return api.Command{}
}

// toCommand returns a row in the form for clients.
func (x *historyIndex) toCommand(e *historyEntry) api.Command {
	c := api.Command{
		ID: e.id, Command: x.texts.line(e.text), CWD: x.words[e.cwd], StartedAt: time.UnixMicro(e.started), DurationMS: -1,
		ExitSignal: x.words[e.signal], Actor: x.words[e.actor], From: x.words[e.from], Kind: x.words[e.kind], Process: x.processID(e.process),
		LogStart: e.logStart, LogEnd: e.logEnd, Stopped: e.stopped,
	}
	if e.duration >= 0 {
		c.DurationMS = e.duration / 1000
	}
	if e.hasCode {
		code := int(e.code)
		c.ExitCode = &code
	}
	return c
}
