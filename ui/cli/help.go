package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// help prints what a verb does, how it is used, and an example.
func (a *app) help(cmd *cobra.Command) {
	var b strings.Builder
	paint := a.painter()
	section := func(title string) { fmt.Fprintf(&b, "\n%s\n", paint(strong, title)) }

	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	fmt.Fprintln(&b, text)
	section("Usage")
	fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	if cmd.HasAvailableSubCommands() {
		if !cmd.HasParent() {
			fmt.Fprintf(&b, "  %s VERB …\n", cmd.CommandPath())
		}
		section("Verbs")
		writeVerbs(&b, cmd)
	}
	if cmd.HasExample() {
		section("Examples")
		for line := range strings.Lines(strings.TrimSpace(cmd.Example)) {
			fmt.Fprintf(&b, "  %s\n", strings.TrimSuffix(line, "\n"))
		}
	}
	if flags := strings.TrimRight(cmd.LocalFlags().FlagUsages(), "\n"); flags != "" {
		section("Flags")
		fmt.Fprintln(&b, flags)
	}
	if inherited := strings.TrimRight(cmd.InheritedFlags().FlagUsages(), "\n"); inherited != "" {
		fmt.Fprintln(&b, inherited)
	}
	if !cmd.HasParent() {
		section("More")
		b.WriteString("  tandem VERB --help tells more about a verb.\n" +
			"  An ID may be shortened as long as only one session has it; a name does too.\n" +
			"  $TANDEM_DATA_DIR is the data folder, by default ~/.local/state/tandem.\n")
	}
	fmt.Fprint(a.Stdout, b.String()) // if that fails there is nobody to tell
}

func writeVerbs(b *strings.Builder, cmd *cobra.Command) {
	width := 0
	for _, c := range cmd.Commands() {
		width = max(width, len(c.Name()))
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			fmt.Fprintf(b, "  %-*s  %s\n", width, c.Name(), c.Short)
		}
	}
}
