package api

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// These are operations mainly for agents: running a command in a session's shell, waiting, the
// keyboard lock, the policy and the audit log.
var (
	SessionExec = NewOperation[SessionExecInput, SessionExecOutput]("session.exec",
		"Runs one command line in the shell of a session or of a process started with stdin, or types it into the program reading there, and returns its output.", Destructive,
		Row[SessionExecInput]{Access: Typing, Repeat: RepeatNever, IDs: (*SessionExecInput).ids, Subject: (*SessionExecInput).subject})
	SessionWait = NewOperation[SessionWaitInput, SessionWaitOutput]("session.wait",
		"Waits until a session exits, prints or shows something, falls silent, listens on a port or waits for input.", Read,
		Row[SessionWaitInput]{Access: Unrestricted, IDs: (*SessionWaitInput).ids})
	SessionForeground = NewOperation[IDInput, SessionForegroundOutput]("session.foreground",
		"Reports whether a session's shell is at its prompt, and if not, the program running in it.", Read,
		Row[IDInput]{Access: Unrestricted, IDs: (*IDInput).ids})
	SessionKeyboard = NewOperation[SessionKeyboardInput, Process]("session.keyboard",
		"Blocks agents from typing into a session or changing it, or allows them again.", Write,
		Row[SessionKeyboardInput]{Access: UserOnly, Repeat: RepeatAlways, IDs: (*SessionKeyboardInput).ids})

	ProcessWrite = NewOperation[ProcessWriteInput, Empty]("process.write",
		"Writes to the standard input of a process started with stdin.", Write,
		Row[ProcessWriteInput]{Access: Typing, Repeat: RepeatNever, IDs: (*ProcessWriteInput).ids, Subject: (*ProcessWriteInput).subject})

	PolicyCheck = NewOperation[PolicyCheckInput, Empty]("policy.check",
		"Asks the policy, and the user if the policy requires it, to allow a call before its first operation.", Read,
		Row[PolicyCheckInput]{Access: Bookkeeping, Host: (*PolicyCheckInput).host, Subject: (*PolicyCheckInput).subject})
	PolicyEnd = NewOperation[Empty, Empty]("policy.end",
		"Ends a call: the user's answer to it no longer applies.", Read,
		Row[Empty]{Access: Bookkeeping})
	RequestList = NewOperation[Empty, RequestListOutput]("request.list",
		"Lists the open requests of agents.", Read,
		Row[Empty]{Access: UserOnly})
	RequestAnswer = NewOperation[RequestAnswerInput, Request]("request.answer",
		"Allows or denies an agent's request.", Write,
		Row[RequestAnswerInput]{Access: UserOnly, Repeat: RepeatNever, OtherID: (*RequestAnswerInput).otherID})
	RequestUndo = NewOperation[RequestUndoInput, Request]("request.undo",
		"Takes back a standing answer.", Write,
		Row[RequestUndoInput]{Access: UserOnly, Repeat: RepeatGone, OtherID: (*RequestUndoInput).otherID})
	AuditList = NewOperation[AuditListInput, AuditListOutput]("audit.list",
		"Reads the audit log, newest first.", Read,
		Row[AuditListInput]{Access: UserOnly})
)

// SessionExecInput is the input of session.exec.
type SessionExecInput struct {
	ID        string `json:"id" jsonschema:"id, unique prefix of an id, or name"`
	Command   string `json:"command" jsonschema:"command line, or several lines" audit:"typed"`
	TimeoutMS int    `json:"timeout_ms,omitempty" jsonschema:"milliseconds to wait; default 30000, at most 300000; the command then keeps running in the session"`
	MaxOutput int    `json:"max_output,omitempty" jsonschema:"maximum bytes of output, from its end; default 64 KiB, at most 16 MiB"`
}

// SessionExecOutput is the output of session.exec.
type SessionExecOutput struct {
	Output      string  `json:"output" jsonschema:"output of the command as plain text, without its echo and the prompt"`
	Dropped     int64   `json:"dropped" jsonschema:"number of earlier output bytes, available in the log only"`
	ExitCode    *int    `json:"exit_code" jsonschema:"null if the command is still running or the shell did not report it"`
	DurationMS  float64 `json:"duration_ms" jsonschema:"run time in milliseconds; if the command is still running, the time so far"`
	TimedOut    bool    `json:"timed_out" jsonschema:"the command was still running after the timeout, and keeps running"`
	Waits       string  `json:"waits,omitempty" jsonschema:"what the running program waits for: input, or secret (its echo is off)"`
	Question    string  `json:"question,omitempty" jsonschema:"the line with the question, if \"waits\" is set; not included in \"output\""`
	Alive       bool    `json:"alive" jsonschema:"the session is running"`
	Method      string  `json:"method" jsonschema:"how the end was detected: marks (reported by the shell), marker (a line printed after the command), exit (the session exited), or none"`
	CWD         string  `json:"cwd,omitempty" jsonschema:"the shell's working directory afterwards, if it reports one"`
	Start       int64   `json:"start" jsonschema:"offset in the log at which typing the command began"`
	OutputStart int64   `json:"output_start,omitempty" jsonschema:"offset in the log after the echo of what was typed"`
	NextCursor  int64   `json:"next_cursor" jsonschema:"offset in the log after all output so far, including the next prompt"`
}

func (o *SessionExecOutput) Bulk() []Member {
	return []Member{{Name: "output", Text: &o.Output}}
}

// SessionWaitInput is the input of session.wait. The call returns as soon as one of the given
// conditions is met.
type SessionWaitInput struct {
	ID        string `json:"id" jsonschema:"id, unique prefix of an id, or name"`
	Exit      bool   `json:"exit,omitempty" jsonschema:"wait until the session has exited"`
	Output    string `json:"output,omitempty" jsonschema:"wait until the plain text of its output, from the offset \"since\" on, matches this regular expression"`
	Since     *int64 `json:"since,omitempty" jsonschema:"offset in the log at which the search for \"output\" starts; default: now"`
	Screen    string `json:"screen,omitempty" jsonschema:"wait until the text of its screen matches this regular expression"`
	Input     bool   `json:"input,omitempty" jsonschema:"wait until the program in the foreground waits for typed input"`
	Prompt    bool   `json:"prompt,omitempty" jsonschema:"wait until its shell is at its prompt"`
	Settled   bool   `json:"settled,omitempty" jsonschema:"wait until the last input appears to have taken effect: a program waits for input again and prints nothing"`
	Port      int    `json:"port,omitempty" jsonschema:"wait until its program, or a process started by it, listens on this TCP port"`
	IdleMS    int    `json:"idle_ms,omitempty" jsonschema:"wait until it has printed nothing for this many milliseconds"`
	TimeoutMS int    `json:"timeout_ms,omitempty" jsonschema:"milliseconds to wait; default and maximum 50000 per call"`
}

// SessionWaitOutput is the output of session.wait.
type SessionWaitOutput struct {
	Met        string  `json:"met" jsonschema:"the condition met: exit, output, screen, input, prompt, settled, port or idle; empty after the timeout"`
	Text       string  `json:"text,omitempty" jsonschema:"the text that matched \"output\" or \"screen\""`
	Secret     bool    `json:"secret,omitempty" jsonschema:"echo is off, so the input waited for is probably a password"`
	NextCursor int64   `json:"next_cursor" jsonschema:"pass this as \"since\" in the next call"`
	PortHolder string  `json:"port_holder,omitempty" jsonschema:"the program that used the port when the wait for it failed"`
	Process    Process `json:"process" jsonschema:"the session after the wait"`
}

// SessionForegroundOutput is the output of session.foreground.
type SessionForegroundOutput struct {
	Prompt  bool   `json:"prompt" jsonschema:"a shell waits for a command line"`
	Program string `json:"program,omitempty" jsonschema:"if no shell waits: the program in the foreground, if known"`
}

// SessionKeyboardInput is the input of session.keyboard.
type SessionKeyboardInput struct {
	ID   string `json:"id" jsonschema:"id, unique prefix of an id, or name"`
	Take bool   `json:"take" jsonschema:"true: agents can only read the session and wait for it, their other calls fail with locked_by_user; false: agents may type into it and change it again"`
	Open bool   `json:"open,omitempty" jsonschema:"let sandboxed agents type into it although it runs outside their sandbox"`
}

// ProcessWriteInput is the input of process.write.
type ProcessWriteInput struct {
	ID   string `json:"id" jsonschema:"id, unique prefix of an id, or name"`
	Text string `json:"text" jsonschema:"text to write unchanged" audit:"typed"`
}

// A Lease decides what happens to an agent's sessions and processes after the agent has
// disconnected.
type Lease string

const (
	LeaseDetached Lease = "detached" // keeps running, listed as left behind; the user's policy may stop it later
	LeaseSession  Lease = "session"  // is stopped
	LeaseForever  Lease = "forever"  // keeps running regardless of the policy
)

// Ownership names the agent that started a Process.
type Ownership struct {
	Client string     `json:"client" jsonschema:"id of the client that started the session or process"`
	Lease  Lease      `json:"lease" jsonschema:"what happens to it after the client has disconnected: detached, session or forever"`
	Left   bool       `json:"left" jsonschema:"true after this client has disconnected"`
	Since  *time.Time `json:"since,omitempty" jsonschema:"when the client disconnected"`
}

// A Request is an agent's question to the user: may it make this call?
type Request struct {
	ID        string     `json:"id" jsonschema:"id of the request"`
	Actor     string     `json:"actor" jsonschema:"the agent's own name and version"`
	Agent     string     `json:"agent,omitempty" jsonschema:"the user's name for the agent: the name of its token, or the one given with --as"`
	Tool      string     `json:"tool" jsonschema:"the tool to call"`
	Host      string     `json:"host,omitempty" jsonschema:"the target machine, if not this one"`
	From      string     `json:"from,omitempty" jsonschema:"the machine it comes from, as user@host, if not this one"`
	Command   string     `json:"command,omitempty" jsonschema:"the command to run"`
	Paths     []string   `json:"paths,omitempty" jsonschema:"paths to read or write"`
	Session   string     `json:"session,omitempty" jsonschema:"session or process concerned, as NAME (ID)"`
	CWD       string     `json:"cwd,omitempty" jsonschema:"folder to run in"`
	Rule      string     `json:"rule,omitempty" jsonschema:"the policy rule that requires asking the user"`
	AskedAt   time.Time  `json:"asked_at" jsonschema:"time of the request"`
	ExpiresAt time.Time  `json:"expires_at" jsonschema:"when the request is denied unless it is answered"`
	Answer    string     `json:"answer,omitempty" jsonschema:"allow, deny or expired; empty while it is open"`
	By        string     `json:"by,omitempty" jsonschema:"who answered"`
	At        *time.Time `json:"at,omitempty" jsonschema:"when it was answered"`
	Always    bool       `json:"always,omitempty" jsonschema:"the answer applies to every such call of this agent until the engine stops"`

	Shown *RequestText `json:"shown,omitempty" jsonschema:"its full text for display, with invisible characters escaped"`
}

// RequestText is the text of a Request as the user sees it.
type RequestText struct {
	Asker   string   `json:"asker" jsonschema:"the agent: the user's name for it, or its own"`
	Tool    string   `json:"tool" jsonschema:"the tool to call"`
	Host    string   `json:"host,omitempty" jsonschema:"the target machine, if not this one"`
	From    string   `json:"from,omitempty" jsonschema:"the machine it comes from, if not this one"`
	Command string   `json:"command,omitempty" jsonschema:"the command to run, possibly several lines"`
	Paths   []string `json:"paths,omitempty" jsonschema:"paths to read or write"`
	Session string   `json:"session,omitempty" jsonschema:"session or process concerned"`
	CWD     string   `json:"cwd,omitempty" jsonschema:"folder to run in"`
	Rule    string   `json:"rule,omitempty" jsonschema:"the policy rule that requires asking the user"`
}

// Text returns the request's text for display. spell escapes invisible characters in a line, and
// spellLines in several lines. Engines of release 0.2.0 send only the request. A text from the
// engine of another machine is not trusted to be escaped already.
func (r Request) Text(spell, spellLines func(string) string) RequestText {
	t := RequestText{
		Asker: cmp.Or(r.Agent, strings.TrimPrefix(r.Actor, "agent:")), Tool: r.Tool, Host: r.Host, From: r.From,
		Command: r.Command, Paths: r.Paths, Session: r.Session, CWD: r.CWD, Rule: r.Rule,
	}
	if r.Shown != nil {
		t = *r.Shown
	}
	// Escape even Shown, which may come from another machine. Clone first, so the paths in r stay
	// unchanged.
	t.Paths, t.Command = slices.Clone(t.Paths), spellLines(t.Command)
	for i := range t.Paths {
		t.Paths[i] = spell(t.Paths[i])
	}
	for _, text := range []*string{&t.Asker, &t.Tool, &t.Host, &t.From, &t.Session, &t.CWD, &t.Rule} {
		*text = spell(*text)
	}
	return t
}

// RequestListOutput is the output of request.list. Each list begins with the oldest request.
type RequestListOutput struct {
	Requests []Request `json:"requests" jsonschema:"the open requests"`
	Answered []Request `json:"answered,omitempty" jsonschema:"requests answered with \"always\": true, so that the answer applies to later calls too"`
}

// RequestUndoInput is the input of request.undo.
type RequestUndoInput struct {
	ID string `json:"id" jsonschema:"id of the request, or the beginning of it"`
}

// RequestAnswerInput is the input of request.answer.
type RequestAnswerInput struct {
	ID     string `json:"id" jsonschema:"id of the request"`
	Allow  bool   `json:"allow" jsonschema:"true to allow it, false to deny it"`
	Always bool   `json:"always,omitempty" jsonschema:"repeat this answer to the same call of this agent until the engine stops"`
	Reason string `json:"reason,omitempty" jsonschema:"reason to pass on to the agent"`
}

// An AuditEntry is one line of the audit log.
type AuditEntry struct {
	Time       time.Time      `json:"time" jsonschema:"when the call began; in lines written by releases up to 0.2.0, when it ended"`
	ID         string         `json:"id,omitempty" jsonschema:"id shared by the two lines of an operation that changes something: one written before it runs, one after it"`
	Call       string         `json:"call,omitempty" jsonschema:"id of the tool call, which may consist of several operations"`
	Actor      string         `json:"actor" jsonschema:"agent:NAME/VERSION"`
	Agent      string         `json:"agent,omitempty" jsonschema:"the user's name for the agent: the name of its token, or the one given with --as"`
	Client     string         `json:"client,omitempty" jsonschema:"id of the client"`
	From       string         `json:"from,omitempty" jsonschema:"the machine it came from, as user@host, if not this one"`
	Host       string         `json:"host,omitempty" jsonschema:"the machine on which it was done, if not this one"`
	Tool       string         `json:"tool" jsonschema:"the tool called"`
	Operation  string         `json:"operation,omitempty" jsonschema:"operation that the arguments belong to; if the call used several, the first that changes something, or else the first"`
	Arguments  map[string]any `json:"arguments,omitempty" jsonschema:"its arguments; secrets and long texts are replaced"`
	Outcome    string         `json:"outcome" jsonschema:"ok, error, denied, cancelled, or started (still running, or the engine was killed meanwhile)"`
	Error      string         `json:"error,omitempty" jsonschema:"why it failed"`
	DurationMS float64        `json:"duration_ms" jsonschema:"duration of the call in milliseconds"`
	Process    string         `json:"process,omitempty" jsonschema:"id of the session or process started or affected"`
}

// The outcomes of an operation.
const (
	OutcomeStarted   = "started" // still running, or the engine was killed meanwhile
	OutcomeOK        = "ok"
	OutcomeFailed    = "error"
	OutcomeDenied    = "denied"
	OutcomeCancelled = "cancelled"
)

// OutcomeOf returns the outcome of an operation that has returned err.
func OutcomeOf(err error) string {
	switch {
	case err == nil:
		return OutcomeOK
	case errors.Is(err, CodeForbidden):
		return OutcomeDenied
	case errors.Is(err, context.Canceled):
		return OutcomeCancelled
	}
	return OutcomeFailed
}

// AuditListInput is the input of audit.list.
type AuditListInput struct {
	Actor string `json:"actor,omitempty" jsonschema:"only entries of this actor"`
	Tool  string `json:"tool,omitempty" jsonschema:"only entries of this tool"`
	Limit int    `json:"limit,omitempty" jsonschema:"maximum number of entries; default 100"`

	Operations bool `json:"operations,omitempty" jsonschema:"list every operation instead of one entry per call"`
}

// AuditListOutput is the output of audit.list.
type AuditListOutput struct {
	Entries []AuditEntry `json:"entries" jsonschema:"newest first"`
}
