package native

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
	"tandem/engine/mcp/toolkit"
)

// nativeSessionTools work on terminals that a person can watch.
func nativeSessionTools() []toolkit.Tool {
	only := []toolkit.Profile{toolkit.Native}
	return []toolkit.Tool{
		toolkit.Define[sessionStartInput, sessionState](toolkit.Tool{Name: "session_start", Effect: api.Write, Profiles: only,
			Doc: "Start a terminal session: the shell, or a program. It keeps its state; the person can watch and type."}, sessionStart),
		toolkit.Define[sessionExecInput, execState](toolkit.Tool{Name: "session_exec", Effect: api.Destructive, Profiles: only,
			Doc: "Run a command in a session's shell, where cd and exports stay. It continues after the timeout."}, sessionExec),
		toolkit.Define[sessionWriteInput, toolkit.None](toolkit.Tool{Name: "session_write", Effect: api.Destructive, Profiles: only,
			Doc: "Type into a session: text, paste, then keys (ctrl+c, up), then enter."}, sessionWrite),
		toolkit.Define[sessionReadInput, toolkit.LogState](toolkit.Tool{Name: "session_read", Effect: api.Read, Profiles: only,
			Doc: "What a session printed since your last read, or since an offset."}, sessionRead),
		toolkit.Define[sessionScreenInput, toolkit.None](toolkit.Tool{Name: "session_screen", Effect: api.Read, Profiles: only,
			Doc: "What a session's screen shows now."}, sessionScreen),
		toolkit.Define[sessionWaitInput, sessionWaitState](toolkit.Tool{Name: "session_wait", Effect: api.Read, Profiles: only,
			Doc: "Wait until a session is at its prompt, wants input, prints or shows a match, falls silent or ends."}, sessionWait),
		toolkit.Define[sessionResizeInput, toolkit.None](toolkit.Tool{Name: "session_resize", Effect: api.Write, Idempotent: true, Profiles: only,
			Doc: "Set a session's size in cells."}, sessionResize),
		toolkit.Define[toolkit.IDInput, toolkit.None](toolkit.Tool{Name: "session_kill", Effect: api.Destructive, Idempotent: true, Profiles: only,
			Doc: "Kill a session and all that runs in it."}, sessionKill),
		toolkit.Define[struct{}, toolkit.None](toolkit.Tool{Name: "session_list", Effect: api.Read, Profiles: only,
			Doc: "List terminal sessions, the person's included."}, sessionsList),
	}
}

type sessionStartInput struct {
	Command string      `json:"command,omitempty"`
	Name    string      `json:"name,omitempty"`
	CWD     string      `json:"cwd,omitempty"`
	Env     toolkit.Env `json:"env,omitempty"`
	Lease   string      `json:"lease,omitempty" enum:"detached,session,forever"`
}

func (in sessionStartInput) Subject(f *toolkit.Agent) toolkit.Subject {
	return toolkit.Subject{Command: in.Command, CWD: f.Folder(in.CWD), Env: in.Env}
}

// A sessionState is what a session is and does.
type sessionState struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	State string `json:"state"`
}

// sessionLine tells all about a session in a line.
func sessionLine(p api.Process) string {
	line := fmt.Sprintf("%s  %s  %s  %s  %s", p.ID, p.Name, p.State, p.CWD, p.Command)
	if p.Terminal == nil || p.State.Ended() {
		return line
	}
	if p.Terminal.Waiting != "" {
		line += "  (waits: " + p.Terminal.Waiting + ")"
	}
	if p.Terminal.Keyboard != "" {
		line += "  (locked by " + p.Terminal.Keyboard + ")"
	}
	return line
}

func sessionStart(ctx context.Context, f *toolkit.Agent, in sessionStartInput) (toolkit.Result, error) {
	if err := toolkit.CheckLine("start session", cmp.Or(in.Command, "sh"), in.Env); err != nil {
		return toolkit.Result{}, err
	}
	p, err := api.SessionStart.Call(ctx, f.Engine, api.SessionStartInput{
		Command: toolkit.CommandLine(in.Command), Name: in.Name, CWD: f.Folder(in.CWD), Env: in.Env, Environ: f.Inherited(),
		Actor: f.Actor, Lease: api.Lease(in.Lease),
	})
	if err != nil {
		return toolkit.Result{}, err
	}
	return toolkit.Text("Started session " + sessionLine(p)).With(sessionState{p.ID, p.Name, string(p.State)}).Of(p.ID), nil
}

type sessionExecInput struct {
	ID        string `json:"id"`
	Command   string `json:"command"`
	TimeoutMS int    `json:"timeout_ms,omitempty"`
	MaxOutput int    `json:"max_output,omitempty"`
}

func (in sessionExecInput) Subject(*toolkit.Agent) toolkit.Subject {
	return toolkit.Subject{Command: in.Command, Session: in.ID}
}

// An execState is how a command in a session went.
type execState struct {
	ExitCode   *int    `json:"exit_code,omitempty"`
	DurationMS float64 `json:"duration_ms"`
	TimedOut   bool    `json:"timed_out"`
	Method     string  `json:"method"`          // how the end was known: marks, marker, exit or none
	Waits      string  `json:"waits,omitempty"` // input or secret
	Question   string  `json:"question,omitempty"`
	CWD        string  `json:"cwd,omitempty"`
	Dropped    int64   `json:"dropped"` // bytes of output before the text
	NextCursor int64   `json:"next_cursor"`

	alive bool
}

func sessionExec(ctx context.Context, f *toolkit.Agent, in sessionExecInput) (toolkit.Result, error) {
	most, err := BulkOf(in.MaxOutput)
	if err != nil {
		return toolkit.Result{}, err
	}
	out, err := api.SessionExec.Call(ctx, f.Engine,
		api.SessionExecInput{ID: in.ID, Command: in.Command, TimeoutMS: in.TimeoutMS, MaxOutput: most})
	if err != nil {
		return toolkit.Result{}, err
	}
	state := execState{ExitCode: out.ExitCode, DurationMS: out.DurationMS, TimedOut: out.TimedOut,
		Method: out.Method, Waits: out.Waits, Question: out.Question, CWD: out.CWD, Dropped: out.Dropped, NextCursor: out.NextCursor, alive: out.Alive}
	r := toolkit.Text(out.Output)
	r.Content = append(r.Content, &sdk.TextContent{Text: state.line()})
	return r.With(state).Of(in.ID), nil
}

// line tells how it went.
func (s execState) line() string {
	switch {
	case s.Waits != "":
		return waitsLine(s.Waits, s.Question)
	case s.TimedOut:
		return fmt.Sprintf("[still running after %.1f s; session_wait for prompt, session_read since %d]", s.DurationMS/1000, s.NextCursor)
	case s.ExitCode != nil:
		return fmt.Sprintf("[exit code %d, %.1f s]", *s.ExitCode, s.DurationMS/1000)
	case !s.alive:
		return "[the session has ended]"
	}
	return "[exit code unknown]"
}

// waitsLine says what a program waits for, and what it has asked.
func waitsLine(waits, question string) string {
	if question == "" {
		return "[waits for " + waits + "]"
	}
	return "[waits for " + waits + ": " + toolkit.PlainText(question) + "]"
}

type sessionWriteInput struct {
	ID    string   `json:"id"`
	Text  string   `json:"text,omitempty"`
	Paste string   `json:"paste,omitempty"`
	Keys  []string `json:"keys,omitempty"`
	Enter bool     `json:"enter,omitempty"`
}

func (in sessionWriteInput) Subject(*toolkit.Agent) toolkit.Subject {
	return toolkit.Subject{Command: in.Text + in.Paste, Session: in.ID}
}

func sessionWrite(ctx context.Context, f *toolkit.Agent, in sessionWriteInput) (toolkit.Result, error) {
	if in.Text == "" && in.Paste == "" && len(in.Keys) == 0 && !in.Enter {
		return toolkit.Result{}, api.Errorf(api.CodeInvalid, "write to session %s: there is nothing to type", in.ID).
			WithHint("give text, paste, keys or enter")
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
		if _, err := api.SessionWrite.Call(ctx, f.Engine, w); err != nil {
			return toolkit.Result{}, hintKeys(err)
		}
	}
	return toolkit.Text("Typed.").Of(in.ID), nil
}

// hintKeys says what keys are called where one was not known.
func hintKeys(err error) error {
	e := api.AsError(err)
	if e.Code == api.CodeInvalid && e.Hint == "" && strings.HasPrefix(e.Message, "type key ") {
		return e.WithHint("keys are enter, tab, esc, space, backspace, up, pgdn, home, f5, ctrl+c, alt+x and the like")
	}
	return err
}

type sessionReadInput struct {
	ID        string `json:"id"`
	Since     *int64 `json:"since,omitempty" doc:"negative: from the end"`
	WaitMS    int    `json:"wait_ms,omitempty"`
	MaxOutput int    `json:"max_output,omitempty"`
}

func sessionRead(ctx context.Context, f *toolkit.Agent, in sessionReadInput) (toolkit.Result, error) {
	most, err := BulkOf(in.MaxOutput)
	if err != nil {
		return toolkit.Result{}, err
	}
	p, err := api.SessionGet.Call(ctx, f.Engine, api.IDInput{ID: in.ID})
	if err != nil {
		return toolkit.Result{}, err
	}
	seen, _ := f.Seen.At(p.ID)
	since := seen.At
	if in.Since != nil {
		since = *in.Since
	}
	got, err := toolkit.ReadLog(ctx, f, api.ProcessLogInput{ID: p.ID, Since: &since, WaitMS: in.WaitMS}, most)
	if err != nil {
		return toolkit.Result{}, err
	}
	f.Seen.Set(p.ID, toolkit.Cursor{At: got.State.NextCursor})
	return got.Result().Of(p.ID), nil
}

type sessionScreenInput struct {
	ID         string `json:"id"`
	Format     string `json:"format,omitempty" enum:"text,ansi,png"`
	Scrollback int    `json:"scrollback,omitempty"`
}

func sessionScreen(ctx context.Context, f *toolkit.Agent, in sessionScreenInput) (toolkit.Result, error) {
	ask := api.SessionScreenInput{ID: in.ID, Scrollback: in.Scrollback}
	switch in.Format {
	case "", "text":
	case "ansi":
		ask.ANSI = true
	case "png":
		ask.Picture = "png"
	default:
		return toolkit.Result{}, api.Errorf(api.CodeInvalid, "show session %s: there is no format %q", in.ID, in.Format).
			WithHint("text, ansi or png")
	}
	out, err := api.SessionScreen.Call(ctx, f.Engine, ask)
	if err != nil {
		return toolkit.Result{}, err
	}
	about := fmt.Sprintf("[%dx%d, cursor at column %d row %d", out.Cols, out.Rows, out.Cursor.X, out.Cursor.Y)
	if out.AltScreen {
		about += ", alternate screen"
	}
	if out.Title != "" {
		about += fmt.Sprintf(", title %q", out.Title)
	}
	about += ", " + string(out.State) + "]"
	if ask.Picture == "" {
		return toolkit.Text(strings.TrimRight(strings.Join(out.Lines, "\n"), "\n") + "\n" + about).Of(in.ID), nil
	}
	if len(out.Picture) == 0 {
		return toolkit.Result{}, api.Errorf(api.CodeUnavailable, "show session %s: the engine draws no pictures", in.ID)
	}
	r := toolkit.Text(about)
	r.Content = append([]sdk.Content{&sdk.ImageContent{Data: out.Picture, MIMEType: "image/png"}}, r.Content...)
	return r.Of(in.ID), nil
}

type sessionWaitInput struct {
	ID        string `json:"id"`
	Prompt    bool   `json:"prompt,omitempty"`
	Input     bool   `json:"input,omitempty"`
	Output    string `json:"output,omitempty"`
	Screen    string `json:"screen,omitempty"`
	Exit      bool   `json:"exit,omitempty"`
	IdleMS    int    `json:"idle_ms,omitempty"`
	Since     *int64 `json:"since,omitempty"`
	TimeoutMS int    `json:"timeout_ms,omitempty"`
}

// A sessionWaitState says what a wait for a session has come to.
type sessionWaitState struct {
	waitState
	Secret     bool  `json:"secret,omitempty"` // it asks for a password
	NextCursor int64 `json:"next_cursor"`      // since of the next call
}

func sessionWait(ctx context.Context, f *toolkit.Agent, in sessionWaitInput) (toolkit.Result, error) {
	ask := api.SessionWaitInput{ID: in.ID, Prompt: in.Prompt, Input: in.Input, Output: in.Output, Screen: in.Screen,
		Exit: in.Exit, IdleMS: in.IdleMS, Since: in.Since}
	if !in.Prompt && !in.Input && in.Output == "" && in.Screen == "" && !in.Exit && in.IdleMS == 0 {
		ask.Prompt, ask.Input, ask.Exit = true, true, true
	}
	if err := toolkit.CheckPatterns(in.Output, in.Screen); err != nil {
		return toolkit.Result{}, err
	}
	var out api.SessionWaitOutput
	err := toolkit.InTurns(in.TimeoutMS, func(timeoutMS int) (over bool, err error) {
		ask.TimeoutMS = timeoutMS
		out, err = api.SessionWait.Call(ctx, f.Engine, ask)
		ask.Since = &out.NextCursor
		return out.Met != "" || out.Process.State.Ended(), err
	})
	if err != nil {
		return toolkit.Result{}, err
	}
	line := waited(out.Met, out.Text, out.Process)
	if out.Secret {
		line += "\nIt asks for a password: have the person type it."
	}
	state := sessionWaitState{waitState{out.Met, out.Process.ExitCode}, out.Secret, out.NextCursor}
	return toolkit.Text(line).With(state).Of(out.Process.ID), nil
}

type sessionResizeInput struct {
	ID   string `json:"id"`
	Cols int    `json:"cols"`
	Rows int    `json:"rows"`
}

func sessionResize(ctx context.Context, f *toolkit.Agent, in sessionResizeInput) (toolkit.Result, error) {
	_, err := api.SessionResize.Call(ctx, f.Engine, api.SessionResizeInput{ID: in.ID, Cols: in.Cols, Rows: in.Rows})
	return toolkit.Textf("Its size is %dx%d now.", in.Cols, in.Rows).Of(in.ID), err
}

func sessionKill(ctx context.Context, f *toolkit.Agent, in toolkit.IDInput) (toolkit.Result, error) {
	p, err := api.SessionKill.Call(ctx, f.Engine, api.IDInput{ID: in.ID})
	if errors.Is(err, api.CodeEnded) {
		p, err = api.SessionGet.Call(ctx, f.Engine, api.IDInput{ID: in.ID})
	}
	if err != nil {
		return toolkit.Result{}, err
	}
	return toolkit.Text(stateLine(p) + ".").Of(p.ID), nil
}

func sessionsList(ctx context.Context, f *toolkit.Agent, _ struct{}) (toolkit.Result, error) {
	out, err := api.SessionList.Call(ctx, f.Engine, api.Empty{})
	if err != nil {
		return toolkit.Result{}, err
	}
	if len(out.Sessions) == 0 {
		return toolkit.Text("No sessions."), nil
	}
	var lines []string
	for _, p := range out.Sessions {
		lines = append(lines, sessionLine(p))
	}
	return toolkit.Text(strings.Join(lines, "\n")), nil
}
