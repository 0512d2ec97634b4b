package terminal

import (
	"bytes"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/persist/inputnotes"
)

// reportEvery is how many short messages may wait for other output before a viewer is told that the
// terminal has them.
const reportEvery = 64

// errReplaced ends an attachment whose viewer has connected again.
var errReplaced = api.Errorf(api.CodeUnavailable, "the viewer has connected again")

// A source is the numbered input of one viewer, over all its connections. The viewer numbers its
// messages from 1 and keeps each until the terminal has it. After a lost connection, it sends again
// those that this engine has not queued, or that a former one did not begin to write. The mutex of
// the input guards all fields but done.
type source struct {
	note   *inputnotes.Note
	viewer *viewer       // its present connection; nil if there is none
	taken  uint64        // number of the last message queued
	done   atomic.Uint64 // number of the last message written or discarded

	// unsure is how many messages a former engine began to write without noting their end. Like
	// Cut, it is for a viewer that has sent nothing since.
	unsure uint64
	part   int // how many bytes of the next message are written already
}

// A numbered is the numbered input of a connection.
type numbered struct {
	from     *source // nil if the input is not numbered
	leave    func()  // ends the connection
	reported uint64  // number of the message last reported as done; of the sending goroutine
}

// useNotes takes the notes of a session's input. new says that its program is new, so that former
// input no longer matters. A paste in which a former engine was interrupted is ended here: its rest
// is unknown, and what follows must not be taken for pasted text.
func (in *input) useNotes(notes *inputnotes.Notes, new bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.notes, in.sources = notes, map[*inputnotes.Note]*source{}
	if new {
		notes.DropParts()
	}
	for note := notes.Pasting(); note != nil; note = notes.Pasting() {
		switch {
		case new:
			note.Paste = false
			note.Save()
			continue
		case note.Begun <= note.Done || note.Part > 0:
			in.pasting = in.sourceOf(note)
			return
		}
		in.endPaste(in.sourceOf(note))
	}
}

// sourceOf returns the source of a note. in is locked.
func (in *input) sourceOf(note *inputnotes.Note) *source {
	from := in.sources[note]
	if from == nil {
		from = &source{note: note, taken: note.Begun, unsure: note.Begun - min(note.Done, note.Begun)}
		from.done.Store(note.Done)
		if note.Part > 0 && note.Begun > note.Done { // the viewer sends that message again, unchanged
			from.taken, from.unsure, from.part = note.Begun-1, 0, int(note.Part)
			from.done.Store(from.taken)
		}
		in.sources[note] = from
	}
	return from
}

// takeOver makes v the connection of its input, which leave ends, and returns what has become of the input so far.
// Messages of the previous connection are no longer taken.
func (in *input) takeOver(v *viewer, leave func()) (state api.InputState) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed || in.notes == nil || v.options.Input == "" {
		return state
	}
	note, known := in.notes.Find(v.options.Input, func(note *inputnotes.Note) bool {
		from := in.sources[note]
		return from != nil && (from.viewer != nil || from == in.pasting || from.done.Load() < from.taken)
	})
	if note == nil {
		return state
	}
	if !known {
		delete(in.sources, note)
	}
	from := in.sourceOf(note)
	note.Connected = time.Now().UnixNano()
	note.Save()
	if from.viewer != nil {
		from.viewer.input.leave()
	}
	from.viewer, v.input = v, numbered{from: from, leave: leave}
	return api.InputState{Counts: true, Known: known, Taken: from.taken, Unsure: from.unsure, Cut: note.Cut}
}

// disconnect ends v's connection.
func (in *input) disconnect(v *viewer) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if from := v.input.from; from != nil && from.viewer == v {
		from.viewer = nil
	}
}

// take numbers a message of v. It reports false if another connection has replaced v's. in is
// locked.
func (in *input) take(m *message, v *viewer) bool {
	from := v.input.from
	if from == nil {
		return true
	}
	if from.viewer != v {
		return false
	}
	from.taken++
	m.from, m.number = from, from.taken
	if from.part > 0 {
		m.written = min(from.part, len(m.rest))
		// The part may end inside a bracket.
		in.tail = append(in.tail[:0], m.rest[max(0, m.written-len(keys.PasteEnd)+1):m.written]...)
		m.rest, from.part = m.rest[m.written:], 0
	}
	m.prompt = len(m.rest) >= api.LongText || m.number%reportEvery == 0
	from.unsure = 0
	from.note.Cut = false
	return true
}

// noteBegin notes that p, a part of m, will be written. in is locked.
func (in *input) noteBegin(m *message, p []byte) {
	if m.from == nil {
		return
	}
	note := m.from.note
	note.Begun, note.Part, note.Paste = m.number, 0, note.Paste || bytes.Contains(p, []byte(keys.PasteStart))
	note.Save()
}

// noteWritten notes that p was written, the first part of what noteBegin got. in is locked.
func (in *input) noteWritten(m *message, p []byte) {
	switch {
	case m.from == nil:
		return
	case len(p) > 0:
		in.followPaste(m.from, p)
	case m.written == 0 && len(m.rest) > 0:
		m.from.note.Begun = m.number - 1
	}
	m.from.note.Paste = in.pasting == m.from
	m.from.note.Save()
}

// followPaste follows the brackets of pastes in p, written for a source. in is locked.
func (in *input) followPaste(from *source, p []byte) {
	// A bracket may come in parts.
	seen := append(in.tail, p...)
	start, end := bytes.LastIndex(seen, []byte(keys.PasteStart)), bytes.LastIndex(seen, []byte(keys.PasteEnd))
	in.tail = append(in.tail[:0], seen[max(0, len(seen)-len(keys.PasteEnd)+1):]...)
	switch {
	case start > end:
		in.pasting = from
	case end >= 0:
		in.pasting = nil
	}
}

// noteDone notes that nothing of m is pending. in is locked.
func (in *input) noteDone(m *message) {
	from := m.from
	from.note.Begun, from.note.Part, from.note.Done = m.number, 0, m.number
	from.note.Save()
	from.done.Store(m.number)
	if m.prompt && from.viewer != nil {
		raiseFlag(from.viewer.dirty)
	}
}

// notePart notes how many bytes of the message being written the terminal has, when this engine stops.
// in is locked.
func (in *input) notePart() {
	if len(in.pending) == 0 {
		return
	}
	m := in.pending[0]
	if m.from == nil || m.cancelled || m.written == 0 || len(m.rest) == 0 {
		return
	}
	m.from.note.Part = uint64(m.written)
	m.from.note.Save()
}

// endPaste ends the paste of a viewer that cannot continue it. in is locked.
func (in *input) endPaste(from *source) {
	from.note.Cut, from.note.Paste = true, false
	from.note.Begun, from.note.Part, from.part = from.taken, 0, 0 // the viewer does not send its rest
	from.note.Save()
	if in.pasting == from {
		in.pasting = nil
	}
	in.tail = in.tail[:0]
	_ = in.place(&message{rest: []byte(keys.PasteEnd)}) // fails only if the session has ended
}
