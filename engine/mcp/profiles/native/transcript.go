package native

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"tandem/engine/api"
	"tandem/engine/mcp/toolkit"
)

const (
	// transcriptMost is how much of the end of a conversation's file is looked through.
	transcriptMost = 8 << 20
	// transcriptRows is how much of the scrollback is given where there is no such file.
	transcriptRows = 60
)

// agentTranscript gives the last answer of an agent from the file that it writes its
// conversation to, or else what it shows.
func agentTranscript(ctx context.Context, f *toolkit.Agent, in toolkit.IDInput) (toolkit.Result, error) {
	p, known, err := agentIn(ctx, f, in.ID, "read the answer of")
	if err != nil {
		return toolkit.Result{}, err
	}
	a := known.Agent
	said, err := answerIn(ctx, f, known.Transcript)
	if err != nil {
		why := strings.SplitN(api.AsError(err).Message, "\n", 2)[0]
		screen, err := api.SessionScreen.Call(ctx, f.Engine, api.SessionScreenInput{ID: p.ID, Scrollback: transcriptRows})
		if err != nil {
			return toolkit.Result{}, err
		}
		shown := toolkit.HeadAndTail(strings.TrimSpace(strings.Join(withoutRepeats(screen.Lines), "\n")), toolkit.DefaultBodySize, "session_screen gives it")
		return toolkit.Textf("%s\n[from its screen, as %s; it is %s%s]", shown, why, a.State, asked(a)).ForProcess(p.ID), nil
	}
	said = toolkit.HeadAndTail(said, toolkit.DefaultBodySize, "read "+known.Transcript.Path)
	return toolkit.Textf("%s\n[from %s; it is %s%s]", said, f.DisplayName(f.DecodeName(known.Transcript.Path)), a.State, asked(a)).ForProcess(p.ID), nil
}

// answerIn is the last answer in the file of a conversation, which is read as the tool read
// does: within the folders, the sandbox and the rules that hold for the caller.
func answerIn(ctx context.Context, f *toolkit.Agent, where *api.AgentTranscript) (string, error) {
	if where == nil {
		return "", fmt.Errorf("no file with its conversation is known")
	}
	rule, err := api.PolicyCheck.Call(ctx, f.Engine, api.PolicyCheckInput{Tool: "read", Actor: f.Actor, Paths: toolkit.PolicyPaths(where.Path), NoAsk: true})
	if err == nil && rule.Decision != "allow" {
		err = fmt.Errorf("reading %s is not allowed: %s", where.Path, rule.Reason)
	}
	if err != nil {
		return "", err
	}
	scope, path := f.PathInScope(where.Path)
	info, err := api.FilesStat.Call(ctx, f.Engine, api.FilesPathInput{FileScope: scope, Path: path})
	if err != nil {
		return "", err
	}
	begin := max(0, info.Size-transcriptMost)
	out, err := api.FilesRead.Call(ctx, f.Engine, api.FilesReadInput{FileScope: scope, Path: path, Bytes: true, Offset: begin, Limit: transcriptMost})
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

// lastAnswer is the text of the last entry that is an answer with text.
func lastAnswer(lines []byte, how api.AgentTranscript) (text string, ok bool) {
	for len(lines) > 0 {
		at := bytes.LastIndexByte(lines, '\n') + 1
		var entry map[string]any
		if json.Unmarshal(lines[at:], &entry) == nil && isAnswer(entry, how) {
			if text = textOf(fieldOf(entry, how.Text)); strings.TrimSpace(text) != "" {
				return text, true
			}
		}
		lines = lines[:max(0, at-1)]
	}
	return "", false
}

func isAnswer(entry map[string]any, how api.AgentTranscript) bool {
	for name, value := range how.Answer {
		if fmt.Sprint(fieldOf(entry, name)) != value {
			return false
		}
	}
	return true
}

// fieldOf is a field, or one in a field: a.b.
func fieldOf(entry map[string]any, name string) any {
	first, rest, deeper := strings.Cut(name, ".")
	if !deeper {
		return entry[first]
	}
	inner, _ := entry[first].(map[string]any)
	return fieldOf(inner, rest)
}

// textOf is a text, or that of the parts that have one.
func textOf(value any) string {
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
