package manual

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// WritePages writes tandem.1 and a page for each command to dir, which it creates if necessary.
func WritePages(dir string, root *cobra.Command, version string) error {
	pages := map[string]string{root.Name(): Page(root, version)}
	for _, verb := range root.Commands() {
		if verb.IsAvailableCommand() {
			pages[root.Name()+"-"+verb.Name()] = verbPage(verb, version)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write manual pages: %w", err)
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(dir, name+".1"), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write manual page: %w", err)
		}
	}
	return nil
}

// The pages use the macros of man(7).

// Page returns the manual page of the whole program.
func Page(root *cobra.Command, version string) string {
	var b strings.Builder
	manHead(&b, root.Name(), version, root.Short)
	b.WriteString(".SH SYNOPSIS\n.B tandem\n.br\n.B tandem\n\\fIVERB\\fR \\[u2026]\n.br\n.B tandem \\-\\-serve\n[\\fIflags\\fR]\n")
	b.WriteString(".SH DESCRIPTION\n")
	manText(&b, root.Long)
	manFlags(&b, ".SH OPTIONS\n", root.LocalFlags())
	b.WriteString(".SH VERBS\n")
	manCommands(&b, root)
	manTerms(&b, ".SH ENVIRONMENT\n", ".B", [][2]string{
		{"TANDEM_DATA_DIR", "The data folder; by default $XDG_STATE_HOME/tandem or ~/.local/state/tandem."},
		{"TANDEM_CONFIG_DIR", "The folder of config.toml; by default tandem in $XDG_CONFIG_HOME or ~/.config."},
		{"SHELL", "The shell of new sessions."},
		{"NO_COLOR", "If set, no colours are used."},
	})
	manTerms(&b, ".SH FILES\n", ".I", [][2]string{
		{"~/.config/tandem/config.toml", "Settings; each key is optional."},
		{"~/.config/tandem/policy.toml", "What agents may do."},
		{"~/.local/state/tandem", "Records and logs of sessions and processes, and the history."},
	})
	manTerms(&b, ".SH EXIT STATUS\n", ".B", [][2]string{{"0", "success"}, {"1", "failure"}, {"2", "usage error"}})
	b.WriteString(".PP\n.B tandem exec\nexits with the status of its command.\n")
	manExamples(&b, root)
	return b.String()
}

// verbPage returns the manual page of one command.
func verbPage(verb *cobra.Command, version string) string {
	var b strings.Builder
	manHead(&b, "tandem-"+verb.Name(), version, verb.Short)
	b.WriteString(".SH SYNOPSIS\n.B " + roff("tandem "+verb.Use) + "\n.SH DESCRIPTION\n")
	manText(&b, description(verb))
	manFlags(&b, ".SH OPTIONS\n", verb.LocalFlags())
	manCommands(&b, verb)
	manExamples(&b, verb)
	b.WriteString(".SH SEE ALSO\n.BR tandem (1)\n")
	return b.String()
}

func manHead(b *strings.Builder, name, version, short string) {
	fmt.Fprintf(b, ".TH %s 1 \"\" \"tandem %s\" \"Tandem\"\n.SH NAME\n%s \\- %s\n",
		roff(strings.ToUpper(name)), roff(version), roff(name), roff(strings.ToLower(short[:1])+short[1:]))
}

// manCommands writes a section about each subcommand of parent, and about their subcommands.
func manCommands(b *strings.Builder, parent *cobra.Command) {
	for _, verb := range parent.Commands() {
		if !verb.IsAvailableCommand() || verb.Name() == "help" {
			continue
		}
		use := parent.CommandPath() + " " + verb.Use
		b.WriteString(".SS " + roff(strings.TrimPrefix(verb.CommandPath(), "tandem ")) + "\n.B " + roff(use) + "\n.PP\n")
		manText(b, description(verb))
		manFlags(b, "", verb.LocalNonPersistentFlags())
		manCommands(b, verb)
	}
}

// manTerms writes a section of terms and their meanings. macro selects the font of the terms.
func manTerms(b *strings.Builder, title, macro string, terms [][2]string) {
	b.WriteString(title)
	for _, t := range terms {
		fmt.Fprintf(b, ".TP\n%s %s\n%s\n", macro, roff(t[0]), roff(t[1]))
	}
}

// manText writes text as paragraphs, separated by empty lines. Lines are filled, except those that
// begin with a blank.
func manText(b *strings.Builder, text string) {
	fixed := false
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line = strings.TrimRight(line, " \n")
		// .nf and .fi switch filling off and on, so they are needed only at a change.
		if as := strings.HasPrefix(line, " "); as != fixed {
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[as])
			fixed = as
		}
		if line == "" {
			b.WriteString(".PP\n")
			continue
		}
		b.WriteString(roff(line) + "\n")
	}
	if fixed {
		b.WriteString(".fi\n")
	}
}

func manFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" && title == "" {
			return
		}
		b.WriteString(title + ".TP\n")
		title = ""
		if f.Shorthand != "" {
			b.WriteString(`\fB\-` + roff(f.Shorthand) + `\fR, `)
		}
		value, usage := pflag.UnquoteUsage(f)
		b.WriteString(`\fB\-\-` + roff(f.Name) + `\fR`)
		if value != "" {
			b.WriteString(` \fI` + roff(value) + `\fR`)
		}
		b.WriteString("\n" + roff(usage) + "\n")
	})
	if title == "" {
		b.WriteString(".PP\n")
	}
}

// manExamples writes a command's examples, without filling their lines.
func manExamples(b *strings.Builder, cmd *cobra.Command) {
	if cmd.Example == "" {
		return
	}
	b.WriteString(".SH EXAMPLES\n.nf\n")
	for line := range strings.Lines(cmd.Example) {
		b.WriteString(roff(strings.TrimSuffix(line, "\n")) + "\n")
	}
	b.WriteString(".fi\n")
}

// roff escapes text so that it contains no roff requests or escapes.
func roff(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case i == 0 && (r == '.' || r == '\''):
			b.WriteString(`\&` + string(r))
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '"':
			b.WriteString(`\(dq`)
		case r < ' ':
			b.WriteByte(' ')
		case r >= utf8.RuneSelf:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
