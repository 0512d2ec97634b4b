package native

import (
	"context"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

type sessionScreenInput struct {
	ID         string `json:"id"`
	Format     string `json:"format,omitempty" enum:"text,ansi,png"`
	Scrollback int    `json:"scrollback,omitempty"`
	MaxOutput  int    `json:"max_output,omitempty" schema:"-"`
	Diff       bool   `json:"diff,omitempty"`
}

func readScreen(ctx context.Context, f *toolkit.Agent, in sessionScreenInput) (toolkit.Result, error) {
	limit, err := outputLimit(in.MaxOutput)
	if err != nil {
		return toolkit.Result{}, err
	}
	ask := api.SessionScreenInput{ID: in.ID, Scrollback: in.Scrollback}
	switch in.Format {
	case "", "text":
	case "ansi":
		ask.ANSI = true
	case "png":
		ask.Picture = "png"
	default:
		return toolkit.Result{}, api.Errorf(api.CodeInvalid, "show session %s: unknown format %q", in.ID, in.Format).
			WithHint("must be text, ansi or png")
	}
	if in.Diff && (in.Format == "ansi" || in.Format == "png" || in.Scrollback != 0) {
		return toolkit.Result{}, api.Errorf(api.CodeInvalid, "show session %s: diff requires format=text and scrollback=0", in.ID)
	}
	if ask.ID, err = f.FullID(ctx, in.ID, api.SessionGet); err != nil {
		return toolkit.Result{}, err
	}
	out, err := api.SessionScreen.Call(ctx, f.Engine, ask)
	if err != nil {
		return toolkit.Result{}, err
	}
	var before []string
	idle := ""
	// Compare only the screen: scrollback always grows.
	if ask.Picture == "" && !ask.ANSI {
		now := out.Lines[max(0, len(out.Lines)-out.Rows):]
		if before = f.Seen.SwapScreen(ask.ID, now); slices.Equal(before, now) && !out.State.Ended() {
			idle = countEmptyPoll(f, ask.ID, "session_wait")
		}
	}
	if !in.Diff {
		before = nil
	}
	if ask.Picture == "" {
		shown := toolkit.HeadAndTail(diffRows(before, out.Lines), limit, "max_output gives more")
		return toolkit.Text(shown + screenStatus(out) + idle).ForProcess(ask.ID), nil
	}
	if len(out.Picture) == 0 {
		return toolkit.Result{}, api.Errorf(api.CodeUnavailable, "show session %s: the engine sent no picture", in.ID)
	}
	r := toolkit.Text(screenStatus(out))
	r.Content = append([]sdk.Content{&sdk.ImageContent{Data: out.Picture, MIMEType: "image/png"}}, r.Content...)
	return r.ForProcess(ask.ID), nil
}

// fullScreenChanges returns the changes on the screen of a full-screen program since the agent last
// saw it, or "" if the program is not one.
func fullScreenChanges(ctx context.Context, f *toolkit.Agent, id string) (string, error) {
	screen, err := api.SessionScreen.Call(ctx, f.Engine, api.SessionScreenInput{ID: id})
	if err != nil || !screen.AltScreen {
		return "", err
	}
	before := f.Seen.SwapScreen(id, screen.Lines)
	about := screenStatus(screen)
	if before != nil { // the agent knows the rest
		about = fmt.Sprintf("[cursor at column %d row %d]", screen.Cursor.X, screen.Cursor.Y)
	}
	return diffRows(before, screen.Lines) + about, nil
}

// screenStatus describes a screen beyond its text.
func screenStatus(out api.Screen) string {
	about := fmt.Sprintf("[%dx%d, cursor at column %d row %d", out.Cols, out.Rows, out.Cursor.X, out.Cursor.Y)
	if out.AltScreen {
		about += ", alternate screen"
	}
	if out.Title != "" {
		about += fmt.Sprintf(", title %q", out.Title)
	}
	return about + ", " + string(out.State) + "]"
}

// diffRows returns the changed rows with their numbers. It returns the whole screen if there is
// nothing to compare it with or most rows have changed.
func diffRows(before, now []string) string {
	var b strings.Builder
	changed := 0
	for i, row := range now {
		if i < len(before) && row != before[i] {
			fmt.Fprintf(&b, "%d: %s\n", i, row)
			changed++
		}
	}
	// With most rows changed, a list of them would be longer than the screen.
	if len(before) != len(now) || 2*changed > len(now) {
		return strings.TrimRight(strings.Join(collapseRepeats(now), "\n"), "\n") + "\n"
	}
	return b.String()
}

// collapseRepeats collapses three or more equal rows, such as below the end of a file in vim, into
// one with their number.
func collapseRepeats(rows []string) (short []string) {
	for i := 0; i < len(rows); {
		n := 1
		for i+n < len(rows) && rows[i+n] == rows[i] {
			n++
		}
		if n >= 3 && rows[i] != "" {
			short = append(short, fmt.Sprintf("%s  ×%d", rows[i], n))
		} else {
			short = append(short, rows[i:i+n]...)
		}
		i += n
	}
	return short
}
