package native

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

const (
	// writeWaitMS is how long session_write waits for the effect of its input. writeIdleMS is the
	// silence after which a program counts as waiting, even if it may be busy.
	writeWaitMS = 3000
	writeIdleMS = 1000
	// startWaitMS is how long session_start waits for a program to ask for input.
	startWaitMS = 1500
	// maxNewOutput is the maximum size of new output in a result, in bytes; its end is kept.
	maxNewOutput = 2000
	// newOutputNote is the space in it for a note.
	newOutputNote = 160
)

type sessionWriteInput struct {
	ID    string   `json:"id"`
	Text  string   `json:"text,omitempty"`
	Paste string   `json:"paste,omitempty"`
	Keys  []string `json:"keys,omitempty"`
	Enter bool     `json:"enter,omitempty"`

	WaitMS *int `json:"wait_ms,omitempty" default:"3000"`
}

// A writeState is the effect of typed input.
type writeState struct {
	Waits string `json:"waits,omitempty"` // input, secret, or prompt (the next command)
}

// Unsaid implements toolkit.Brief.
func (s writeState) Unsaid() any { return struct{}{} }

// Subjects returns the text that the call types: as a whole and, if there are several operations,
// the text of each one, because the engine judges each operation too.
func (in sessionWriteInput) Subjects(*toolkit.Agent) []toolkit.Subject {
	typed, pressed := in.Text+in.Paste, api.TextOfKeys(in.Keys)
	all := []toolkit.Subject{{Command: typed + pressed, Session: in.ID}}
	if in.Paste != "" && pressed != "" {
		all = append(all, toolkit.Subject{Command: typed, Session: in.ID}, toolkit.Subject{Command: pressed, Session: in.ID})
	}
	return all
}

func writeToSession(ctx context.Context, f *toolkit.Agent, in sessionWriteInput) (toolkit.Result, error) {
	if in.Text == "" && in.Paste == "" && len(in.Keys) == 0 && !in.Enter {
		return toolkit.Result{}, api.Errorf(api.CodeInvalid, "write to session %s: nothing to type", in.ID).
			WithHint("give text, paste, keys or enter")
	}
	id, err := f.FullID(ctx, in.ID, api.SessionGet)
	if err != nil {
		return toolkit.Result{}, err
	}
	// Note where the output ends before the input, so that the result begins there.
	if _, err := unseenStart(ctx, f, id); err != nil {
		return toolkit.Result{}, err
	}
	for _, w := range in.writes(id) {
		if err := api.TypeInto(ctx, f.Engine, w); err != nil {
			return toolkit.Result{}, hintKeys(err)
		}
	}
	waitMS := toolkit.ValueOr(in.WaitMS, writeWaitMS)
	text, waits, settled, err := awaitEffect(ctx, f, id, waitMS)
	if !settled && waitMS > 0 {
		text += toolkit.NewlineBetween(text, "[") + "[still running; session_wait waits for it]"
	}
	return toolkit.Text(cmp.Or(text, "Typed.")).WithFacts(writeState{waits}).ForProcess(id), err
}

// writes returns the writes to session id, in order. Keys after a paste are a second write, because
// the engine sends the keys of a write before its paste.
func (in sessionWriteInput) writes(id string) (all []api.SessionWriteInput) {
	first, keys := api.SessionWriteInput{ID: id, Text: in.Text, Paste: in.Paste}, slices.Clip(in.Keys)
	if in.Enter {
		keys = append(keys, "enter")
	}
	if in.Paste == "" {
		first.Keys, keys = keys, nil
	}
	if first.Text != "" || first.Paste != "" || len(first.Keys) > 0 {
		all = append(all, first)
	}
	if len(keys) > 0 {
		all = append(all, api.SessionWriteInput{ID: id, Keys: keys})
	}
	return all
}

// unseenStart returns the start of the output that this agent has not seen. If the agent has seen
// nothing yet, it returns the end of the present output.
func unseenStart(ctx context.Context, f *toolkit.Agent, id string) (toolkit.Cursor, error) {
	seen, known := f.Seen.At(id)
	if known {
		return seen, nil
	}
	end, err := api.SessionRead.Call(ctx, f.Engine, api.SessionReadInput{ID: id, Since: -1, Max: 1})
	if err != nil {
		return seen, err
	}
	seen.At = end.NextCursor
	f.Seen.Set(id, seen)
	return seen, nil
}

// awaitEffect waits until input or a start has taken effect, and returns the new output and the
// input the program waits for. settled reports whether the program waits or has exited.
func awaitEffect(ctx context.Context, f *toolkit.Agent, id string, waitMS int) (text, waits string, settled bool, err error) {
	var p api.Process
	if waitMS > 0 {
		if p, waits, err = awaitInput(ctx, f, id, waitMS); err != nil {
			return "", "", false, err
		}
	}
	if text, err = readNewOutput(ctx, f, id); err != nil {
		return "", "", false, err
	}
	switch {
	case p.State.Ended():
		text += toolkit.NewlineBetween(text, "[") + "[" + toolkit.Outcome(p) + "]"
	case waits != "":
		text += toolkit.NewlineBetween(text, "[") + "[waits for " + waitTarget(waits) + "]"
	}
	return text, waits, waits != "" || p.State.Ended(), nil
}

// awaitInput waits up to waitMS until a program waits for input or has exited.
func awaitInput(ctx context.Context, f *toolkit.Agent, id string, waitMS int) (p api.Process, waits string, err error) {
	end := time.Now().Add(time.Duration(waitMS) * time.Millisecond)
	ask := api.SessionWaitInput{ID: id, Settled: true, Exit: true, IdleMS: writeIdleMS, TimeoutMS: waitMS}
	for {
		out, err := api.SessionWait.Call(ctx, f.Engine, ask)
		if err != nil {
			return p, "", err
		}
		p = out.Process
		if p.Terminal != nil {
			waits = p.Terminal.Waiting
		}
		ask.TimeoutMS = int(time.Until(end).Milliseconds())
		if out.Met != "idle" || waits != "" || ask.TimeoutMS <= 0 {
			return p, waits, nil
		}
		ask.IdleMS = 0 // silent, but not waiting for input
	}
}

func waitTarget(waits string) string {
	if waits == "prompt" {
		return "the next command"
	}
	return waits
}

// readNewOutput returns the output of a session since this agent last looked, or the changed rows
// of a full-screen program.
func readNewOutput(ctx context.Context, f *toolkit.Agent, id string) (string, error) {
	seen, _ := f.Seen.At(id)
	out, err := api.SessionRead.Call(ctx, f.Engine, api.SessionReadInput{ID: id, Since: seen.At, Max: maxNewOutput, Plain: true})
	if err != nil {
		return "", err
	}
	f.Seen.Set(id, toolkit.Cursor{At: out.NextCursor})
	// Of a full-screen program the log holds mostly cursor movements.
	if out.AltScreen {
		return fullScreenChanges(ctx, f, id)
	}
	whole := toolkit.ShortenLines(out.Data)
	text := toolkit.Tail(whole, maxNewOutput-newOutputNote)
	return skipNote(out.Dropped+int64(len(whole)-len(text)), seen.At) + text, nil
}

// skipNote states how much output is missing, and the session_read call returning it.
func skipNote(dropped, since int64) string {
	if dropped == 0 {
		return ""
	}
	return fmt.Sprintf("[%d bytes before this: session_read since=%d]\n", dropped, since)
}

// hintKeys adds the names of keys to an error about an unknown one.
func hintKeys(err error) error {
	e := api.AsError(err)
	if e.Reason == api.ReasonUnknownKey && e.Hint == "" {
		return e.WithHint("keys are enter, tab, esc, space, backspace, up, pgdn, home, f5, ctrl+c, alt+x and the like")
	}
	return err
}
