package native

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/mcp/toolkit"
)

const (
	// writeWaitMS is how long session_write waits for the effect of what it types, and
	// writeIdleMS how long a program that seems to wait for input, but may be busy, prints nothing.
	writeWaitMS = 3000
	writeIdleMS = 1000
	// startWaitMS is how long session_start waits for a program to ask for something.
	startWaitMS = 1500
	// newsMost is how many bytes it gives of what is new, the end.
	newsMost = 2000
	// newsNote is room in them for what is said about them.
	newsNote = 160
)

type sessionWriteInput struct {
	ID    string   `json:"id"`
	Text  string   `json:"text,omitempty"`
	Paste string   `json:"paste,omitempty"`
	Keys  []string `json:"keys,omitempty"`
	Enter bool     `json:"enter,omitempty"`

	WaitMS *int `json:"wait_ms,omitempty" default:"3000"`
}

// A writeState says what became of what was typed.
type writeState struct {
	Waits string `json:"waits,omitempty"` // input, secret, or prompt: the next command
}

func (in sessionWriteInput) Subject(*toolkit.Agent) toolkit.Subject {
	return toolkit.Subject{Command: in.Text + in.Paste, Session: in.ID}
}

func sessionWrite(ctx context.Context, f *toolkit.Agent, in sessionWriteInput) (toolkit.Result, error) {
	if in.Text == "" && in.Paste == "" && len(in.Keys) == 0 && !in.Enter {
		return toolkit.Result{}, api.Errorf(api.CodeInvalid, "write to session %s: nothing to type", in.ID).
			WithHint("give text, paste, keys or enter")
	}
	p, err := api.SessionGet.Call(ctx, f.Engine, api.IDInput{ID: in.ID})
	if err != nil {
		return toolkit.Result{}, err
	}
	if _, err := seenUntil(ctx, f, p.ID); err != nil {
		return toolkit.Result{}, err
	}
	// One call after the other keeps the order: the engine sends keys before a paste.
	writes := []api.SessionWriteInput{{ID: in.ID, Text: in.Text, Keys: in.Keys}}
	if in.Paste != "" {
		writes = []api.SessionWriteInput{{ID: in.ID, Text: in.Text, Paste: in.Paste}, {ID: in.ID, Keys: in.Keys}}
	}
	if last := &writes[len(writes)-1]; in.Enter {
		last.Keys = append(last.Keys[:len(last.Keys):len(last.Keys)], "enter")
	}
	for _, w := range writes {
		if w.Text == "" && w.Paste == "" && len(w.Keys) == 0 {
			continue
		}
		if err := api.TypeInto(ctx, f.Engine, w); err != nil {
			return toolkit.Result{}, hintKeys(err)
		}
	}
	waitMS := writeWaitMS
	if in.WaitMS != nil {
		waitMS = *in.WaitMS
	}
	text, waits, over, err := effect(ctx, f, p, waitMS)
	if !over && waitMS > 0 {
		text += toolkit.NewlineBetween(text, "[") + "[still running; session_wait waits for it]"
	}
	return toolkit.Text(cmp.Or(text, "Typed.")).WithFacts(writeState{waits}).ForProcess(p.ID), err
}

// seenUntil returns where the output begins that this agent has not seen. If it has seen none,
// that is the present end.
func seenUntil(ctx context.Context, f *toolkit.Agent, id string) (toolkit.Cursor, error) {
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

// effect waits until what was typed or started has had its effect, and returns the new output
// and what the program waits for. over reports whether the program waits or has exited.
func effect(ctx context.Context, f *toolkit.Agent, p api.Process, waitMS int) (text, waits string, over bool, err error) {
	if waitMS > 0 {
		if p, waits, err = settle(ctx, f, p.ID, waitMS); err != nil {
			return "", "", false, err
		}
	}
	if text, err = news(ctx, f, p); err != nil {
		return "", "", false, err
	}
	switch {
	case p.State.Ended():
		text += toolkit.NewlineBetween(text, "[") + "[" + outcome(p) + "]"
	case waits != "":
		text += toolkit.NewlineBetween(text, "[") + "[waits for " + waitsFor(waits) + "]"
	}
	return text, waits, waits != "" || p.State.Ended(), nil
}

// settle waits up to waitMS until a program waits for input or has exited.
func settle(ctx context.Context, f *toolkit.Agent, id string, waitMS int) (p api.Process, waits string, err error) {
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
		ask.IdleMS = 0 // it is silent without waiting for input
	}
}

func waitsFor(waits string) string {
	if waits == "prompt" {
		return "the next command"
	}
	return waits
}

// news is what a session has printed since this agent looked last, or what has changed on
// the screen of a program that has all of it.
func news(ctx context.Context, f *toolkit.Agent, p api.Process) (string, error) {
	seen, _ := f.Seen.At(p.ID)
	out, err := api.SessionRead.Call(ctx, f.Engine, api.SessionReadInput{ID: p.ID, Since: seen.At, Max: newsMost, Plain: true})
	if err != nil {
		return "", err
	}
	f.Seen.Set(p.ID, toolkit.Cursor{At: out.NextCursor})
	if out.AltScreen {
		return fullScreen(ctx, f, p.ID)
	}
	whole := toolkit.ShortenLines(out.Data)
	text := toolkit.Tail(whole, newsMost-newsNote)
	return before(out.Dropped+int64(len(whole)-len(text)), seen.At) + text, nil
}

// before says how much of an output is not given, and which session_read gives it.
func before(dropped, since int64) string {
	if dropped == 0 {
		return ""
	}
	return fmt.Sprintf("[%d bytes before this: session_read since=%d]\n", dropped, since)
}

// hintKeys says what keys are called where one was not known.
func hintKeys(err error) error {
	e := api.AsError(err)
	if e.Code == api.CodeInvalid && e.Hint == "" && strings.HasPrefix(e.Message, "type key ") {
		return e.WithHint("keys are enter, tab, esc, space, backspace, up, pgdn, home, f5, ctrl+c, alt+x and the like")
	}
	return err
}
