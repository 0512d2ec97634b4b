package manual

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tandem/ui/cli/output"
)

// A page is the JSON output of a command's help.
type page struct {
	Command  string   `json:"command"`
	Text     string   `json:"text"`
	Commands []string `json:"commands"` // names of its subcommands
}

// Help prints a command's description, usage, examples and flags. It omits the inherited flags
// named by unsupported.
func Help(out output.Printer, cmd *cobra.Command, unsupported ...string) {
	var b strings.Builder
	paint := out.Painter()
	if out.JSON {
		paint = func(_ output.Tint, s string) string { return s }
	}
	section := func(title string) { fmt.Fprintf(&b, "\n%s\n", paint(output.Strong, title)) }

	fmt.Fprintln(&b, description(cmd))
	section("Usage")
	fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	if cmd.HasAvailableSubCommands() {
		if !cmd.HasParent() {
			fmt.Fprintf(&b, "  %s COMMAND …\n", cmd.CommandPath())
		}
		section("Commands")
		writeCommands(&b, cmd)
	}
	if cmd.HasExample() {
		section("Examples")
		for line := range strings.Lines(strings.TrimSpace(cmd.Example)) {
			fmt.Fprintf(&b, "  %s\n", strings.TrimSuffix(line, "\n"))
		}
	}
	// A copy of the flags, because cobra has no way to hide an inherited one for a single command.
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.AddFlagSet(cmd.LocalFlags())
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(unsupported, f.Name) {
			flags.AddFlag(f)
		}
	})
	section("Flags")
	b.WriteString(flags.FlagUsages())
	if !cmd.HasParent() {
		section("More")
		b.WriteString("  tandem COMMAND --help shows more about a command.\n" +
			"  An ID may be shortened to a unique prefix; a name works too.\n" +
			"  $TANDEM_DATA_DIR is the data folder, by default ~/.local/state/tandem.\n")
	}
	verbs := []string{}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			verbs = append(verbs, c.Name())
		}
	}
	_ = out.Answer(page{cmd.CommandPath(), b.String(), verbs}, b.String) // a failure cannot be reported anywhere
}

// description returns the longest description of a command.
func description(cmd *cobra.Command) string { return cmp.Or(cmd.Long, cmd.Short+".") }

func writeCommands(b *strings.Builder, cmd *cobra.Command) {
	width := 0
	for _, c := range cmd.Commands() {
		width = max(width, len(c.Name()))
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			fmt.Fprintf(b, "  %-*s  %s\n", width, c.Name(), c.Short)
		}
	}
}

// NameExtras replaces the texts of the command and flags added by cobra.
func NameExtras(root *cobra.Command) {
	// Cobra adds these on execution only, too late to change their texts.
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Use = "help [COMMAND]"
	help.DisableFlagsInUseLine = true
	help.Short = "Show help for a command"
	help.Long = "Shows the help of a command, as its flag --help does, or that of tandem."
	help.Example = "tandem help start\ntandem help history add"
	help.Run = nil
	help.RunE = helpVerb
	nameHelp(root)
}

// helpVerb implements `tandem help COMMAND`.
func helpVerb(cmd *cobra.Command, args []string) error {
	of, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return output.Usagef(cmd, "unknown command %q", output.Visible(strings.Join(args, " ")))
	}
	return of.Help()
}

// nameHelp sets the usage of --help for a command and its subcommands.
func nameHelp(cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	cmd.Flags().Lookup("help").Usage = "show this help"
	for _, c := range cmd.Commands() {
		nameHelp(c)
	}
}
