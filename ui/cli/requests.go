package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/engine/api"
)

func (a *app) requestsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "requests [ID]",
		Short: "List what agents wait to be allowed",
		Long: "Lists what agents wait to be allowed, or shows the whole of one request: of a long\n" +
			"command the list has the beginning, the end and the length. What agents may do\nwithout asking, and what " +
			"not at all, is in policy.toml beside config.toml.",
		Example: "tandem requests\ntandem requests 3f2a\ntandem allow 3f2a\ntandem deny 3f2a --reason \"not on main\"",

		DisableFlagsInUseLine: true,

		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef(cmd, "requests takes no %q", visible(args[1]))
			}
			return nil
		},
		ValidArgsFunction: first(a.completeRequest),
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := call(cmd.Context(), a, api.RequestList, api.Empty{})
			if err != nil {
				return err
			}
			if len(args) > 0 {
				return a.showRequest(out.Requests, args[0])
			}
			if len(out.Requests) == 0 && !a.json {
				a.tell("nobody waits for an answer")
				return nil
			}
			return a.answer(out.Requests, func() string { return a.requestTable(out.Requests, time.Now()) })
		},
	}
}

func (a *app) requestTable(list []api.Request, now time.Time) string {
	t := a.table("ID", "WHO", "TOOL", "LEFT", "FOLDER", "WANTS")
	t.spare = []string{"FOLDER", "TOOL", "WHO"}
	t.whole = true // else the end of a command is missing that somebody allows
	for _, r := range list {
		left := r.ExpiresAt.Sub(now).Round(time.Second)
		t.add(cell{text: r.ID}, cell{visible(strings.TrimPrefix(r.Actor, "agent:")), strong}, cell{text: visible(r.Tool)},
			cell{text: left.String()}, cell{text: visible(home(r.CWD))}, cell{text: excerpt(wants(r))})
	}
	return t.String()
}

// excerptEnds is how much of a long command the list has of either end, in
// characters.
const excerptEnds = 200

// excerpt is a command on one line, of a long one the beginning, the length and
// the end.
func excerpt(s string) string {
	all := []rune(s)
	if len(all) <= 2*excerptEnds {
		return exactLine(s)
	}
	return fmt.Sprintf("%s … %s characters in all … %s", exactLine(string(all[:excerptEnds])), grouped(len(all)), exactLine(string(all[len(all)-excerptEnds:])))
}

// grouped is a number with commas.
func grouped(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}

// showRequest prints all of the request whose id begins so.
func (a *app) showRequest(list []api.Request, id string) error {
	list = slices.DeleteFunc(list, func(r api.Request) bool { return !strings.HasPrefix(r.ID, id) })
	switch {
	case len(list) == 0 || id == "":
		return api.Errorf(api.CodeNotFound, "show request %s: it is not open", id).WithHint("`tandem requests` lists those that are")
	case len(list) > 1:
		return api.Errorf(api.CodeAmbiguous, "show request %s: several begin so", id)
	}
	return a.answer(list[0], func() string { return requestText(list[0], "wants to call") })
}

// requestText is all of a request.
func requestText(r api.Request, does string) string {
	text := fmt.Sprintf("%s %s %s", exactLine(strings.TrimPrefix(r.Actor, "agent:")), does, exactLine(r.Tool))
	if r.Session != "" {
		text += " for " + exactLine(r.Session)
	}
	if r.CWD != "" {
		text += " in " + exactLine(r.CWD)
	}
	text += ":\n"
	if r.Command != "" {
		text += exact(r.Command) + "\n"
	}
	for _, path := range r.Paths {
		text += exactLine(path) + "\n"
	}
	return text
}

// wants is what a request is about, on one line.
func wants(r api.Request) string {
	if r.Command != "" {
		return r.Command
	}
	if len(r.Paths) == 0 {
		return r.Session
	}
	return strings.Join(r.Paths, " ")
}

func (a *app) allowCommand() *cobra.Command {
	return a.answerCommand(true, "allow ID [--always]", "Let an agent do what it asks for", "tandem allow 3f2a\ntandem allow 3f2a --always")
}

func (a *app) denyCommand() *cobra.Command {
	return a.answerCommand(false, "deny ID [--reason TEXT] [--always]", "Refuse what an agent asks for", "tandem deny 3f2a --reason \"not on main\"")
}

func (a *app) answerCommand(allow bool, use, short, example string) *cobra.Command {
	in := api.RequestAnswerInput{Allow: allow}
	cmd := &cobra.Command{
		Use: use, Short: short, Example: example,

		DisableFlagsInUseLine: true,
		Args:                  a.exactly(1, "answer which request? `tandem requests` lists them"),
		ValidArgsFunction:     first(a.completeRequest),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = args[0]
			r, err := call(cmd.Context(), a, api.RequestAnswer, in)
			if err != nil {
				return err
			}
			return a.answer(r, func() string {
				if !allow {
					return ""
				}
				return requestText(r, "may call")
			})
		},
	}
	cmd.Flags().BoolVar(&in.Always, "always", false, "answer the same to this agent for the same until the engine ends")
	cmd.Flags().StringVar(&in.Reason, "reason", "", "`text` that the agent is told")
	return cmd
}

func (a *app) auditCommand() *cobra.Command {
	var in api.AuditListInput
	cmd := &cobra.Command{
		Use:     "audit [--actor WHO] [--tool NAME] [-n N]",
		Short:   "Show what agents did, newest first",
		Long:    "Shows the tools that agents called, newest first. Secrets in what they said are\nreplaced. The file is audit.jsonl in the data folder.",
		Example: "tandem audit -n 20\ntandem audit --tool exec --json",

		DisableFlagsInUseLine: true,
		Args:                  a.exactly(0, ""),
		ValidArgsFunction:     cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if in.Limit < 1 {
				return usagef(cmd, "show %d entries: want 1 or more", in.Limit)
			}
			out, err := call(cmd.Context(), a, api.AuditList, in)
			if err != nil {
				return err
			}
			if len(out.Entries) == 0 && !a.json {
				a.tell("no agent has done anything yet")
				return nil
			}
			return a.answer(out.Entries, func() string { return a.auditTable(out.Entries) })
		},
	}
	cmd.Flags().StringVar(&in.Actor, "actor", "", "only `who`, such as agent:claude-code/2.1.0")
	cmd.Flags().StringVar(&in.Tool, "tool", "", "only calls of the tool with this `name`")
	cmd.Flags().IntVarP(&in.Limit, "lines", "n", 50, "`number` of entries")
	return cmd
}

func (a *app) auditTable(list []api.AuditEntry) string {
	t := a.table("WHEN", "WHO", "TOOL", "OUTCOME", "TOOK", "WITH")
	t.spare = []string{"TOOK", "WHO", "WHEN"}
	for _, e := range list {
		shade := plain
		if e.Outcome != "ok" {
			shade = red
		}
		took := time.Duration(e.DurationMS * float64(time.Millisecond)).Round(time.Millisecond)
		t.add(cell{text: e.Time.Local().Format("2006-01-02 15:04:05")}, cell{visible(strings.TrimPrefix(e.Actor, "agent:")), strong},
			cell{text: visible(e.Tool)}, cell{visible(e.Outcome), shade}, cell{text: took.String()}, cell{text: visible(arguments(e))})
	}
	return t.String()
}

// arguments are what a tool was called with, on one line.
func arguments(e api.AuditEntry) string {
	for _, name := range []string{"command", "path", "id"} {
		switch v := e.Arguments[name].(type) {
		case string:
			return v
		case []any:
			return strings.Trim(fmt.Sprint(v), "[]")
		}
	}
	if len(e.Arguments) == 0 {
		return ""
	}
	b, err := json.Marshal(e.Arguments)
	if err != nil {
		return ""
	}
	return string(b)
}
