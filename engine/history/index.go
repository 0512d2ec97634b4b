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

// A historyIndex holds a whole history in memory, made to be searched: equal
// strings are there once.
type historyIndex struct {
	rows     []historyEntry // oldest first
	commands []uint32       // the text of each row, without the rest, for a fast scan
	open     map[string][]int64

	texts historyTexts
	runs  []uint32 // number of rows of each text

	words   []string // folders, actors, ids, …
	wordIDs map[string]uint32

	found foundTexts
}

// A historyEntry is a row of the history; strings are numbers of them.
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

// failed reports whether a run ended with a code other than 0 or by a signal,
// and nobody had asked for that.
func (e *historyEntry) failed() bool {
	return !e.stopped && (e.hasCode && e.code != 0 || e.signal != noWord)
}

// isInterrupt reports whether a run ended by what ctrl+c and ctrl+\ send, or as
// shells say that: with 128 and the signal's number. Somebody has asked for that,
// in Tandem or elsewhere.
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
	x.word("") // becomes noWord
	x.expect(0, 0)
	return x
}

// word gives the number of a string.
func (x *historyIndex) word(s string) uint32 {
	if n, ok := x.wordIDs[s]; ok {
		return n
	}
	n := uint32(len(x.words))
	x.words = append(x.words, s)
	x.wordIDs[s] = n
	return n
}

// lookUp gives the number of a string that some row has.
func (x *historyIndex) lookUp(s string) (uint32, bool) {
	n, ok := x.wordIDs[s]
	return n, ok
}

// Most processes have run one command, and most ids are 12 digits: so those are
// numbers themselves.
const (
	idDigits = 12
	idNumber = 1 << 63
)

// processNumber gives the number of a process; known is false if it is a string
// that no row has.
func (x *historyIndex) processNumber(id string) (number uint64, known bool) {
	if len(id) == idDigits && strings.Trim(id, "0123456789abcdef") == "" {
		n, err := strconv.ParseUint(id, 16, 64)
		return n | idNumber, err == nil
	}
	word, known := x.lookUp(id)
	return uint64(word), known
}

func (x *historyIndex) processID(number uint64) string {
	if number&idNumber != 0 {
		return fmt.Sprintf("%0*x", idDigits, number&^idNumber)
	}
	return x.words[number]
}

// add adds a row. Most are the newest; sorted puts the others into their place.
func (x *historyIndex) add(r *histdb.Row) {
	text := x.texts.number(r.Command)
	if int(text) == len(x.runs) {
		x.runs = append(x.runs, 0)
	}
	x.runs[text]++
	process, known := x.processNumber(r.Process)
	if !known {
		process = uint64(x.word(r.Process))
	}
	e := historyEntry{
		id: r.ID, started: r.StartedAt.UnixMicro(), duration: -1, logStart: r.LogStart, logEnd: r.LogEnd,
		text: text, cwd: x.word(r.CWD), actor: x.word(r.Actor), from: x.word(r.From), process: process, kind: x.word(r.Kind),
		signal: x.word(r.ExitSignal), running: r.Running, stopped: r.Stopped || isInterrupt(r.ExitCode, r.ExitSignal),
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

// insert adds a single row and puts it into its place.
func (x *historyIndex) insert(r histdb.Row) {
	n := len(x.rows)
	x.add(&r)
	x.sorted(n)
}

// expect makes room for what is about to be added.
func (x *historyIndex) expect(rows, bytes int) {
	x.rows = make([]historyEntry, 0, rows+rows/16)
	x.commands = make([]uint32, 0, rows+rows/16)
	x.runs = make([]uint32, 0, rows)
	x.texts = newHistoryTexts(rows, bytes+bytes/16)
}

func byStart(a, b historyEntry) int {
	return cmp.Or(cmp.Compare(a.started, b.started), cmp.Compare(a.id, b.id))
}

// sorted puts the rows in order that were added from number n on.
func (x *historyIndex) sorted(n int) {
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

// listCommands updates commands and runs after rows have moved.
func (x *historyIndex) listCommands() {
	x.commands = x.commands[:len(x.rows)]
	clear(x.runs)
	for i := range x.rows {
		x.commands[i] = x.rows[i].text
		x.runs[x.rows[i].text]++
	}
}

// remove removes rows, and the texts that no other row has.
func (x *historyIndex) remove(gone func(*historyEntry) bool) {
	before := len(x.rows)
	x.rows = slices.DeleteFunc(x.rows, func(e historyEntry) bool { return gone(&e) })
	if len(x.rows) == before {
		return
	}
	old := x.texts
	x.texts, x.found = newHistoryTexts(old.count(), len(old.all)), foundTexts{}
	for i := range x.rows {
		e := &x.rows[i]
		e.text = x.texts.number(old.line(e.text))
	}
	x.runs = x.runs[:x.texts.count()]
	x.listCommands()
}

// end completes the rows of a process that run.
func (x *historyIndex) end(e histdb.End) {
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
		r.signal = x.word(e.ExitSignal)
	}
}

// ids are the numbers of the rows that are chosen.
func (x *historyIndex) ids(chosen func(e *historyEntry) bool) (ids []int64) {
	for i := range x.rows {
		if chosen(&x.rows[i]) {
			ids = append(ids, x.rows[i].id)
		}
	}
	return ids
}

// An addedRun is what tells rows apart that were added from a file.
type addedRun struct {
	text    uint32
	started int64
}

// added returns the imported rows, which no engine recorded as they ran.
func (x *historyIndex) added() map[addedRun]bool {
	runs := make(map[addedRun]bool)
	kind, ok := x.lookUp(commandAdded)
	for i := range x.rows {
		if e := &x.rows[i]; ok && e.kind == kind {
			runs[addedRun{e.text, e.started}] = true
		}
	}
	return runs
}

// newest is what clients are told of a row that was just added.
func (x *historyIndex) newest(id int64) api.Command {
	for i := len(x.rows) - 1; i >= 0; i-- {
		if x.rows[i].id == id {
			return x.command(&x.rows[i])
		}
	}
	return api.Command{}
}

// command is what clients are told of a row.
func (x *historyIndex) command(e *historyEntry) api.Command {
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
