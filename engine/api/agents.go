package api

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// The operations that agents need beyond those of a person: running a command
// in a live shell, waiting, the keyboard, and what an agent may do.
var (
	SessionExec = NewOperation[SessionExecInput, SessionExecOutput]("session.exec",
		"Runs one command line in a session's shell, or gives it to the program that reads there, and tells its output.", Destructive)
	SessionWait = NewOperation[SessionWaitInput, SessionWaitOutput]("session.wait",
		"Waits until a session has ended, prints or shows something, falls silent, listens or waits for input.", Read)
	SessionForeground = NewOperation[IDInput, SessionForegroundOutput]("session.foreground",
		"Tells whether a session's shell waits at its prompt, and if not, what runs there.", Read)
	SessionKeyboard = NewOperation[SessionKeyboardInput, Process]("session.keyboard",
		"Takes a session's keyboard away from agents, or gives it back.", Write)

	ProcessWrite = NewOperation[ProcessWriteInput, Empty]("process.write",
		"Writes to the standard input of a process that was started with stdin.", Write)

	PolicyCheck = NewOperation[PolicyCheckInput, PolicyCheckOutput]("policy.check",
		"Says whether an agent may do something, after asking the user where the policy says so.", Read)
	RequestList = NewOperation[Empty, RequestListOutput]("request.list",
		"Lists what agents wait to be allowed.", Read)
	RequestAnswer = NewOperation[RequestAnswerInput, Request]("request.answer",
		"Allows or refuses what an agent asks for.", Write)
	AuditAdd = NewOperation[AuditAddInput, Empty]("audit.add",
		"Adds what an agent did to the audit log.", Write)
	AuditList = NewOperation[AuditListInput, AuditListOutput]("audit.list",
		"Reads the audit log, newest first.", Read)
)

// SessionExecInput is the input of session.exec.
type SessionExecInput struct {
	ID        string `json:"id" jsonschema:"id or name, or the beginning of one that no other has"`
	Command   string `json:"command" jsonschema:"command line, or several lines"`
	TimeoutMS int    `json:"timeout_ms,omitempty" jsonschema:"default 30000, at most 300000; after it the command goes on in the session"`
	MaxOutput int    `json:"max_output,omitempty" jsonschema:"bytes of output kept, its end; default 64 KiB, at most 16 MiB"`
}

// SessionExecOutput is the output of session.exec.
type SessionExecOutput struct {
	Output     string  `json:"output" jsonschema:"what the command printed, as plain text, without its echo and the prompt"`
	Dropped    int64   `json:"dropped" jsonschema:"bytes of output before it that are in the log only"`
	ExitCode   *int    `json:"exit_code" jsonschema:"null when it has not ended or the shell did not say"`
	DurationMS float64 `json:"duration_ms" jsonschema:"how long it ran, or has run"`
	TimedOut   bool    `json:"timed_out" jsonschema:"it had not ended in time, and goes on"`
	Waits      string  `json:"waits,omitempty" jsonschema:"input or secret: the program is still running and waits for input"`
	Question   string  `json:"question,omitempty" jsonschema:"with waits: the line it asks with, which output is without"`
	Alive      bool    `json:"alive" jsonschema:"the session has not ended"`
	Method     string  `json:"method" jsonschema:"how the end was known: marks (the shell said so), marker (a line printed behind the command), exit (the session ended), or none"`
	CWD        string  `json:"cwd,omitempty" jsonschema:"the shell's folder afterwards, where it tells"`
	Start      int64   `json:"start" jsonschema:"offset in the log where typing the command began"`
	NextCursor int64   `json:"next_cursor" jsonschema:"offset in the log behind all that was printed so far, the next prompt included"`
}

func (o *SessionExecOutput) Bulk() []Member {
	return []Member{{Name: "output", Text: &o.Output}}
}

// SessionWaitInput is the input of session.wait: the call answers as soon as
// one of the conditions that are set holds.
type SessionWaitInput struct {
	ID        string `json:"id" jsonschema:"id or name, or the beginning of one that no other has"`
	Exit      bool   `json:"exit,omitempty" jsonschema:"it has ended"`
	Output    string `json:"output,omitempty" jsonschema:"what it prints from since on, as plain text, matches this regular expression"`
	Since     *int64 `json:"since,omitempty" jsonschema:"offset in the log where looking for output begins; default: what is printed from now on"`
	Screen    string `json:"screen,omitempty" jsonschema:"the text of its screen matches this regular expression"`
	Input     bool   `json:"input,omitempty" jsonschema:"the program in the foreground waits for somebody to type"`
	Prompt    bool   `json:"prompt,omitempty" jsonschema:"its shell is at its prompt"`
	Settled   bool   `json:"settled,omitempty" jsonschema:"the last input has taken effect, as far as can be seen: a program waits for input again and prints nothing"`
	Port      int    `json:"port,omitempty" jsonschema:"TCP port that its program, or a process that it started, must listen on"`
	IdleMS    int    `json:"idle_ms,omitempty" jsonschema:"it has printed nothing for this long"`
	TimeoutMS int    `json:"timeout_ms,omitempty" jsonschema:"default and at most 50000 for one call"`
}

// SessionWaitOutput is the output of session.wait.
type SessionWaitOutput struct {
	Met        string  `json:"met" jsonschema:"the condition that holds: exit, output, screen, input, prompt, settled, port or idle; empty after the time-out"`
	Text       string  `json:"text,omitempty" jsonschema:"what matched output or screen"`
	Secret     bool    `json:"secret,omitempty" jsonschema:"with input: it does not echo, so it wants a password"`
	NextCursor int64   `json:"next_cursor" jsonschema:"since of the next call"`
	PortHolder string  `json:"port_holder,omitempty" jsonschema:"program that held the port when the wait for it failed"`
	Process    Process `json:"process" jsonschema:"the session now"`
}

// SessionForegroundOutput is the output of session.foreground.
type SessionForegroundOutput struct {
	Prompt  bool   `json:"prompt" jsonschema:"a shell waits there for a command line"`
	Program string `json:"program,omitempty" jsonschema:"what has the terminal otherwise, as far as that can be told"`
}

// SessionKeyboardInput is the input of session.keyboard.
type SessionKeyboardInput struct {
	ID   string `json:"id" jsonschema:"id or name, or the beginning of one that no other has"`
	Take bool   `json:"take" jsonschema:"true: agents can only read it and wait for it, all else is refused with locked_by_user; false: everybody may type into it and change it"`
	Open bool   `json:"open,omitempty" jsonschema:"let agents type into it that are held to a sandbox, though it runs outside"`
}

// ProcessWriteInput is the input of process.write.
type ProcessWriteInput struct {
	ID   string `json:"id" jsonschema:"id or name, or the beginning of one that no other has"`
	Text string `json:"text" jsonschema:"written as it is"`
}

// A Lease says what becomes of what an agent started when the agent has gone.
type Lease string

const (
	LeaseDetached Lease = "detached" // it goes on, listed as left behind; the person's policy may end it after a while
	LeaseSession  Lease = "session"  // it is ended
	LeaseForever  Lease = "forever"  // it goes on whatever the policy says
)

// Ownership is the part of a Process that an agent's have: whose it is.
type Ownership struct {
	Client string     `json:"client" jsonschema:"id of the client that started it"`
	Lease  Lease      `json:"lease" jsonschema:"detached, session or forever"`
	Left   bool       `json:"left" jsonschema:"that client has gone"`
	Since  *time.Time `json:"since,omitempty" jsonschema:"when it went"`
}

// PolicyCheckInput is the input of policy.check.
type PolicyCheckInput struct {
	Tool    string   `json:"tool" jsonschema:"the tool's name, without prefix"`
	Actor   string   `json:"actor" jsonschema:"agent:NAME/VERSION"`
	Command string   `json:"command,omitempty" jsonschema:"what it runs, as a line for a shell"`
	Argv    []string `json:"argv,omitempty" jsonschema:"what it runs, without a shell"`
	Paths   []string `json:"paths,omitempty" jsonschema:"absolute paths that it reads or writes"`
	Write   bool     `json:"write,omitempty" jsonschema:"it changes something"`
	CWD     string   `json:"cwd,omitempty" jsonschema:"folder it runs in"`
	Session string   `json:"session,omitempty" jsonschema:"session or process that it is about; where a command is typed into it and cwd is not given its folder counts"`
	Host    string   `json:"host,omitempty" jsonschema:"the machine that it is to be done on, if that is another one"`
	NoAsk   bool     `json:"no_ask,omitempty" jsonschema:"answer ask at once, as the client asks the user itself"`
}

// PolicyCheckOutput is the output of policy.check.
type PolicyCheckOutput struct {
	Decision string `json:"decision" jsonschema:"allow, deny, or with no_ask ask"`
	Reason   string `json:"reason,omitempty" jsonschema:"the rule, or what the user said"`
	Hint     string `json:"hint,omitempty" jsonschema:"what the agent can do instead"`
}

// A Request is an agent's question whether it may do something.
type Request struct {
	ID        string     `json:"id" jsonschema:"of the request"`
	Actor     string     `json:"actor" jsonschema:"who asks, as it says itself"`
	Agent     string     `json:"agent,omitempty" jsonschema:"the name that the user has given it: its token's, or that of --as"`
	Tool      string     `json:"tool" jsonschema:"what it wants to call"`
	Host      string     `json:"host,omitempty" jsonschema:"on which machine, if that is another one"`
	From      string     `json:"from,omitempty" jsonschema:"the machine that it comes from, as user@host, if that is another one"`
	Command   string     `json:"command,omitempty" jsonschema:"what would run"`
	Paths     []string   `json:"paths,omitempty" jsonschema:"what would be read or written"`
	Session   string     `json:"session,omitempty" jsonschema:"session or process that it is about, as NAME (ID)"`
	CWD       string     `json:"cwd,omitempty" jsonschema:"folder it would run in"`
	Rule      string     `json:"rule,omitempty" jsonschema:"the rule that asks"`
	AskedAt   time.Time  `json:"asked_at" jsonschema:"when"`
	ExpiresAt time.Time  `json:"expires_at" jsonschema:"refused if nobody has answered by then"`
	Answer    string     `json:"answer,omitempty" jsonschema:"allow, deny or expired; empty while it is open"`
	By        string     `json:"by,omitempty" jsonschema:"who answered"`
	At        *time.Time `json:"at,omitempty" jsonschema:"when it was answered"`

	Shown *RequestText `json:"shown,omitempty" jsonschema:"what to show of it: all of it, with every character that does not show spelled out"`
}

// RequestText is what the user reads of a request before they allow it.
type RequestText struct {
	Asker   string   `json:"asker" jsonschema:"who asks: the name that the user gave it, or what it says itself"`
	Tool    string   `json:"tool" jsonschema:"what it wants to call"`
	Host    string   `json:"host,omitempty" jsonschema:"on which machine, if that is another one"`
	From    string   `json:"from,omitempty" jsonschema:"the machine that it comes from, if that is another one"`
	Command string   `json:"command,omitempty" jsonschema:"what would run, in lines"`
	Paths   []string `json:"paths,omitempty" jsonschema:"what would be read or written"`
	Session string   `json:"session,omitempty" jsonschema:"session or process that it is about"`
	CWD     string   `json:"cwd,omitempty" jsonschema:"folder it would run in"`
	Rule    string   `json:"rule,omitempty" jsonschema:"the rule that asks"`
}

// Text returns the request's text for display. spell and, for text of several lines, spellLines
// escape invisible characters: release 0.2.0 engines send only the request, and text from another
// machine's engine is not trusted to be escaped already.
func (r Request) Text(spell, spellLines func(string) string) RequestText {
	t := RequestText{
		Asker: cmp.Or(r.Agent, strings.TrimPrefix(r.Actor, "agent:")), Tool: r.Tool, Host: r.Host, From: r.From,
		Command: r.Command, Paths: r.Paths, Session: r.Session, CWD: r.CWD, Rule: r.Rule,
	}
	if r.Shown != nil {
		t = *r.Shown
	}
	t.Paths, t.Command = slices.Clone(t.Paths), spellLines(t.Command)
	for i := range t.Paths {
		t.Paths[i] = spell(t.Paths[i])
	}
	for _, text := range []*string{&t.Asker, &t.Tool, &t.Host, &t.From, &t.Session, &t.CWD, &t.Rule} {
		*text = spell(*text)
	}
	return t
}

// RequestListOutput is the output of request.list, oldest first.
type RequestListOutput struct {
	Requests []Request `json:"requests" jsonschema:"those that are open"`
}

// RequestAnswerInput is the input of request.answer.
type RequestAnswerInput struct {
	ID     string `json:"id" jsonschema:"of the request"`
	Allow  bool   `json:"allow" jsonschema:"whether it may"`
	Always bool   `json:"always,omitempty" jsonschema:"give this agent the same answer to the same call until the engine stops"`
	Reason string `json:"reason,omitempty" jsonschema:"told to the agent"`
}

// An AuditEntry is one line of the audit log.
type AuditEntry struct {
	Time       time.Time      `json:"time" jsonschema:"when it ended; set by the engine unless it was within the last minute"`
	Actor      string         `json:"actor" jsonschema:"agent:NAME/VERSION"`
	Agent      string         `json:"agent,omitempty" jsonschema:"the name that the user has given it: its token's, or that of --as"`
	Client     string         `json:"client,omitempty" jsonschema:"id of the client"`
	From       string         `json:"from,omitempty" jsonschema:"the machine that it came from, as user@host, if that is another one"`
	Host       string         `json:"host,omitempty" jsonschema:"the machine that it was done on, if that is another one"`
	Tool       string         `json:"tool" jsonschema:"what was called"`
	Arguments  map[string]any `json:"arguments,omitempty" jsonschema:"with what; secrets and long texts are replaced"`
	Outcome    string         `json:"outcome" jsonschema:"ok, error, denied or cancelled"`
	Error      string         `json:"error,omitempty" jsonschema:"why it failed"`
	DurationMS float64        `json:"duration_ms" jsonschema:"how long it took"`
	Process    string         `json:"process,omitempty" jsonschema:"id of what it started or dealt with"`
}

// AuditAddInput is the input of audit.add.
type AuditAddInput struct {
	Entries []AuditEntry `json:"entries" jsonschema:"in the order in which they ended"`
}

// AuditListInput is the input of audit.list.
type AuditListInput struct {
	Actor string `json:"actor,omitempty" jsonschema:"only this one's"`
	Tool  string `json:"tool,omitempty" jsonschema:"only of this tool"`
	Limit int    `json:"limit,omitempty" jsonschema:"entries at most; default 100"`
}

// AuditListOutput is the output of audit.list.
type AuditListOutput struct {
	Entries []AuditEntry `json:"entries" jsonschema:"newest first"`
}
