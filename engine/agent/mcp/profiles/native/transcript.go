package native

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

const (
	// maxTranscript is how much of the end of a transcript is searched.
	maxTranscript = 8 << 20
	// transcriptRows is how much scrollback is returned if there is no transcript.
	transcriptRows = 60
)

// readTranscript returns the last answer of an agent from its transcript or, without one, from its
// screen.
func readTranscript(ctx context.Context, f *toolkit.Agent, in toolkit.IDInput) (toolkit.Result, error) {
	p, transcript, err := findAgent(ctx, f, in.ID, "read the answer of")
	if err != nil {
		return toolkit.Result{}, err
	}
	a := p.Agent
	said, err := readAnswer(ctx, f, transcript)
	if err != nil {
		why := strings.SplitN(api.AsError(err).Message, "\n", 2)[0]
		screen, err := api.SessionScreen.Call(ctx, f.Engine, api.SessionScreenInput{ID: p.ID, Scrollback: transcriptRows})
		if err != nil {
			return toolkit.Result{}, err
		}
		shown := toolkit.HeadAndTail(strings.TrimSpace(strings.Join(collapseRepeats(screen.Lines), "\n")), toolkit.DefaultBodySize, "session_screen gives it")
		return toolkit.Textf("%s\n[from its screen, as %s; it is %s%s]", shown, why, a.State, questionSuffix(a)).ForProcess(p.ID), nil
	}
	said = toolkit.HeadAndTail(said, toolkit.DefaultBodySize, "read "+transcript.Path)
	return toolkit.Textf("%s\n[from %s; it is %s%s]", said, f.DisplayName(f.DecodeName(transcript.Path)), a.State, questionSuffix(a)).ForProcess(p.ID), nil
}

// readAnswer returns the last answer in a transcript. Like the tool read, it obeys the caller's
// folders, sandbox and policy.
func readAnswer(ctx context.Context, f *toolkit.Agent, where *api.AgentTranscript) (string, error) {
	if where == nil {
		return "", fmt.Errorf("no file with its conversation is known")
	}
	ctx = api.WithRulesOf(ctx, "read")
	scope, path := f.PathInScope(where.Path)
	info, err := api.FilesStat.Call(ctx, f.Engine, api.FilesPathInput{FileScope: scope, Path: path})
	if err != nil {
		return "", err
	}
	begin := max(0, info.Size-maxTranscript)
	out, err := api.FilesRead.Call(ctx, f.Engine, api.FilesReadInput{FileScope: scope, Path: path, Bytes: true, Offset: begin, Limit: maxTranscript})
	if err != nil {
		return "", err
	}
	lines := out.Data
	if lines == nil {
		lines = []byte(out.Text)
	}
	said, ok := lastAnswer(lines, *where)
	if !ok {
		return "", fmt.Errorf("%s has no answer yet", where.Path)
	}
	return toolkit.PlainText(said), nil
}

// lastAnswer returns the text of the last answer that has any; ok is false if there is none.
func lastAnswer(lines []byte, how api.AgentTranscript) (text string, ok bool) {
	// Search from the end: a transcript can be long, and its last answer is near the end.
	for len(lines) > 0 {
		at := bytes.LastIndexByte(lines, '\n') + 1
		var entry map[string]any
		if json.Unmarshal(lines[at:], &entry) == nil && isAnswer(entry, how) {
			if text = joinText(lookupField(entry, how.Text)); strings.TrimSpace(text) != "" {
				return text, true
			}
		}
		lines = lines[:max(0, at-1)]
	}
	return "", false
}

func isAnswer(entry map[string]any, how api.AgentTranscript) bool {
	for name, value := range how.Answer {
		if fmt.Sprint(lookupField(entry, name)) != value {
			return false
		}
	}
	return true
}

// lookupField returns a field; a.b means b inside a.
func lookupField(entry map[string]any, name string) any {
	first, rest, deeper := strings.Cut(name, ".")
	if !deeper {
		return entry[first]
	}
	inner, _ := entry[first].(map[string]any)
	return lookupField(inner, rest)
}

// joinText returns a text, or the joined texts of a list of parts.
func joinText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []any:
		var texts []string
		for _, part := range v {
			fields, _ := part.(map[string]any)
			if text, ok := fields["text"].(string); ok {
				texts = append(texts, text)
			}
		}
		return strings.Join(texts, "\n")
	}
	return ""
}
