package cli

import (
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
	"tandem/ui/cli/codingagents"
	"tandem/ui/cli/output"
	"tandem/ui/cli/setup"
)

func agentCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agent COMMAND",
		Short: "Set up agents' programs and their hooks; report and explain what they are doing",
		Long: "Connects agents' programs (Claude Code, Codex, Cursor and others) to Tandem, and explains\n" +
			"what Tandem knows about those running in sessions. `tandem agents` lists them.",
		Example: "tandem agent setup claude\ntandem agent hooks install claude\ntandem agent explain work",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	explain := codingagents.Explain(agentVerbs(a))
	explain.Args, explain.ValidArgsFunction = exactly(1, "which session? Give an id or name."), a.completeSession(isLive)
	hooks := codingagents.Hooks(agentVerbs(a), func(cmd *cobra.Command) {
		cmd.Args, cmd.ValidArgsFunction = exactly(1, "which agent? Give its name."), first(codingagents.CompleteHooks)
		if cmd.Name() == "status" {
			cmd.Args = atMost(1)
		}
	})
	cmd.AddCommand(agentSetupCommand(a), codingagents.Report(agentVerbs(a)), explain, hooks)
	return cmd
}

func worktreeCommand(a *app) *cobra.Command {
	return codingagents.Worktrees(agentVerbs(a), func(cmd *cobra.Command) {
		cmd.Args = exactly(1, "which worktree? Give its branch.")
	})
}

// agentVerbs returns the options of the commands about agents in sessions.
func agentVerbs(a *app) codingagents.Verbs {
	return codingagents.Verbs{
		Out: &a.out, Connect: a.connect, Home: a.displayPath, Host: a.host, Folder: a.folder, Sessions: a.completeSessions(isLive),
		Own:   func() string { return a.env(ownSession) },
		Reach: a.Reach, Stdin: a.Stdin, AtTerminal: codingagents.AtTerminal, Machine: a.setupMachine, Confirm: a.confirm,
	}
}

// displayPath returns path with a tilde for the home directory. It leaves paths of another machine
// unchanged, because that machine's home directory is unknown.
func (a *app) displayPath(path string) string {
	if a.host() != "" {
		return path
	}
	return home(path)
}

type setupFlags struct {
	project, print, remove, yes bool
	wish                        setup.ServerOptions
}

func (f *setupFlags) add(flags *pflag.FlagSet, profiles []string) {
	flags.BoolVar(&f.project, "project", false, "in the settings of the project in this folder, not in yours")
	flags.BoolVar(&f.print, "print", false, "print the settings and write nothing")
	flags.BoolVar(&f.remove, "remove", false, "undo: remove Tandem from the settings")
	flags.StringSliceVar(&f.wish.Profiles, "profile", nil, "tool `sets`, of "+strings.Join(profiles, ", ")+" (default native)")
	flags.StringArrayVar(&f.wish.Roots, "root", nil, "confine file tools to this `folder`")
	flags.BoolVar(&f.wish.ReadOnly, "read-only", false, "only tools that change nothing")
	flags.StringVar(&f.wish.HTTP, "http", "", "use the server at this `URL`, http://127.0.0.1:7777/mcp for example")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
}

func agentSetupCommand(a *app) *cobra.Command {
	var f setupFlags
	cmd := &cobra.Command{
		Use:   "setup [CLIENT]",
		Short: "Add Tandem to a client's settings",
		Long: "Adds Tandem to the settings of an agent's program, a client, or removes it again. It shows the\n" +
			"change and asks first; comments and everything else in the file stay as they are. Without CLIENT\n" +
			"it lists the clients it knows, which of them are here, and which are set up.\n\n" +
			"Clients: " + strings.Join(setup.ClientNames(), ", ") + ".",
		Example: "tandem agent setup\ntandem agent setup claude\ntandem agent setup cursor --project --root .\n" +
			"tandem agent setup codex --print\ntandem agent setup claude --remove",
		Args: atMost(1),
		ValidArgsFunction: first(func(*cobra.Command, []string, string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
			for _, c := range setup.Clients() {
				found = append(found, cobra.CompletionWithDesc(c.Name, c.Title))
			}
			return found, cobra.ShellCompDirectiveNoFileComp
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := a.setupMachine()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return a.listClients(cmd, m)
			}
			c, known := setup.FindClient(args[0])
			if !known {
				return output.UsageError(fmt.Sprintf("unknown client %q", output.Visible(args[0])), "known are "+strings.Join(setup.ClientNames(), ", "))
			}
			if err := f.check(cmd, c, a.Profiles); err != nil {
				return err
			}
			return a.setUp(m, c, f)
		},
	}
	f.add(cmd.Flags(), a.Profiles)
	_ = cmd.RegisterFlagCompletionFunc("profile", cobra.FixedCompletions(a.Profiles, cobra.ShellCompDirectiveNoFileComp)) // fails only for unknown flags
	_ = cmd.RegisterFlagCompletionFunc("root", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	})
	_ = cmd.RegisterFlagCompletionFunc("http", cobra.FixedCompletions([]string{"http://127.0.0.1:7777/mcp"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// setupMachine returns the home, directories and program that `tandem agent setup` works with.
func (a *app) setupMachine() (setup.Machine, error) {
	home := a.env("HOME")
	if !filepath.IsAbs(home) {
		return setup.Machine{}, output.UsageError("find settings: there is no home directory", "set HOME")
	}
	m := setup.Machine{Home: home, Env: a.env}
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
func (f *setupFlags) check(cmd *cobra.Command, c setup.Client, profiles []string) error {
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
	case f.remove && changed("print", "http") != "":
		return output.Usagef(cmd, "--%s cannot be used with --remove", changed("print", "http"))
	case f.remove && serving != "":
		return output.Usagef(cmd, "--%s cannot be used with --remove", serving)
	case f.wish.HTTP != "" && serving != "":
		return output.UsageError("--"+serving+" cannot be used with --http", "give it to `tandem --serve --http`, or to a token's line")
	case f.wish.HTTP != "" && !isURL(f.wish.HTTP):
		return output.Usagef(cmd, "--http %s: must be a URL such as http://127.0.0.1:7777/mcp", output.Visible(f.wish.HTTP))
	case f.wish.HTTP != "" && !c.TakesHTTP():
		return output.UsageError(fmt.Sprintf("set up %s over HTTP: it cannot read a token from a variable", c.Title), "leave out --http, or see docs/agents.md to do it by hand")
	}
	if err := checkProfiles(cmd, f.wish.Profiles, profiles); err != nil {
		return err
	}
	return absoluteRoots(cmd, f.wish.Roots)
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// listClients lists the clients that can be set up, and their state.
func (a *app) listClients(cmd *cobra.Command, m setup.Machine) error {
	for _, name := range []string{"project", "print", "remove", "profile", "root", "read-only", "http", "yes"} {
		if cmd.Flags().Changed(name) {
			return output.Usagef(cmd, "--%s needs a client", name)
		}
	}
	states := m.States()
	return a.out.Answer(states, func() string {
		t := a.out.Table("CLIENT", "HERE", "SET UP", "SETTINGS")
		for _, s := range states {
			here, tint := "no", output.Faint
			if s.Found {
				here, tint = "yes", output.Plain
			}
			t.Add(output.Tinted(s.Name, tint), output.Tinted(here, tint), setUpCell(s), output.Tinted(output.Visible(home(s.User)), tint))
		}
		text := t.String()
		for _, s := range states {
			if s.Error != "" {
				text += output.Visible(s.Name+": "+s.Error) + "\n"
			}
		}
		return text
	})
}

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
	Client string   `json:"client"`
	Path   string   `json:"path"`
	Status string   `json:"status"` // written, removed, unchanged
	Diff   []string `json:"diff,omitempty"`
}

// setUp changes a client's settings, or with --print prints them.
func (a *app) setUp(m setup.Machine, c setup.Client, f setupFlags) error {
	if f.project && !c.HasProject() {
		return output.UsageError(fmt.Sprintf("set up %s: it has no settings for one project", c.Title), "leave out --project")
	}
	if f.print {
		text, path, err := m.Snippet(c, f.wish, f.project)
		if err != nil {
			return err
		}
		a.tellToken(m, f)
		return a.out.Answer(map[string]any{"client": c.Name, "path": path, "text": text}, func() string { return output.VisibleLines(text) })
	}
	plan, err := m.Add(c, f.wish, f.project)
	answer := setupAnswer{c.Name, "", "written", nil}
	if f.remove {
		plan, err = m.Remove(c, f.project)
		answer.Status = "removed"
	}
	if err != nil {
		return err
	}
	if answer.Path = plan.Path; !plan.Changed() {
		answer.Status = "unchanged"
	} else if answer.Diff = plan.Diff(); !a.out.JSON {
		// With --json the diff is part of the answer.
		a.out.Tell("%s\n%s", plan.Path, strings.Join(answer.Diff, "\n"))
	}
	if plan.Changed() && !f.yes {
		if err := a.confirm("set up "+c.Title, "Change this file?"); err != nil {
			return err
		}
	}
	if plan.Changed() {
		if err := plan.Write(); err != nil {
			return err
		}
	}
	if !f.remove {
		a.tellToken(m, f)
	}
	return a.out.Answer(answer, func() string { return setupText(c, answer, f.remove) })
}

func setupText(c setup.Client, answer setupAnswer, remove bool) string {
	where := output.Visible(home(answer.Path))
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
func (a *app) tellToken(m setup.Machine, f setupFlags) {
	names := m.PersonalVariables()
	switch {
	case f.wish.HTTP != "":
		a.out.Tell("set %s where the client starts: to a token of %s", setup.TokenVariable, filepath.Join(m.DataDir, datadir.AgentTokens))
	case f.project && len(names) > 0:
		a.out.Tell("before you share this file, remove your own paths: %s", strings.Join(names, ", "))
	}
}
