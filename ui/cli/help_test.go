package cli

import (
	"slices"
	"strings"
	"tandem/ui/cli/factory"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestHelpNamesFlagValues(t *testing.T) {
	kinds := []string{"string", "strings", "stringArray", "int", "float"}
	visitCommands(newRoot(factory.New(factory.Options{Version: "1"})), func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if name, _ := pflag.UnquoteUsage(f); slices.Contains(kinds, name) {
				t.Errorf("%s --%s takes a %q", cmd.CommandPath(), f.Name, name)
			}
		})
	})
}

func TestEveryCommandHasAnExample(t *testing.T) {
	visitCommands(newRoot(factory.New(factory.Options{Version: "1"})), func(cmd *cobra.Command) {
		if !strings.Contains(cmd.Example, "tandem") {
			t.Errorf("%s: %q", cmd.CommandPath(), cmd.Example)
		}
	})
}

func TestCompletionContainsNoHelpMarkup(t *testing.T) {
	r := newRig(t)
	got, _, status := r.run("__complete", "rec", "--out")
	if status != 0 || !strings.HasPrefix(got, "--output\tfile to write") {
		t.Errorf("status %d, %q", status, got)
	}
}

// visitCommands calls f for cmd and its visible subcommands.
func visitCommands(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			visitCommands(c, f)
		}
	}
}

func TestHelpListsMachineFlagsOnlyWhereSupported(t *testing.T) {
	r := newRig(t)
	for line, want := range map[string]string{"": "--host --all-hosts", "ps": "--host --all-hosts", "new": "--host", "doctor": "", "config show": ""} {
		got, _, _ := r.run(append(strings.Fields(line), "--help")...)
		var flags []string
		for _, flag := range []string{"--host", "--all-hosts"} {
			if strings.Contains(got, " "+flag+" ") {
				flags = append(flags, flag)
			}
		}
		if strings.Join(flags, " ") != want {
			t.Errorf("tandem %s --help has %q, want %q", line, flags, want)
		}
	}
}
