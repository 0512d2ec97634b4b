package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/engine/api"
)

func (a *app) requestsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "requests",
		Short: "List what agents wait to be allowed",
		Long: "Lists what agents wait to be allowed. What they may do without asking, and what\n" +
			"not at all, is in policy.toml beside config.toml.",
		Example: "tandem requests\ntandem allow 3f2a\ntandem deny 3f2a --reason \"not on main\"",

		DisableFlagsInUseLine: true,
		Args:                  a.exactly(0, ""),
		ValidArgsFunction:     cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := call(cmd.Context(), a, api.RequestList, api.Empty{})
			if err != nil {
				return err
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
	for _, r := range list {
		left := r.ExpiresAt.Sub(now).Round(time.Second)
		t.add(cell{text: r.ID}, cell{visible(strings.TrimPrefix(r.Actor, "agent:")), strong}, cell{text: visible(r.Tool)},
			cell{text: left.String()}, cell{text: visible(home(r.CWD))}, cell{text: visible(wants(r))})
	}
	return t.String()
}

// wants is what a request is about, on one line.
func wants(r api.Request) string {
	if r.Command != "" {
		return r.Command
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
			return a.answer(r, func() string { return "" })
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
			cell{text: visible(e.Tool)}, cell{e.Outcome, shade}, cell{text: took.String()}, cell{text: visible(arguments(e))})
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
