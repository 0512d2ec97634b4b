package prompt

import (
	"context"
	"strings"

	"tandem/engine/api"
)

// clearLine interrupts a shell with an unfinished line. cleared is true if the shell has certainly
// dropped the line.
func (e *execution) clearLine(ctx context.Context) (cleared bool, err error) {
	if err := e.s.t.TypeInto(ctx, []byte{3}); err != nil {
		return false, err
	}
	quiet, cancel := context.WithTimeout(ctx, interruptGrace)
	defer cancel()
	// Only a shell with marked prompts reports that it has cleared the line.
	cleared = e.marker && (e.nested || !e.s.marks.snapshot().promptsOnly)
	for !cleared && quiet.Err() == nil {
		if cleared = e.s.marks.readWatch(e.watch).ready || e.s.marks.snapshot().atPrompt(); cleared {
			break
		}
		select {
		case <-e.changed:
		case <-quiet.Done():
		case <-e.s.o.Over:
			return false, nil
		}
	}
	return cleared, nil
}

// clearIncomplete interrupts a shell that still waits for the rest of the command. It returns the
// error to report.
func (e *execution) clearIncomplete(ctx context.Context) error {
	cleared, err := e.clearLine(ctx)
	if err != nil || e.s.isOver() {
		return err
	}
	if !cleared && !e.marker && e.s.marks.readWatch(e.watch).continued == 0 {
		// A shell without marks: the command may have run.
		return nil
	}
	if e.marker {
		return api.Errorf(api.CodeInvalid, "run in %s: the shell did not run the command: it is incomplete or has a syntax error", e.name).
			WithHint("session.screen shows what the shell printed; the line was cleared")
	}
	return api.Errorf(api.CodeInvalid, "run in %s: the command is incomplete: the shell waited for the rest", e.name).
		WithHint("close every quote, bracket, here-document and loop; the line was cleared")
}

// fishRefusal is the exit status reported for a line refused by fish. It is the same for a command
// not found.
const fishRefusal = 127

// fishError returns fish's message about a line that it has refused, or "". After the message, fish
// draws its prompt again, with the line still there.
func (e *execution) fishError() string {
	text, _, err := e.readOutput(e.start, e.s.t.Log().End(), false)
	text = trimEcho(text, e.in.Command)
	if err != nil || !strings.HasPrefix(text, "fish: ") {
		return ""
	}
	said := text[:lineEnd([]byte(text))]
	for place := text[len(said):]; strings.Contains(place, "\n"); {
		line := place[:lineEnd([]byte(place))]
		said, place = said+line, place[len(line):]
		if strings.Trim(line, " ^~\n") == "" && strings.Contains(line, "^") {
			return said
		}
	}
	return text[:lineEnd([]byte(text))] // without the place of the mistake
}
