package api

import "fmt"

// In these request headers, an agents' server names the tool call to which a request belongs.
// Without them, the operation is a call of its own.
const (
	ToolHeader = "Tandem-Tool" // the tool, then others whose policy rules apply too, separated by commas
	CallHeader = "Tandem-Call" // the call's id, unique within the client
	UsesHeader = "Tandem-Uses" // the call's operations if they work on the subjects of its first one, separated by commas
	AskHeader  = "Tandem-Ask"  // "no": answer with a Question instead of asking the user
)

// A Question tells an agents' server what the user would have to allow. The server can ask the user
// itself, and then passes the question back to policy.check.
type Question struct {
	Operations []string  `json:"operations" jsonschema:"the operations to allow"`
	Subjects   []Subject `json:"subjects,omitempty" jsonschema:"what the operations would run, read or change"`
	Write      bool      `json:"write,omitempty" jsonschema:"the operations change something"`
	Request    Request   `json:"request" jsonschema:"the question as the user would see it"`
}

// PolicyCheckInput is the input of policy.check. The headers of the request name the tool call. If
// the user is asked and allows it, all operations of the call may work on these subjects until
// policy.end.
type PolicyCheckInput struct {
	Operations []string  `json:"operations" jsonschema:"the operations of the call"`
	Subjects   []Subject `json:"subjects,omitempty" jsonschema:"what the operations run, read or change"`
	Write      bool      `json:"write,omitempty" jsonschema:"the call changes something"`
	Host       string    `json:"host,omitempty" jsonschema:"the machine on which to do it, if not this one"`
	Answer     string    `json:"answer,omitempty" jsonschema:"allow or deny: the user's answer in the agent's own program; only from the server of an agent that may ask there"`
}

// A processNamer is an operation's output about one session or process.
type processNamer interface{ ProcessID() string }

// ProcessIDOf returns the id of the session or process that an operation's output is about, or "".
// out is a pointer.
func ProcessIDOf(out any) string {
	if p, ok := out.(processNamer); ok {
		return p.ProcessID()
	}
	return ""
}

// A failureNamer is an operation's output that may report a failure.
type failureNamer interface{ FailureText() string }

// FailureOf returns the failure reported by the output of an operation that was carried out, or "".
// out is a pointer.
func FailureOf(out any) string {
	if f, ok := out.(failureNamer); ok {
		return f.FailureText()
	}
	return ""
}

// FailureText describes an unsuccessful exit.
func (o *ExecOutput) FailureText() string {
	switch p := o.Process; {
	case p.ExitCode != nil && *p.ExitCode != 0:
		return fmt.Sprintf("exit code %d", *p.ExitCode)
	case p.ExitSignal != "":
		return "ended by " + p.ExitSignal
	}
	return ""
}

func (p *Process) ProcessID() string           { return p.ID }
func (o *ExecOutput) ProcessID() string        { return o.Process.ID }
func (o *ProcessWaitOutput) ProcessID() string { return o.Process.ID }
func (o *SessionWaitOutput) ProcessID() string { return o.Process.ID }

// A Bulky output has members that may be large. They can be sent beside the JSON: texts, and bytes
// that would be base64 in JSON.
type Bulky interface {
	// Bulk returns the large members. They point into the output.
	Bulk() []Member
}

// A Member is a text or bytes; either Text or Data is set.
type Member struct {
	Name string // in JSON
	Text *string
	Data *[]byte
}
