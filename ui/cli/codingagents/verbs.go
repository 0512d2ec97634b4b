// Package codingagents implements the commands about coding agents in sessions: listing them,
// waiting for them, reporting and explaining their states, and their hooks and worktrees. Editing
// of agents' settings is in package setup.
package codingagents

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"

	"github.com/spf13/cobra"
)

// An agentRow is one line of `tandem agents`.
type agentRow struct {
	Session      string         `json:"session"`
	Name         string         `json:"name"`
	Agent        string         `json:"agent"`
	State        api.AgentState `json:"state"`
	Text         string         `json:"text,omitempty"`
	Source       string         `json:"source,omitempty"`
	Since        time.Time      `json:"since,omitzero"`
	CWD          string         `json:"cwd"`
	Branch       string         `json:"branch,omitempty"`
	Dirty        bool           `json:"dirty,omitempty"` // there are uncommitted changes
	Conversation string         `json:"conversation,omitempty"`
	Cost         string         `json:"cost,omitempty"`
}

// NewAgents returns the command agents.
func NewAgents(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "agents",
		Short: "List the coding agents in sessions, those that need you first",
		Long: "Lists the coding agents that run in sessions and what each is doing: blocked (it needs you),\n" +
			"working, done, idle (it has had no task yet) or unknown.",
		Example:     "tandem agents\ntandem agents --json | jq -r '.[] | select(.state == \"blocked\").text'",
		Annotations: factory.Several.Annotations(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows, err := listAgents(cmd.Context(), f)
			if err != nil {
				return err
			}
			const none = "no coding agent runs in a session; start one with `tandem new -- claude`, for example"
			return output.AnswerList(f.Out, rows, none, func() string { return formatTable(f, rows, time.Now()) })
		},
	}
}

// listAgents returns the running agents, in the order of api.AgentStates.
func listAgents(ctx context.Context, f *factory.Factory) ([]agentRow, error) {
	client, err := f.Dial(ctx)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	out, err := api.SessionList.Call(ctx, client, api.Empty{})
	if err != nil {
		return nil, err
	}
	known := make(map[string]api.FilesGitOutput)
	rows := []agentRow{}
	for _, p := range out.Sessions {
		if p.Agent == nil {
			continue
		}
		// Several sessions often share a folder, and git may be slow.
		git, asked := known[p.CWD]
		if !asked {
			git, _ = api.FilesGit.Call(ctx, client, api.FilesGitInput{Path: p.CWD}) // on error the branch stays empty
			known[p.CWD] = git
		}
		g := p.Agent
		rows = append(rows, agentRow{p.ID, p.Name, g.Name, g.State, g.Text, g.Source, g.Since, p.CWD, git.Branch, isDirty(git), g.Conversation, g.Cost})
	}
	order := api.AgentStates()
	slices.SortStableFunc(rows, func(x, y agentRow) int { return slices.Index(order, x.State) - slices.Index(order, y.State) })
	return rows, nil
}

// branchText returns the branch, followed by a star if there are uncommitted changes.
func (r agentRow) branchText() string {
	if r.Dirty {
		return r.Branch + "*"
	}
	return r.Branch
}

// isDirty reports whether a working tree has uncommitted changes. Ignored files (!!) do not count.
func isDirty(git api.FilesGitOutput) bool {
	for _, marks := range git.Marks {
		if marks != "!!" {
			return true
		}
	}
	return false
}

func formatTable(f *factory.Factory, rows []agentRow, now time.Time) string {
	t := f.Out.Table("ID", "NAME", "AGENT", "STATE", "SINCE", "COST", "BRANCH", "FOLDER", "CONVERSATION", "QUESTION")
	t.Spare = []string{"CONVERSATION", "FOLDER", "BRANCH", "COST", "SINCE", "ID"}
	if !slices.ContainsFunc(rows, func(r agentRow) bool { return r.Cost != "" }) {
		t.Spare = slices.Insert(t.Spare, 0, "COST")
	}
	for _, r := range rows {
		since := "-"
		if !r.Since.IsZero() {
			since = units.Age(now.Sub(r.Since))
		}
		known := func(text string) output.Cell { return output.Text(output.Visible(cmp.Or(text, "-"))) }
		t.Add(output.Text(r.Session), output.Tinted(output.Visible(r.Name), output.Strong), known(r.Agent),
			output.Tinted(string(r.State), agentTint(r.State)), output.Text(since), known(r.Cost), known(r.branchText()),
			output.Text(output.Visible(f.DisplayPath(r.CWD))), known(r.Conversation), known(r.Text))
	}
	return t.String()
}

func agentTint(s api.AgentState) output.Tint {
	switch s {
	case api.AgentBlocked:
		return output.Yellow
	case api.AgentWorking:
		return output.Green
	case api.AgentDone:
		return output.Strong
	}
	return output.Faint
}

func newReport(f *factory.Factory) *cobra.Command {
	var in api.AgentReportInput
	var state string
	var hook bool
	cmd := &cobra.Command{
		Use:   "report --state S [--text T]",
		Short: "Report what the agent in a session is doing",
		Long: "Reports what the coding agent in a session, or a script of yours, is doing. Agents' hooks\n" +
			"call it. Inside a session it applies to that session. A report overrides what the screen shows.",
		Example: "tandem agent report --state blocked --text 'Deploy to production?'\ntandem agent report --state done --session build",
		RunE: func(cmd *cobra.Command, _ []string) error {
			in.State = api.AgentState(state)
			if hook {
				reportHook(cmd.Context(), f, in)
				return nil
			}
			if !api.IsAgentState(in.State) {
				return output.Usagef(cmd, "read --state %s: must be working, blocked, done, idle or unknown", output.Visible(state))
			}
			if in.ID = cmp.Or(in.ID, f.Env(factory.OwnSession)); in.ID == "" {
				return output.Usagef(cmd, "which session? This program runs in none; give --session.")
			}
			_, err := factory.Call(cmd.Context(), f, api.AgentReport, in)
			return err
		},
	}
	cmd.Flags().StringVar(&state, "state", "", "`working`, blocked, done, idle, or unknown to withdraw it")
	cmd.Flags().StringVar(&in.Text, "text", "", "the `question` that it asks")
	cmd.Flags().StringVar(&in.ID, "session", "", "`ID` of the session (default: the one this runs in)")
	cmd.Flags().StringVar(&in.Agent, "agent", "", "`name` for a program not recognised as an agent")
	cmd.Flags().BoolVar(&hook, "hook", false, "for agents' hooks: read conversation and question from standard input, never fail")
	cmd.Flags().StringVar(&in.Conversation, "conversation", "", "the agent's own `id` of its conversation")
	var states []string
	for _, s := range api.AgentStates() {
		states = append(states, string(s))
	}
	factory.CompleteFlag(cmd, "state", states...)
	_ = cmd.RegisterFlagCompletionFunc("session", f.CompleteSessions(factory.IsLive))
	return cmd
}

func newExplain(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:     "explain ID",
		Short:   "Explain how an agent's state was determined",
		Example: "tandem agent explain work",
		Args:    factory.Exactly(1, "which session? Give an id or name."), ValidArgsFunction: f.CompleteSession(factory.IsLive),
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := factory.Call(cmd.Context(), f, api.AgentExplain, api.IDInput{ID: args[0]})
			if err != nil {
				return err
			}
			return f.Out.Answer(out, func() string { return explanation(f.Out, out, time.Now()) })
		},
	}
}

func explanation(p output.Printer, out api.AgentExplainOutput, now time.Time) string {
	if out.Agent == nil {
		return "no coding agent was recognised in this session\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s is %s", output.Visible(cmp.Or(out.Agent.Name, "the agent")), out.Agent.State)
	if out.PID != 0 {
		fmt.Fprintf(&b, "; its process is %d", out.PID)
	}
	b.WriteString("\n")
	if len(out.Words) == 0 {
		b.WriteString("nothing seen or reported shows what it is doing\n")
	} else {
		t := p.Table("SOURCE", "SAYS", "SINCE", "DECIDES", "QUESTION")
		for _, w := range out.Words {
			decides := ""
			if w.Decides {
				decides = "yes"
			}
			t.Add(output.Text(w.Source), output.Tinted(string(w.State), agentTint(w.State)), output.Text(units.Age(now.Sub(w.At))),
				output.Text(decides), output.Text(output.Visible(w.Text)))
		}
		b.WriteString(t.String())
	}
	for _, s := range out.Sources {
		fmt.Fprintf(&b, "recognised by: %s\n", s)
	}
	return b.String()
}
