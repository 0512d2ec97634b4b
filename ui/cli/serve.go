package cli

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

type serveFlags struct {
	serve bool
	o     factory.ServeOptions
}

func (f *serveFlags) add(flags *pflag.FlagSet, profiles []string) {
	flags.BoolVar(&f.serve, "serve", false, "serve agents: the Model Context Protocol on standard input and output")
	flags.StringVar(&f.o.HTTP, "http", "", "with --serve: serve over HTTP on this `address`, such as 127.0.0.1:7777")
	flags.StringSliceVar(&f.o.Profiles, "profile", nil, "with --serve: tool `sets`, of "+strings.Join(profiles, ", ")+" (default native)")
	flags.StringVar(&f.o.As, "as", "", "with --serve: the agent's `name` in the rules of policy.toml")
	flags.BoolVar(&f.o.ReadOnly, "read-only", false, "with --serve: only tools that change nothing")
	flags.StringVar(&f.o.ToolPrefix, "tool-prefix", "", "with --serve: prefix each tool's name with this `text`")
	flags.BoolVar(&f.o.ReadUnbounded, "read-unbounded", false, "with --serve: return whole files from the tool read")
	flags.StringArrayVar(&f.o.Roots, "root", nil, "with --serve: confine file tools to this `folder` (default: this one)")
	flags.StringVar(&f.o.TokenFile, "token-file", "", "with --http: `file` of the bearer tokens (default: agent-tokens in the data folder)")
	flags.StringSliceVar(&f.o.AllowHosts, "allow-host", nil, "with --http: another host `name` that requests may use")
	flags.StringSliceVar(&f.o.AllowOrigins, "allow-origin", nil, "with --http: `origin` of a web page that may send requests")
	flags.BoolVar(&f.o.Insecure, "insecure", false, "with --http: accept agents over a network without TLS")
}

// complete registers completions for the values of the flags.
func (f *serveFlags) complete(cmd *cobra.Command, profiles []string) {
	offer := func(flag string, complete cobra.CompletionFunc) {
		_ = cmd.RegisterFlagCompletionFunc(flag, complete) // fails only for unknown flags
	}
	offer("profile", cobra.FixedCompletions(profiles, cobra.ShellCompDirectiveNoFileComp))
	offer("http", cobra.FixedCompletions([]string{"127.0.0.1:7777"}, cobra.ShellCompDirectiveNoFileComp))
	offer("root", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	})
	for _, flag := range []string{"as", "tool-prefix", "allow-host", "allow-origin"} {
		offer(flag, cobra.NoFileCompletions)
	}
}

// check rejects flags that cannot be combined and makes paths absolute.
func (f *serveFlags) check(cmd *cobra.Command, profiles []string) error {
	for _, name := range []string{"http", "profile", "as", "read-only", "tool-prefix", "read-unbounded", "root"} {
		if !f.serve && cmd.Flags().Changed(name) {
			return output.Usagef(cmd, "--%s needs --serve", name)
		}
	}
	for _, name := range []string{"token-file", "allow-host", "allow-origin", "insecure"} {
		if f.o.HTTP == "" && cmd.Flags().Changed(name) {
			return output.Usagef(cmd, "--%s needs --serve --http", name)
		}
	}
	if err := factory.CheckProfiles(cmd, f.o.Profiles, profiles); err != nil {
		return err
	}
	if strings.Trim(f.o.ToolPrefix, nameLetters) != "" {
		return output.Usagef(cmd, "--tool-prefix %q: only letters, digits, _, - and . are allowed in a tool's name", output.Visible(f.o.ToolPrefix))
	}
	if cmd.Flags().Changed("as") && (f.o.As == "" || len(f.o.As) > maxAs || strings.Trim(f.o.As, nameLetters) != "") {
		return output.Usagef(cmd, "--as %q: give 1 to %d letters, digits, _, - and .", output.Visible(f.o.As), maxAs)
	}
	return f.absolute(cmd)
}

// maxAs is the maximum length of the name for --as.
const maxAs = 64

// nameLetters are the characters allowed in names of tools (MCP 2025-11-25, Tools, Tool Names) and
// of agents.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

func (f *serveFlags) absolute(cmd *cobra.Command) error {
	if err := factory.AbsoluteRoots(cmd, f.o.Roots); err != nil {
		return err
	}
	if f.o.TokenFile != "" {
		path, err := filepath.Abs(f.o.TokenFile)
		if err != nil {
			return output.Usagef(cmd, "--token-file %s: %v", output.Visible(f.o.TokenFile), err)
		}
		f.o.TokenFile = path
	}
	return nil
}
