package native

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

// nativeSessionTools returns the tools for terminals visible to the user.
func nativeSessionTools() []toolkit.Tool {
	only := []toolkit.Profile{toolkit.Native}
	return []toolkit.Tool{
		toolkit.Define[sessionStartInput, toolkit.StartedResult](toolkit.Tool{Name: "session_start", Effect: api.Write, Profiles: only,
			Doc: "Start a shell or a program in a terminal."}, startSession),
		toolkit.Define[sessionExecInput, execState](toolkit.Tool{Name: "session_exec", Effect: api.Destructive, Profiles: only, Large: true,
			Doc: "Run a line in a session's shell or REPL. After the timeout it continues: session_wait."}, execInSession),
		toolkit.Define[sessionWriteInput, writeState](toolkit.Tool{Name: "session_write", Effect: api.Destructive, Profiles: only,
			Doc: "Type into a session, in order: text, paste, keys (ctrl+c, up, esc), enter (if true)."}, writeToSession),
		toolkit.Define[sessionReadInput, sessionReadState](toolkit.Tool{Name: "session_read", Effect: api.Read, Profiles: only, Large: true,
			Doc: "What a session printed that you have not seen, or since."}, readSession),
		toolkit.Define[sessionScreenInput, toolkit.None](toolkit.Tool{Name: "session_screen", Effect: api.Read, Profiles: only,
			Doc: "A session's screen now."}, readScreen),
		toolkit.Define[sessionWaitInput, sessionWaitState](toolkit.Tool{Name: "session_wait", Effect: api.Read, Profiles: only,
			Doc: "Wait until a given condition holds (default: prompt, input or exit); returns new output."}, waitForSession),
		toolkit.Define[sessionResizeInput, toolkit.None](toolkit.Tool{Name: "session_resize", Effect: api.Write, Profiles: only,
			Doc: "Set a session's size in cells."}, resizeSession),
		toolkit.Define[toolkit.IDInput, toolkit.None](toolkit.Tool{Name: "session_kill", Effect: api.Destructive, Profiles: only,
			Doc: "Kill a session and all in it."}, killSession),
		toolkit.Define[listInput, toolkit.None](toolkit.Tool{Name: "session_list", Effect: api.Read, Profiles: only,
			Doc: "List terminal sessions, the user's included."}, listSessions),
	}
}

type sessionStartInput struct {
	Command string      `json:"command,omitempty"`
	Name    string      `json:"name,omitempty"`
	CWD     string      `json:"cwd,omitempty"`
	Env     toolkit.Env `json:"env,omitempty"`
	Lease   string      `json:"lease,omitempty" schema:"-"`
}

func (in sessionStartInput) Subject(f *toolkit.Agent) toolkit.Subject {
	return toolkit.Subject{Command: in.Command, CWD: f.Folder(in.CWD), Env: in.Env}
}

func startSession(ctx context.Context, f *toolkit.Agent, in sessionStartInput) (toolkit.Result, error) {
	if err := toolkit.CheckLine("start session", cmp.Or(in.Command, "sh"), in.Env); err != nil {
		return toolkit.Result{}, err
	}
	p, err := f.StartSession(ctx, api.SessionStartInput{
		Command: toolkit.Argv(in.Command), Name: in.Name, CWD: f.Folder(in.CWD), Env: in.Env, Lease: api.Lease(in.Lease),
	})
	if err != nil {
		return toolkit.Result{}, f.StartError(in.CWD, err)
	}
	started := toolkit.StartedResult{ID: p.ID, Name: p.Name}
	if in.Command == "" {
		return toolkit.Text(started.String()).WithSameFacts(started).ForProcess(p.ID), nil
	}
	// Everything it prints is new to the agent.
	f.Seen.Set(p.ID, toolkit.Cursor{})
	first, waits, _, err := awaitEffect(ctx, f, p.ID, startWaitMS)
	if err != nil {
		return toolkit.Result{}, err
	}
	if started.Waits = waits; first != "" {
		first = "\n" + first
	}
	return toolkit.Text(started.String() + first).WithFacts(started).ForProcess(p.ID), nil
}

// maxExecRead is how much output is read to return its head and tail.
const maxExecRead = 256 << 10

type sessionExecInput struct {
	ID        string `json:"id"`
	Command   string `json:"command"`
	TimeoutMS int    `json:"timeout_ms,omitempty" default:"30000" max:"300000"`
	MaxOutput int    `json:"max_output,omitempty" default:"8000"`
}

func (in sessionExecInput) Subject(*toolkit.Agent) toolkit.Subject {
	return toolkit.Subject{Command: in.Command, Session: in.ID}
}

// An execState is the outcome of a command in a session.
type execState struct {
	ExitCode   *int   `json:"exit_code,omitempty"`
	DurationMS int64  `json:"duration_ms"`
	TimedOut   bool   `json:"timed_out,omitempty"`
	Method     string `json:"method,omitempty"` // how the end was recognized: marks, marker or exit
	Waits      string `json:"waits,omitempty"`  // input or secret
	Question   string `json:"question,omitempty"`
	CWD        string `json:"cwd,omitempty"`
	NextCursor int64  `json:"next_cursor"`

	alive, moved bool // moved: CWD differs from that of the agent's previous command
}

// Unsaid implements toolkit.Brief.
func (s execState) Unsaid() any {
	var moved struct {
		CWD string `json:"cwd,omitempty"`
	}
	if s.moved {
		moved.CWD = s.CWD
	}
	return moved
}

func execInSession(ctx context.Context, f *toolkit.Agent, in sessionExecInput) (toolkit.Result, error) {
	limit, err := outputLimit(cmp.Or(in.MaxOutput, toolkit.MaxOutput))
	if err != nil {
		return toolkit.Result{}, err
	}
	id, err := f.FullID(ctx, in.ID, api.SessionGet)
	if err != nil {
		return toolkit.Result{}, err
	}
	// Read earlier output first, so that it is not taken for this command's.
	unseen, err := unseenLines(ctx, f, id, limit)
	if err != nil {
		return toolkit.Result{}, err
	}
	out, err := api.SessionExec.Call(ctx, f.Engine,
		api.SessionExecInput{ID: id, Command: in.Command, TimeoutMS: in.TimeoutMS, MaxOutput: max(cmp.Or(in.MaxOutput, maxExecRead)-len(unseen), 1)})
	if err != nil {
		return toolkit.Result{}, err
	}
	if in.MaxOutput == 0 {
		shortenOutput(&out)
	}
	unseen += skipNote(out.Dropped, out.Start)
	state := execState{ExitCode: out.ExitCode, DurationMS: int64(math.Round(out.DurationMS)), TimedOut: out.TimedOut,
		Method: out.Method, Waits: out.Waits, Question: out.Question, CWD: out.CWD, NextCursor: out.NextCursor, alive: out.Alive}
	if state.Method == "none" {
		state.Method = ""
	}
	state.moved = f.Seen.SwapFolder(id, out.CWD) != out.CWD
	f.Seen.Set(id, toolkit.Cursor{At: out.NextCursor})
	if state.isPlain() {
		return toolkit.Text(cmp.Or(unseen+out.Output, "[exit code 0]")).ForProcess(id), nil
	}
	r := toolkit.Text(unseen + out.Output)
	if out.Waits != "" && out.Question == "" {
		screen, err := fullScreenChanges(ctx, f, id)
		if err != nil {
			return toolkit.Result{}, err
		}
		r = toolkit.Text(unseen + out.Output + screen)
	}
	r.Content = append(r.Content, &sdk.TextContent{Text: state.statusLine()})
	return r.WithFacts(state).ForProcess(id), nil
}

// shortenOutput keeps the head and tail of a long output, or only the tail if the head is missing.
func shortenOutput(out *api.SessionExecOutput) {
	how := fmt.Sprintf("session_read since=%d gives them", out.Start)
	if cut := len(out.Output) - maxNewOutput; out.Dropped > 0 && cut > 0 {
		out.Dropped += int64(cut)
		out.Output = strings.ToValidUTF8(out.Output[cut:], "")
	}
	out.Output = toolkit.KeepEnds(out.Output, how)
}

// unseenLines returns the lines printed since this agent last looked, such as the rest of an
// earlier command. The last, unfinished line is left out: it is the prompt.
func unseenLines(ctx context.Context, f *toolkit.Agent, id string, limit int) (string, error) {
	seen, known := f.Seen.At(id)
	if !known {
		return "", nil
	}
	out, err := api.SessionRead.Call(ctx, f.Engine, api.SessionReadInput{ID: id, Since: seen.At, Max: limit, Plain: true})
	text := out.Data[:strings.LastIndexByte(out.Data, '\n')+1]
	if err != nil || strings.TrimSpace(text) == "" {
		return "", err
	}
	text = toolkit.HeadAndTail(text, limit/4, fmt.Sprintf("session_read since=%d gives them", seen.At))
	return text + "[the lines above came before this command]\n", nil
}

// isPlain reports whether a command succeeded, so that its output says everything.
func (s execState) isPlain() bool {
	return s.ExitCode != nil && *s.ExitCode == 0 && !s.TimedOut && s.Waits == "" && s.alive
}

// statusLine describes the outcome in one line.
func (s execState) statusLine() string {
	switch {
	case s.Waits != "":
		return waitsLine(s.Waits, s.Question)
	case s.TimedOut:
		return fmt.Sprintf("[still running after %.1f s; session_wait for prompt, session_read since %d]", float64(s.DurationMS)/1000, s.NextCursor)
	case s.ExitCode != nil:
		text := fmt.Sprintf("[exit code %d", *s.ExitCode)
		if s.DurationMS >= 1000 {
			text += fmt.Sprintf(", %.1f s", float64(s.DurationMS)/1000)
		}
		if !s.alive {
			text += "; the session exited"
		}
		return text + "]"
	case !s.alive:
		return "[the session exited]"
	}
	return "[exit code unknown]"
}

// waitsLine names the input a program waits for, and its question.
func waitsLine(waits, question string) string {
	if question == "" {
		return "[waits for " + waits + "]"
	}
	return "[waits for " + waits + ": " + toolkit.PlainText(question) + "]"
}

type sessionReadInput struct {
	ID        string          `json:"id"`
	Since     *toolkit.Cursor `json:"since,omitempty"`
	WaitMS    int             `json:"wait_ms,omitempty" schema:"-"`
	MaxOutput int             `json:"max_output,omitempty"`
}

func readSession(ctx context.Context, f *toolkit.Agent, in sessionReadInput) (toolkit.Result, error) {
	limit, err := outputLimit(in.MaxOutput)
	if err != nil {
		return toolkit.Result{}, err
	}
	p, err := api.SessionGet.Call(ctx, f.Engine, api.IDInput{ID: in.ID})
	if err != nil {
		return toolkit.Result{}, err
	}
	got, err := f.ReadOutput(ctx, p.ID, toolkit.OutputQuery{Since: in.Since, WaitMS: in.WaitMS, Max: limit})
	if err != nil {
		return toolkit.Result{}, err
	}
	text := got.Text
	if text == "" {
		text = got.Status()
		if p.Terminal != nil && p.Terminal.Waiting != "" && !got.Process.State.Ended() {
			text = "[nothing new, waits for " + waitTarget(p.Terminal.Waiting) + "]"
		}
	}
	if got.Text == "" && in.WaitMS == 0 && !p.State.Ended() {
		text += countEmptyPoll(f, p.ID, "session_wait")
	}
	return toolkit.Text(text).WithFacts(sessionReadState{got.Next.At, got.End, got.Dropped}).ForProcess(p.ID), nil
}

// A sessionReadState is the position in a session's log after a read.
type sessionReadState struct {
	NextCursor int64 `json:"next_cursor"`       // the value to pass as since in the next call
	End        int64 `json:"end"`               // length of the log
	Dropped    int64 `json:"dropped,omitempty"` // requested bytes no longer in the log
}

// Unsaid implements toolkit.Brief. It leaves the position out, because the next read continues
// there by itself.
func (s sessionReadState) Unsaid() any {
	return struct {
		Dropped int64 `json:"dropped,omitempty"`
	}{s.Dropped}
}

type sessionWaitInput struct {
	ID        string          `json:"id"`
	Prompt    bool            `json:"prompt,omitempty"`
	Input     bool            `json:"input,omitempty"`
	Output    string          `json:"output,omitempty"`
	Screen    string          `json:"screen,omitempty"`
	Exit      bool            `json:"exit,omitempty"`
	IdleMS    int             `json:"idle_ms,omitempty"`
	Since     *toolkit.Cursor `json:"since,omitempty" schema:"-"`
	TimeoutMS int             `json:"timeout_ms,omitempty"`
}

// A sessionWaitState is the outcome of a wait for a session.
type sessionWaitState struct {
	waitState
	Secret     bool  `json:"secret,omitempty"` // the program asks for a password
	NextCursor int64 `json:"next_cursor"`      // the value to pass as since in the next call
}

func waitForSession(ctx context.Context, f *toolkit.Agent, in sessionWaitInput) (toolkit.Result, error) {
	ask := api.SessionWaitInput{ID: in.ID, Prompt: in.Prompt, Input: in.Input, Output: in.Output, Screen: in.Screen,
		Exit: in.Exit, IdleMS: in.IdleMS}
	if in.Since != nil {
		ask.Since = &in.Since.At
	}
	if !in.Prompt && !in.Input && in.Output == "" && in.Screen == "" && !in.Exit && in.IdleMS == 0 {
		ask.Prompt, ask.Input, ask.Exit = true, true, true
	}
	if err := toolkit.CheckPatterns(in.Output, in.Screen); err != nil {
		return toolkit.Result{}, err
	}
	id, err := f.FullID(ctx, in.ID, api.SessionGet)
	if err != nil {
		return toolkit.Result{}, err
	}
	seen, err := unseenStart(ctx, f, id)
	if err != nil {
		return toolkit.Result{}, err
	}
	if ask.Since == nil {
		ask.Since = &seen.At
	}
	out, err := toolkit.WaitInTurns(in.TimeoutMS, func(turnMS int) (api.SessionWaitOutput, bool, error) {
		ask.TimeoutMS = turnMS
		out, err := api.SessionWait.Call(ctx, f.Engine, ask)
		// Output before this position has been checked already.
		ask.Since = &out.NextCursor
		return out, out.Met != "" || out.Process.State.Ended(), err
	})
	if err != nil {
		return toolkit.Result{}, err
	}
	printed, err := readNewOutput(ctx, f, out.Process.ID)
	if err != nil {
		return toolkit.Result{}, err
	}
	line := waitOutcome(out.Met, out.Process) + quoteMatch(out.Text, printed)
	if out.Secret {
		line += "\nIt asks for a password: have the user type it."
	}
	if printed != "" {
		line += "\n" + printed
	}
	state := sessionWaitState{waitState{out.Met, out.Process.ExitCode}, out.Secret, out.NextCursor}
	return toolkit.Text(line).WithFacts(state).ForProcess(out.Process.ID), nil
}

type sessionResizeInput struct {
	ID   string `json:"id"`
	Cols int    `json:"cols"`
	Rows int    `json:"rows"`
}

func resizeSession(ctx context.Context, f *toolkit.Agent, in sessionResizeInput) (toolkit.Result, error) {
	_, err := api.SessionResize.Call(ctx, f.Engine, api.SessionResizeInput{ID: in.ID, Cols: in.Cols, Rows: in.Rows})
	return toolkit.Textf("Its size is %dx%d now.", in.Cols, in.Rows).ForProcess(in.ID), err
}

func killSession(ctx context.Context, f *toolkit.Agent, in toolkit.IDInput) (toolkit.Result, error) {
	p, err := api.SessionKill.Call(ctx, f.Engine, api.IDInput{ID: in.ID})
	if errors.Is(err, api.CodeEnded) {
		p, err = api.SessionGet.Call(ctx, f.Engine, api.IDInput{ID: in.ID})
	}
	if err != nil {
		return toolkit.Result{}, err
	}
	return toolkit.Text(stateLine(p)).ForProcess(p.ID), nil
}
