package terminal

import (
	"context"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/panes/panestest"
)

func TestAllPartsOfTheScrollbackAreSaved(t *testing.T) {
	engine := panestest.NewEngine()
	panestest.On(engine, api.SessionText, func(_ context.Context, in api.SessionTextInput) (api.SessionTextOutput, error) {
		if in.From.Line == 0 {
			return api.SessionTextOutput{Text: "one\n\n", Next: &api.Place{Line: 2}}, nil
		}
		return api.SessionTextOutput{Text: "two\n\n\n"}, nil
	})
	var b strings.Builder
	n, err := writeScrollback(t.Context(), engine, "1", &b)
	// Only the blank rows at the end of the screen are left out.
	if want := "one\n\ntwo\n"; b.String() != want || n != int64(len(want)) || err != nil {
		t.Errorf("wrote %q, reported %d bytes and error %v", b.String(), n, err)
	}
}
