package sessions

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/panes/kit/predict"
	"tandem/ui/attach"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
	"tandem/ui/cli/settings"
)

// NewAttach returns the command attach.
func NewAttach(f *factory.Factory) *cobra.Command {
	var readOnly bool
	var predicted string
	cmd := &cobra.Command{
		Use:   "attach [ID] [--read-only] [--predict WHEN]",
		Short: "Connect this terminal to a session; ctrl+b d detaches",
		Long: "Connects this terminal to a session until you press ctrl+b d or the session exits.\n" +
			"The session keeps running when you detach. Press ctrl+b twice to send it to the session.\n" +
			"Without ID, attaches to the most recently active running session: the latest with output,\ninput or a read. If this program itself crashes, `reset` repairs the terminal.\n\n" +
			"If another machine takes more than 40 ms to answer, what you type is shown underlined\nuntil the answer arrives. ctrl+b ? shows how long answers take.",
		Example:           "tandem attach\ntandem attach build\ntandem attach --read-only build\ntandem --host box attach build --predict always",
		Annotations:       factory.One.Naming(1),
		Args:              factory.AtMost(1),
		ValidArgsFunction: f.CompleteSession(factory.IsLive),
		RunE: func(cmd *cobra.Command, args []string) error {
			id := ""
			if len(args) > 0 {
				id = args[0]
			}
			return RunAttach(f, cmd, id, readOnly, predicted)
		},
	}
	cmd.Flags().StringVar(&predicted, "predict", "", "show what you type before the session does: `WHEN` is auto, always or off")
	_ = cmd.RegisterFlagCompletionFunc("predict", cobra.FixedCompletions([]string{"auto", "always", "off"}, cobra.ShellCompDirectiveNoFileComp)) // fails only for unknown flags
	cmd.Flags().BoolVar(&readOnly, "read-only", false, "watch only: nothing you type reaches the session")
	return cmd
}

// RunAttach connects this terminal to the session with an id, or with "" to the last active one.
func RunAttach(f *factory.Factory, cmd *cobra.Command, id string, readOnly bool, predicted string) error {
	in, isIn := output.Terminal(f.Stdin)
	out, isOut := output.Terminal(f.Stdout)
	if !isIn || !isOut {
		return api.Errorf(api.CodeInvalid, "attach to %s: standard input and output must be a terminal", cmp.Or(id, "a session")).
			WithHint("without a terminal, `tandem send` types into the session and `tandem screen` prints its screen")
	}
	if t := f.Env("TERM"); t == "dumb" || t == "" {
		return api.Errorf(api.CodeInvalid, "attach to %s: TERM is %q, which cannot show a session", cmp.Or(id, "a session"), t).
			WithHint("set TERM to your terminal's type, such as xterm-256color")
	}
	prefix, err := f.Prefix()
	if err != nil { // a mistake in the configuration must not prevent attaching
		fmt.Fprintf(f.Stderr, "tandem: the prefix is ctrl+b: %s\n", output.Visible(settings.Heading(err)))
	}
	client, err := f.Dial(cmd.Context())
	if err != nil {
		return err
	}
	defer client.Close()
	if id == "" {
		if id, err = lastSession(cmd.Context(), client, f.Env(factory.OwnSession)); err != nil {
			return err
		}
	}
	if err := refuseOwn(cmd.Context(), f, client, id, in); err != nil {
		return err
	}
	// The flag overrides the configuration. A wrong flag is an error; a wrong setting turns prediction
	// off.
	conf := f.Settings()
	mode, ok := predict.Modes()[cmp.Or(predicted, conf.Attach.Predict)]
	if !ok && predicted != "" {
		return api.Errorf(api.CodeInvalid, "attach to %s: unknown --predict %q; must be auto, always or off", id, predicted)
	}
	notices, err := factory.OpenNotices()
	if err != nil {
		return err
	}
	outcome, err := attach.Run(cmd.Context(), attach.Options{
		Client: client, ID: id, ReadOnly: readOnly, In: in, Out: out, Prefix: prefix, Activate: f.Dial,
		NoClipboard: !conf.Clipboard, Pictures: conf.Pictures, Predict: mode, Notices: notices,
	})
	if err != nil {
		return err
	}
	return reportOutcome(f, id, outcome)
}

// lastSession returns the name of the most recently active running session. It skips ownID, the id
// of the session that contains this program.
func lastSession(ctx context.Context, conn *client.Client, ownID string) (string, error) {
	out, err := api.SessionList.Call(ctx, conn, api.Empty{})
	if err != nil {
		return "", err
	}
	var last *api.Process
	for i := range out.Sessions {
		p := &out.Sessions[i]
		if p.State.Ended() || p.ID == ownID {
			continue
		}
		if last == nil || activeAt(p).After(activeAt(last)) {
			last = p
		}
	}
	if last == nil {
		return "", api.Errorf(api.CodeNotFound, "attach: no other session is running").WithHint("`tandem new` starts one")
	}
	return last.Name, nil
}

func activeAt(p *api.Process) time.Time {
	if p.Terminal == nil || p.Terminal.ActiveAt.IsZero() {
		return p.StartedAt
	}
	return p.Terminal.ActiveAt
}

// refuseOwn returns an error if id is the session of this terminal, which would show itself. A
// program in a session knows the session's id, and its terminal belongs to the session's first
// process. If id cannot be looked up, refuseOwn leaves the error to attach.
func refuseOwn(ctx context.Context, f *factory.Factory, conn *client.Client, id string, tty *os.File) error {
	p, err := api.SessionGet.Call(ctx, conn, api.IDInput{ID: id})
	if err != nil {
		return nil
	}
	within := factory.LeadsTerminal(tty, p)
	if !within && p.ID != f.Env(factory.OwnSession) {
		return nil
	}
	hint := "attach from another terminal, or run `tandem` there"
	if !within {
		hint += "; if it is not, run `env -u " + factory.OwnSession + " tandem attach " + output.Visible(id) + "`"
	}
	return api.Errorf(api.CodeConflict, "attach to %s: this terminal is that session", output.Visible(id)).WithHint(hint)
}

// reportOutcome prints why attach returned, once the terminal is restored. It returns an error with
// the exit status if a signal ended attach.
func reportOutcome(f *factory.Factory, id string, outcome attach.Outcome) error {
	switch outcome.Reason {
	case attach.Ended:
		if outcome.Process == nil {
			f.Out.Tell("%s exited", output.Visible(id))
			break
		}
		f.Out.Tell("%s: %s", output.Visible(outcome.Process.Name), output.StateText(*outcome.Process))
	case attach.Detached:
		if outcome.Unsent > 0 {
			f.Out.Tell("%d typed keys were dropped: the machine is offline", outcome.Unsent)
		}
		f.Out.Tell("detached from %s, which keeps running; `tandem attach %s` returns", output.Visible(id), output.Visible(id))
	case attach.HungUp:
		return &output.ExitError{Status: 128 + int(syscall.SIGHUP)}
	case attach.Interrupted:
		status := output.StatusFailed
		if s, ok := outcome.Signal.(syscall.Signal); ok {
			status = 128 + int(s)
		}
		return &output.ExitError{Status: status}
	}
	if f.Out.JSON {
		return f.Out.Answer(outcome.Process, nil)
	}
	return nil
}
