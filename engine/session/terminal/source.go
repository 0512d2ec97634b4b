package terminal

import (
	"bytes"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/persist/inputnotes"
)

// reportEvery is how many short messages the terminal may accept before the viewer is told, if
// there is no other output to send.
const reportEvery = 64

// errReplaced ends an attachment whose viewer has connected again.
var errReplaced = api.Errorf(api.CodeUnavailable, "the viewer has connected again")

// A source is the numbered input of one viewer, over all its connections. The viewer numbers its
// messages from 1, and keeps each one until the terminal has accepted it. After a lost connection,
// the viewer repeats the messages not queued by this engine, or not begun to be written by a
// previous one. The mutex of the input guards all fields except done.
type source struct {
	note   *inputnotes.Note
	viewer *viewer       // its present connection; nil if there is none
	taken  uint64        // number of the last message queued
	done   atomic.Uint64 // number of the last message written or discarded

	// unsure is how many messages a previous engine began to write, without recording that it
	// finished. Like Cut in the note, it applies only until the viewer sends something.
	unsure uint64
	part   int // how many bytes of the next message are written already
}

// A numbered is the numbered input of a connection.
type numbered struct {
	from     *source // nil if the input is not numbered
	leave    func()  // ends the connection
	reported uint64  // number of the message last reported as done; of the sending goroutine
}

// useNotes uses the notes about a session's input. If new is set, the program is new, so earlier
// input no longer matters. If a previous engine was interrupted in the middle of a paste, the paste
// is ended here. Its rest is unknown, and what follows must not be taken for pasted text.
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

// sourceOf returns the source that a note is about. The caller holds the lock.
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

// takeOver makes v the connection of its source, and returns what has become of the source's input
// so far. It calls leave of the previous connection, from which no more messages are accepted.
// leave is called when another connection replaces v.
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

// take gives a message of v its number. It returns false if another connection has replaced v. The
// caller holds the lock.
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
		// The part may end inside the start or end sequence of a paste.
		in.tail = append(in.tail[:0], m.rest[max(0, m.written-len(keys.PasteEnd)+1):m.written]...)
		m.rest, from.part = m.rest[m.written:], 0
	}
	m.prompt = len(m.rest) >= api.LongText || m.number%reportEvery == 0
	from.unsure = 0
	from.note.Cut = false
	return true
}

// noteBegin saves that p, a part of m, is about to be written. The caller holds the lock.
func (in *input) noteBegin(m *message, p []byte) {
	if m.from == nil {
		return
	}
	note := m.from.note
	note.Begun, note.Part, note.Paste = m.number, 0, note.Paste || bytes.Contains(p, []byte(keys.PasteStart))
	note.Save()
}

// noteWritten saves that p was written. p is the first part of the bytes passed to noteBegin. The
// caller holds the lock.
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

// followPaste follows the start and end of pastes in p, which is written for a source. The caller
// holds the lock.
func (in *input) followPaste(from *source, p []byte) {
	// A start or end sequence may be split between two parts.
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

// noteDone saves that nothing of m is pending any more. The caller holds the lock.
func (in *input) noteDone(m *message) {
	from := m.from
	from.note.Begun, from.note.Part, from.note.Done = m.number, 0, m.number
	from.note.Save()
	from.done.Store(m.number)
	if m.prompt && from.viewer != nil {
		raiseFlag(from.viewer.dirty)
	}
}

// notePart saves how many bytes of the message being written the terminal has accepted. It is
// called when this engine stops. The caller holds the lock.
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

// endPaste ends the paste of a viewer that cannot continue it. The caller holds the lock.
func (in *input) endPaste(from *source) {
	from.note.Cut, from.note.Paste = true, false
	// The viewer does not send the rest of a message that was written in part, so that message no
	// longer counts as begun.
	from.note.Begun = from.taken
	from.note.Part, from.part = 0, 0
	from.note.Save()
	if in.pasting == from {
		in.pasting = nil
	}
	// The end sequence below must not be joined with an unfinished one of the paste.
	in.tail = in.tail[:0]
	_ = in.place(&message{rest: []byte(keys.PasteEnd)}) // fails only if the session has ended
}
