// Package requests implements the commands about requests and actions of agents.
package requests

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/base/cellwidth"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

// NewRequests returns the command requests.
func NewRequests(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "requests [ID]",
		Short: "List agents' requests",
		Long: "Lists agents' open requests, or shows one in full; the list shortens a long command to\n" +
			"its beginning, end and length. policy.toml, beside\nconfig.toml, says what " +
			"agents may do without asking, and what they may not do at all.",
		Example: "tandem requests\ntandem requests 3f2a\ntandem allow 3f2a\ntandem deny 3f2a --reason \"not on main\"",

		Annotations:       factory.One.Annotations(),
		Args:              factory.AtMost(1),
		ValidArgsFunction: factory.First(completeRequest(f)),
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := factory.Call(cmd.Context(), f, api.RequestList, api.Empty{})
			if err != nil {
				return err
			}
			if len(args) > 0 {
				return showRequest(f, out.Requests, args[0])
			}
			return output.AnswerList(f.Out, out.Requests, "no requests are waiting", func() string { return requestTable(f.Out, out.Requests, "LEFT", timeLeft) })
		},
	}
}

// requestTable formats open requests, or those with a standing answer.
func requestTable(out output.Printer, list []api.Request, when string, cell func(api.Request) string) string {
	t := out.Table("ID", "WHO", "TOOL", when, "FOLDER", "WANTS")
	t.Spare = []string{"FOLDER", "TOOL", "WHO"}
	t.Whole = true // users must see the whole command that they allow
	for _, r := range list {
		shown := textOf(r)
		t.Add(output.Text(r.ID), output.Tinted(shown.Asker, output.Strong), output.Text(shown.Tool+otherMachine(shown)),
			output.Text(cell(r)), output.Text(cellwidth.Spell(factory.TildePath(r.CWD))), output.Text(excerpt(requestSummary(r))))
	}
	return t.String()
}

// excerptEnds is the length of the beginning and the end that the list shows of a long command, in
// characters.
const excerptEnds = 200

// excerpt formats a command on one line. It shortens a long one to its beginning, length and end.
func excerpt(s string) string {
	all := []rune(s)
	if len(all) <= 2*excerptEnds {
		return cellwidth.Spell(s)
	}
	return fmt.Sprintf("%s … %s characters in all … %s", cellwidth.Spell(string(all[:excerptEnds])), groupDigits(len(all)), cellwidth.Spell(string(all[len(all)-excerptEnds:])))
}

// groupDigits formats n with commas between thousands.
func groupDigits(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", groupDigits(n/1000), n%1000)
}

// showRequest prints the full request whose id begins with id.
func showRequest(f *factory.Factory, list []api.Request, id string) error {
	list = slices.DeleteFunc(list, func(r api.Request) bool { return !strings.HasPrefix(r.ID, id) })
	switch {
	case len(list) == 0 || id == "":
		return api.Errorf(api.CodeNotFound, "no open request begins with %s", output.Visible(id)).WithHint("`tandem requests` lists the open ones")
	case len(list) > 1:
		return api.Errorf(api.CodeAmbiguous, "show request %s: several ids begin with it", id)
	}
	return f.Out.Answer(list[0], func() string {
		return requestText(list[0], "wants to call") + withPrefix("\nreason: ", textOf(list[0]).Rule) + "\ndenied if not answered within " + timeLeft(list[0]) + "\n"
	})
}

func timeLeft(r api.Request) string {
	return max(time.Until(r.ExpiresAt), 0).Round(time.Second).String()
}

func answeredAt(r api.Request) string {
	if r.At == nil {
		return ""
	}
	return r.At.Local().Format("15:04")
}

func textOf(r api.Request) api.RequestText { return r.Text(cellwidth.Spell, cellwidth.SpellLines) }

// requestText formats a whole request; verb follows the agent's name.
func requestText(r api.Request, verb string) string {
	shown := textOf(r)
	text := fmt.Sprintf("%s %s %s", shown.Asker, verb, shown.Tool) + otherMachine(shown)
	text += withPrefix(" for ", shown.Session) + withPrefix(" in ", shown.CWD) + ":\n"
	if shown.Command != "" {
		text += shown.Command + "\n"
	}
	for _, path := range shown.Paths {
		text += path + "\n"
	}
	return text
}

// otherMachine names the machine that a request is about or comes from, if it is another one.
func otherMachine(t api.RequestText) string {
	return withPrefix(" on ", t.Host) + withPrefix(" from ", t.From)
}

// withPrefix returns prefix + text, or "" if text is empty.
func withPrefix(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// requestSummary returns the subject of a request on one line: its command, paths or session.
func requestSummary(r api.Request) string {
	if r.Command != "" {
		return r.Command
	}
	if len(r.Paths) == 0 {
		return r.Session
	}
	return strings.Join(r.Paths, " ")
}

// NewAllow returns the command allow.
func NewAllow(f *factory.Factory) *cobra.Command {
	return newAnswer(f, true, "allow ID [--reason TEXT] [--always]", "Allow an agent's request", "tandem allow 3f2a\ntandem allow 3f2a --always\ntandem allow --list\ntandem allow --undo 3f2a")
}

// NewDeny returns the command deny.
func NewDeny(f *factory.Factory) *cobra.Command {
	return newAnswer(f, false, "deny ID [--reason TEXT] [--always]", "Deny an agent's request", "tandem deny 3f2a --reason \"not on main\"\ntandem deny --list")
}

func newAnswer(f *factory.Factory, allow bool, use, short, example string) *cobra.Command {
	in := api.RequestAnswerInput{Allow: allow}
	does, word := "may not call", "deny"
	if allow {
		does, word = "may call", "allow"
	}
	var list bool
	var undo string
	cmd := &cobra.Command{
		Use: use, Short: short, Example: example, Annotations: factory.One.Annotations(),
		Args: func(cmd *cobra.Command, args []string) error {
			if list || undo != "" {
				return cobra.NoArgs(cmd, args)
			}
			return factory.Exactly(1, "which request? `tandem requests` lists them.")(cmd, args)
		},
		ValidArgsFunction: factory.First(completeRequest(f)),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case list:
				return listAnswered(cmd.Context(), f, word)
			case undo != "":
				r, err := factory.Call(cmd.Context(), f, api.RequestUndo, api.RequestUndoInput{ID: undo})
				if err != nil {
					return err
				}
				return f.Out.Answer(r, func() string { return requestText(r, "must ask again to call") })
			}
			in.ID = args[0]
			r, err := factory.Call(cmd.Context(), f, api.RequestAnswer, in)
			if err != nil {
				return err
			}
			return f.Out.Answer(r, func() string {
				text := requestText(r, does)
				if r.Always {
					text += "\nThis holds for each such call of this agent until the engine stops. `tandem " + word + " --undo " + r.ID + "` takes it back.\n"
				}
				return text
			})
		},
	}
	cmd.Flags().BoolVar(&in.Always, "always", false, "give this agent the same answer to the same call until the engine stops")
	cmd.Flags().StringVar(&in.Reason, "reason", "", "`text` shown to the agent")
	cmd.Flags().BoolVar(&list, "list", false, "list the answers given with --always")
	cmd.Flags().StringVar(&undo, "undo", "", "take back the answer given with --always to the request with this `id`")
	cmd.MarkFlagsMutuallyExclusive("list", "undo", "always")
	cmd.MarkFlagsMutuallyExclusive("list", "undo", "reason")
	return cmd
}

// listAnswered prints the requests with a standing answer.
func listAnswered(ctx context.Context, f *factory.Factory, answer string) error {
	out, err := factory.Call(ctx, f, api.RequestList, api.Empty{})
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(out.Answered, func(r api.Request) bool { return r.Answer != answer })
	return output.AnswerList(f.Out, list, "no answer has been given with --always", func() string { return requestTable(f.Out, list, "SINCE", answeredAt) })
}

// NewAudit returns the command audit.
func NewAudit(f *factory.Factory) *cobra.Command {
	var in api.AuditListInput
	cmd := &cobra.Command{
		Use:   "audit [--actor ACTOR] [--tool NAME] [--operations] [-n N]",
		Short: "Show what agents did, newest first",
		Long: "Shows the tools that agents called, newest first. Secrets in the arguments are\nreplaced. An unfinished call " +
			"is still running, or the engine was killed meanwhile.\nThe file is audit.jsonl in the data folder.",
		Example:     "tandem audit -n 20\ntandem audit --tool exec --json\ntandem audit --operations",
		Annotations: factory.Several.Annotations(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if in.Limit < 1 {
				return output.Usagef(cmd, "show %d entries: must be 1 or more", in.Limit)
			}
			out, err := factory.Call(cmd.Context(), f, api.AuditList, in)
			if err != nil {
				return err
			}
			return output.AnswerList(f.Out, out.Entries, "no agent has done anything yet", func() string { return auditTable(f.Out, out.Entries, in.Operations) })
		},
	}
	cmd.Flags().StringVar(&in.Actor, "actor", "", "only calls by this `actor`, such as agent:claude-code/2.1.0")
	cmd.Flags().StringVar(&in.Tool, "tool", "", "only calls of the tool with this `name`")
	cmd.Flags().BoolVar(&in.Operations, "operations", false, "show every operation of the engine instead of one line per call")
	cmd.Flags().IntVarP(&in.Limit, "lines", "n", 50, "`number` of entries")
	return cmd
}

func auditTable(out output.Printer, list []api.AuditEntry, operations bool) string {
	columns := []string{"WHEN", "WHO", "TOOL", "OUTCOME", "TOOK", "WITH"}
	if operations {
		columns = slices.Insert(columns, 3, "OPERATION")
	}
	t := out.Table(columns...)
	t.Spare = []string{"TOOK", "WHO", "WHEN"}
	for _, e := range list {
		outcome, took := auditOutcome(e)
		row := []output.Cell{
			output.Text(e.Time.Local().Format("2006-01-02 15:04:05")), output.Tinted(output.Visible(strings.TrimPrefix(e.Actor, "agent:")+withPrefix(" from ", e.From)), output.Strong),
			output.Text(output.Visible(e.Tool + withPrefix(" on ", e.Host))), outcome, took, output.Text(output.Visible(arguments(e))),
		}
		if operations {
			row = slices.Insert(row, 3, output.Text(output.Visible(e.Operation)))
		}
		t.Add(row...)
	}
	return t.String()
}

// auditOutcome returns the outcome and the duration of an audited call.
func auditOutcome(e api.AuditEntry) (outcome, took output.Cell) {
	if e.Outcome == "started" {
		return output.Tinted("unfinished", output.Yellow), output.Text("")
	}
	shade := output.Red
	if e.Outcome == "ok" {
		shade = output.Plain
	}
	duration := time.Duration(e.DurationMS * float64(time.Millisecond)).Round(time.Millisecond)
	return output.Tinted(output.Visible(e.Outcome), shade), output.Text(duration.String())
}

// arguments formats the main argument of an audited call on one line.
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

// completeRequest completes with the ids of open requests.
func completeRequest(f *factory.Factory) cobra.CompletionFunc {
	return factory.CompleteFrom(f, func(ctx context.Context, engine *client.Client) ([]api.Request, error) {
		out, err := api.RequestList.Call(ctx, engine, api.Empty{})
		return out.Requests, err
	}, func(all []api.Request, _ []string, _ string) (found []cobra.Completion) {
		for _, r := range all {
			found = append(found, cobra.CompletionWithDesc(r.ID, r.Actor+": "+requestSummary(r)))
		}
		return found
	})
}
