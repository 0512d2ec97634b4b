package codingagents

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tandem/engine/api"
	"tandem/persist/datadir"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
	"tandem/ui/cli/setup"
)

// NewAgent returns the command agent.
func NewAgent(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agent COMMAND",
		Short: "Set up agents' programs and their hooks; report and explain what they are doing",
		Long: "Connects agents' programs (Claude Code, Codex, Cursor and others) to Tandem, and explains\n" +
			"what Tandem knows about those running in sessions. `tandem agents` lists them.",
		Example:     "tandem agent setup claude\ntandem agent hooks install claude\ntandem agent explain work",
		Annotations: factory.Here.Annotations(),
		RunE:        func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSetup(f), newReport(f), newExplain(f), newHooks(f))
	return cmd
}

type setupFlags struct {
	project, print, remove, yes bool
	wish                        setup.ServerOptions
}

func (opts *setupFlags) add(flags *pflag.FlagSet, profiles []string) {
	flags.BoolVar(&opts.project, "project", false, "change the settings of the project in this folder, not your own")
	flags.BoolVar(&opts.print, "print", false, "print the settings and write nothing")
	flags.BoolVar(&opts.remove, "remove", false, "remove Tandem from the settings")
	flags.StringSliceVar(&opts.wish.Profiles, "profile", nil, "tool `sets`, of "+strings.Join(profiles, ", ")+" (default native)")
	flags.StringArrayVar(&opts.wish.Roots, "root", nil, "confine file tools to this `folder`")
	flags.BoolVar(&opts.wish.ReadOnly, "read-only", false, "only tools that change nothing")
	flags.StringVar(&opts.wish.HTTP, "http", "", "use the server at this `URL`, http://127.0.0.1:7777/mcp for example")
	flags.BoolVarP(&opts.yes, "yes", "y", false, "do not ask")
}

func newSetup(f *factory.Factory) *cobra.Command {
	var opts setupFlags
	cmd := &cobra.Command{
		Use:   "setup [CLIENT]",
		Short: "Add Tandem to a client's settings",
		Long: "Adds Tandem to the settings of an agent's program (the client), or removes it again. It runs the\n" +
			"client's own command for this if there is one. Otherwise it edits one entry of the client's file;\n" +
			"comments and everything else stay as they are. It shows the command or the change and asks first.\n" +
			"Without CLIENT it lists the known clients, which of them are installed, and which are set up.\n\n" +
			"Clients: " + strings.Join(setup.ClientNames(), ", ") + ".",
		Example: "tandem agent setup\ntandem agent setup claude\ntandem agent setup cursor --project --root .\n" +
			"tandem agent setup codex --print\ntandem agent setup claude --remove",
		Args: factory.AtMost(1),
		ValidArgsFunction: factory.First(func(*cobra.Command, []string, string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
			for _, c := range setup.Clients() {
				found = append(found, cobra.CompletionWithDesc(c.Name, c.Title))
			}
			return found, cobra.ShellCompDirectiveNoFileComp
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := ThisMachine(f.Env)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return listClients(f, cmd, m)
			}
			c, known := setup.FindClient(args[0])
			if !known {
				return output.UsageError(fmt.Sprintf("unknown client %q", output.Visible(args[0])), "known are "+strings.Join(setup.ClientNames(), ", "))
			}
			if err := opts.check(cmd, c, f.Profiles); err != nil {
				return err
			}
			return setUp(cmd.Context(), f, m, c, opts)
		},
	}
	opts.add(cmd.Flags(), f.Profiles)
	factory.CompleteFlag(cmd, "profile", f.Profiles...)
	_ = cmd.MarkFlagDirname("root") // fails only for an unknown flag
	factory.CompleteFlag(cmd, "http", "http://127.0.0.1:7777/mcp")
	return cmd
}

// ThisMachine returns the user, the directories and the program of this process.
func ThisMachine(env func(name string) string) (setup.Machine, error) {
	home := env("HOME")
	if !filepath.IsAbs(home) {
		return setup.Machine{}, output.UsageError("find settings: there is no home directory", "set HOME")
	}
	m := setup.Machine{Home: home, Env: env}
	if account, err := user.LookupId(strconv.Itoa(os.Getuid())); err == nil {
		m.AccountHome = account.HomeDir
	}
	var err, err2, err3 error
	m.Dir, err = os.Getwd()
	m.DataDir, err2 = api.DataDir()
	m.Program, err3 = os.Executable()
	return m, errors.Join(err, err2, err3)
}

// check rejects flags that cannot be combined or that c does not support. It makes the paths of
// --root absolute.
func (opts *setupFlags) check(cmd *cobra.Command, c setup.Client, profiles []string) error {
	changed := func(names ...string) string {
		for _, name := range names {
			if cmd.Flags().Changed(name) {
				return name
			}
		}
		return ""
	}
	serving := changed("profile", "root", "read-only")
	switch {
	case opts.remove && changed("print", "http") != "":
		return output.Usagef(cmd, "--%s cannot be used with --remove", changed("print", "http"))
	case opts.remove && serving != "":
		return output.Usagef(cmd, "--%s cannot be used with --remove", serving)
	case opts.wish.HTTP != "" && serving != "":
		return output.UsageError("--"+serving+" cannot be used with --http", "give it to `tandem --serve --http`, or write it on a token's line")
	case opts.wish.HTTP != "" && !isURL(opts.wish.HTTP):
		return output.Usagef(cmd, "--http %s: must be a URL such as http://127.0.0.1:7777/mcp", output.Visible(opts.wish.HTTP))
	case opts.wish.HTTP != "" && !c.TakesHTTP():
		return output.UsageError(fmt.Sprintf("set up %s over HTTP: it cannot read a token from a variable", c.Title), "leave out --http, or see docs/agents.md to do it by hand")
	}
	if err := factory.CheckProfiles(cmd, opts.wish.Profiles, profiles); err != nil {
		return err
	}
	return factory.AbsoluteRoots(cmd, opts.wish.Roots)
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// listClients lists the clients that can be set up, and their state.
func listClients(f *factory.Factory, cmd *cobra.Command, m setup.Machine) error {
	for _, name := range []string{"project", "print", "remove", "profile", "root", "read-only", "http", "yes"} {
		if cmd.Flags().Changed(name) {
			return output.Usagef(cmd, "--%s needs a client", name)
		}
	}
	states := m.States()
	return f.Out.Answer(states, func() string {
		t := settingsTable{f.Out.Table("CLIENT", "HERE", "SET UP", "SETTINGS"), ""}
		for _, s := range states {
			t.add(s.Name, s.Found, setUpCell(s), s.User, s.Error)
		}
		return t.text()
	})
}

// A settingsTable lists agents' programs and their settings, followed by the errors.
type settingsTable struct {
	*output.Table
	errors string
}

func (t *settingsTable) add(name string, found bool, state output.Cell, path, err string) {
	here, tint := "no", output.Faint
	if found {
		here, tint = "yes", output.Plain
	}
	t.Add(output.Tinted(name, tint), output.Tinted(here, tint), state, output.Tinted(output.Visible(factory.TildePath(path)), tint))
	if err != "" {
		t.errors += output.Visible(name+": "+err) + "\n"
	}
}

func (t *settingsTable) text() string { return t.String() + t.errors }

func setUpCell(s setup.ClientState) output.Cell {
	switch {
	case s.Error != "":
		return output.Tinted("unreadable", output.Red)
	case s.SetUp:
		return output.Tinted("yes", output.Green)
	case s.SetUpInProject:
		return output.Tinted("in this project", output.Green)
	}
	return output.Tinted("no", output.Faint)
}

// A setupAnswer is the JSON output of `tandem agent setup CLIENT`.
type setupAnswer struct {
	Client string `json:"client"`
	change
}

// A change is the part of a JSON output about a settings file.
type change struct {
	Path     string   `json:"path"`
	Status   string   `json:"status"` // written, installed, removed, unchanged
	Diff     []string `json:"diff,omitempty"`
	Commands []string `json:"commands,omitempty"` // run instead of writing the file
}

// setUp changes a client's settings, or with --print prints them.
func setUp(ctx context.Context, f *factory.Factory, m setup.Machine, c setup.Client, opts setupFlags) error {
	if opts.project && !c.HasProject() {
		return output.UsageError(fmt.Sprintf("set up %s: it has no settings for one project", c.Title), "leave out --project")
	}
	if opts.print {
		text, path, err := m.Snippet(c, opts.wish, opts.project)
		if err != nil {
			return err
		}
		tellToken(f, m, opts)
		return f.Out.Answer(map[string]any{"client": c.Name, "path": path, "text": text}, func() string { return output.VisibleLines(text) })
	}
	plan, err := m.Add(c, opts.wish, opts.project)
	done := "written"
	if opts.remove {
		plan, err = m.Remove(c, opts.project)
		done = "removed"
	}
	if err != nil {
		return err
	}
	made, err := applyPlan(ctx, f, plan, "set up "+c.Title, done, opts.yes)
	if err != nil {
		return err
	}
	if !opts.remove {
		tellToken(f, m, opts)
	}
	return f.Out.Answer(setupAnswer{c.Name, made}, func() string { return setupText(c, made, opts.remove) })
}

// applyPlan shows a planned change, and makes it after the user confirms it. done is the status of
// a change that was made.
func applyPlan(ctx context.Context, f *factory.Factory, p *setup.Plan, what, done string, yes bool) (change, error) {
	if !p.Changed() {
		return change{Path: p.Path, Status: "unchanged"}, nil
	}
	made := change{p.Path, done, p.Diff(), p.Commands()}
	heading, lines, question := p.Path, made.Diff, "Change this file?"
	if len(made.Commands) > 0 {
		heading, lines, question = "To change "+p.Path+", Tandem runs:", made.Commands, "Run this?"
	}
	if !f.Out.JSON { // with --json the lines are part of the answer
		f.Out.Tell("%s\n%s", heading, strings.Join(lines, "\n"))
	}
	if !yes {
		if err := f.Confirm(what, question); err != nil {
			return change{}, err
		}
	}
	return made, p.Write(ctx)
}

func setupText(c setup.Client, answer change, remove bool) string {
	where := output.Visible(factory.TildePath(answer.Path))
	switch {
	case answer.Status == "removed":
		return fmt.Sprintf("removed from %s; restart %s if it is running\n", where, c.Title)
	case answer.Status == "written":
		return fmt.Sprintf("%s is set up; restart it if it is running\n", c.Title)
	case remove:
		return fmt.Sprintf("not set up in %s\n", where)
	}
	return fmt.Sprintf("%s is already set up in %s\n", c.Title, where)
}

// tellToken prints a note about the variable to set for a server over HTTP, or about the personal
// paths in a project's settings.
func tellToken(f *factory.Factory, m setup.Machine, opts setupFlags) {
	names := m.PersonalVariables()
	switch {
	case opts.wish.HTTP != "":
		f.Out.Tell("set %s, where the client starts, to a token from %s", setup.TokenVariable, filepath.Join(m.DataDir, datadir.AgentTokens))
	case opts.project && len(names) > 0:
		f.Out.Tell("before you share this file, remove your own paths: %s", strings.Join(names, ", "))
	}
}
