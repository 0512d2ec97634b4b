package fleet

import (
	"cmp"
	"context"
	"fmt"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/engine/remote/fleet"
	"tandem/engine/remote/fleet/hub"
	"tandem/persist/datadir"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

// NewHub returns the command hub.
func NewHub(f *factory.Factory) *cobra.Command {
	v := NewCommands(f)
	var o hub.Options
	cmd := &cobra.Command{
		Use:   "hub [--listen ADDR] [--address HOST:PORT]",
		Short: "Run the hub of a fleet",
		Long: "Runs the hub that a fleet's machines connect to, until it is interrupted. The first run creates\n" +
			"its TLS authority, keys and buckets in the folder hub of the data folder. --address is the\n" +
			"name by which others reach it; invitations contain it.",
		Example: "tandem hub\ntandem hub --listen :4222 --address hub.example.org:4222\ntandem start --name hub --keep-alive -- tandem hub\n" +
			"tandem hub invite machine web-1 --label role=web",
		Annotations: factory.Here.Annotations(),
		RunE:        func(cmd *cobra.Command, _ []string) error { return v.runHub(cmd.Context(), o) },
	}
	cmd.Flags().StringVar(&o.Listen, "listen", "", "listen on this `address`; default "+hub.DefaultListen+", or the previous address")
	cmd.Flags().StringVar(&o.Address, "address", "", "how others reach it, `host:port`")
	invite := &cobra.Command{
		Use: "invite machine|person NAME", Short: "Invite a machine or a person",
		Long:    "Prints the command with which a machine or a person joins. It works once, within a day.",
		Example: "tandem hub invite machine web-1 --label role=web\ntandem hub invite person ann --role operate",
		Args:    factory.Exactly(1, "invite a machine or a person?"), ValidArgs: []string{"machine", "person"},
		RunE: func(cmd *cobra.Command, args []string) error {
			return output.Usagef(cmd, "invite a machine or a person? %q is neither", output.Visible(args[0]))
		},
	}
	invite.AddCommand(v.inviteCommand(fleet.KindMachine), v.inviteCommand(fleet.KindPerson))
	cmd.AddCommand(invite, v.statusCommand(), v.peopleCommand(), v.revokeCommand())
	return cmd
}

func (v *Commands) runHub(ctx context.Context, o hub.Options) error {
	folder, err := v.hubFolder()
	if err != nil {
		return err
	}
	o.Folder = folder
	o.Start = Server
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return hub.Run(ctx, o, func(s hub.Status) {
		_ = v.f.Out.Answer(map[string]string{"address": s.Address}, func() string {
			text := fmt.Sprintf("the hub listens; machines reach it at %s\n", s.Address)
			if s.Machines+s.People+s.Invitations == 0 {
				text += "invite yourself: tandem hub invite person NAME --role admin\n"
			}
			return text
		}) // the hub must run even if its output cannot be written
	})
}

func (v *Commands) hubFolder() (string, error) {
	dir, err := v.f.Machines.DataDir()
	return filepath.Join(dir, datadir.Hub), err
}

// askHub sends a request to this machine's hub or, without one, to that of the fleet in which the user
// is an admin.
func (v *Commands) askHub(what string, in any) (hub.Answer, error) {
	folder, err := v.hubFolder()
	if err != nil {
		return hub.Answer{}, err
	}
	c, creds, err := hub.Owner(folder)
	if err != nil {
		joined, loadErr := v.f.Fleet.Load()
		if loadErr != nil || joined.Person == "" {
			return hub.Answer{}, err
		}
		c = joined
		if creds, err = fleet.ReadCredentials(joined.Person); err != nil {
			return hub.Answer{}, err
		}
		if creds.Role != api.RoleAdmin {
			return hub.Answer{}, api.Errorf(api.CodeForbidden, "ask hub: %s has the role %s; this needs admin", creds.Name, creds.Role)
		}
	}
	return hub.Ask(c, creds, what, in)
}

func (v *Commands) inviteCommand(kind fleet.Kind) *cobra.Command {
	r := hub.InviteRequest{Kind: kind}
	var role string
	cmd := &cobra.Command{
		Use: "machine NAME [--label K=V]", Short: "Invite a machine",
		Long: "Prints the command with which a machine joins, once and within a day. Its labels are part of its\n" +
			"credentials; commands select machines by them.",
		Example: "tandem hub invite machine web-1 --label role=web --label zone=b",
		Args:    factory.Exactly(1, "which "+string(kind)+"? Give a name."),
		RunE: func(_ *cobra.Command, args []string) error {
			r.Name, r.Role = args[0], fleet.Role(role)
			out, err := v.askHub("invite", r)
			if err != nil {
				return err
			}
			return v.f.Out.Answer(map[string]string{"name": r.Name, "kind": string(kind), "token": out.Token}, func() string { return "tandem join " + out.Token + "\n" })
		},
	}
	cmd.Flags().DurationVar(&r.Life, "for", 24*time.Hour, "how long the invitation is valid")
	if kind == fleet.KindMachine {
		cmd.Flags().StringArrayVar(&r.Labels, "label", nil, "a label `K=V`; may be repeated")
		return cmd
	}
	cmd.Use, cmd.Short = "person NAME --role "+strings.Join(fleet.Roles(), "|"), "Invite a person"
	cmd.Long = "Prints the command with which a person joins, once and within a day. read sees processes, sessions,\n" +
		"logs and the history; operate starts, types, stops and works on files too; admin does all that\n" +
		"a local user can, and manages the hub. A machine's own limits still apply."
	cmd.Example = "tandem hub invite person ann --role operate"
	cmd.Flags().StringVar(&role, "role", "", "what they may do: `ROLE` is "+strings.Join(fleet.Roles(), ", "))
	_ = cmd.MarkFlagRequired("role")
	_ = cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(fleet.Roles(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (v *Commands) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the state of the hub", Long: "Shows the hub's address, its members and its load.", Example: "tandem hub status",
		RunE: func(*cobra.Command, []string) error {
			out, err := v.askHub("status", nil)
			if err != nil {
				return err
			}
			s := out.Status
			return v.f.Out.Answer(s, func() string {
				return fmt.Sprintf("address      %s\nmachines     %d\npeople       %d\ninvitations  %d\nconnections  %d\nmemory       %d MB\nmessages     %d in, %d out\n",
					output.Visible(s.Address), s.Machines, s.People, s.Invitations, s.Connections, s.Memory>>20, s.InMsgs, s.OutMsgs)
			})
		},
	}
}

func (v *Commands) peopleCommand() *cobra.Command {
	return &cobra.Command{
		Use: "people", Short: "List who has joined", Long: "Lists the people and machines that have joined.", Example: "tandem hub people",
		RunE: func(*cobra.Command, []string) error {
			out, err := v.askHub("members", nil)
			if err != nil {
				return err
			}
			return output.AnswerList(v.f.Out, out.Members, "no members yet; `tandem hub invite` invites one", func() string {
				t := v.f.Out.Table("NAME", "KIND", "ROLE", "JOINED", "INVITED BY", "LABELS")
				for _, m := range out.Members {
					t.Add(output.Tinted(output.Visible(m.Name), output.Strong), output.Text(string(m.Kind)), output.Text(cmp.Or(string(m.Role), "-")),
						output.Text(units.Age(time.Since(m.Joined))), output.Text(output.Visible(m.Invited)), output.Text(cmp.Or(strings.Join(m.Labels, ","), "-")))
				}
				return t.String()
			})
		},
	}
}

func (v *Commands) revokeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Short: "Revoke the access of a machine or a person",
		Long:    "Disconnects a machine or person immediately and rejects their keys from then on.\nTheir open invitations are revoked too.",
		Example: "tandem hub revoke ann",
		Args:    factory.Exactly(1, "whom? Give a name."), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			out, err := v.askHub("revoke", args[0])
			if err != nil {
				return err
			}
			return v.f.Out.Answer(map[string]string{"name": args[0], "revoked": strconv.Itoa(out.Count)}, func() string { return "revoked " + output.Visible(args[0]) + "\n" })
		},
	}
}
