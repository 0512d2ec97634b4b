package factory

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"tandem/engine/api"
	"tandem/ui/cli/output"
	"time"

	"github.com/spf13/cobra"
)

// Equivalents maps other programs' commands to hints about Tandem's.
var Equivalents = map[string]string{
	"run":     "use `tandem exec` to run a command and wait for it, or `tandem start` to start a process",
	"version": "use `tandem --version`",
	"status":  "use `tandem ps` to list processes and sessions, or `tandem info` to show the engine",

	"config edit": "to edit the configuration, run `$EDITOR \"$(tandem config path)\"`",
}

// AtLeast rejects fewer than n arguments, with the given error message.
func AtLeast(n int, message string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return output.Usagef(cmd, "%s", message)
		}
		return nil
	}
}

// Exactly requires n arguments. For fewer, it returns an error with the given message.
func Exactly(n int, message string) cobra.PositionalArgs {
	return cobra.MatchAll(AtMost(n), AtLeast(n, message))
}

// AtMost allows up to n arguments.
func AtMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			if hint, ok := Equivalents[cmd.Name()+" "+args[n]]; ok {
				return output.UsageError(fmt.Sprintf("unexpected argument %q", args[n]), hint)
			}
			return output.Usagef(cmd, "unexpected argument %q", output.Visible(args[n]))
		}
		return nil
	}
}

// TildePath abbreviates the home directory in path to a tilde.
func TildePath(path string) string {
	dir, _ := os.UserHomeDir() // on error dir is "", and TildePath changes nothing
	return api.TildePath(path, dir)
}

// CheckProfiles returns an error for an unknown profile in given.
func CheckProfiles(cmd *cobra.Command, given, profiles []string) error {
	for i, name := range given {
		if given[i] = strings.TrimSpace(name); !slices.Contains(profiles, given[i]) {
			return output.Usagef(cmd, "unknown profile %q; known are %s", output.Visible(name), strings.Join(profiles, ", "))
		}
	}
	return nil
}

// AbsoluteRoots makes the folders of --root absolute, in place. All must exist.
func AbsoluteRoots(cmd *cobra.Command, roots []string) error {
	for i, root := range roots {
		dir, err := filepath.Abs(root)
		if info, statErr := os.Stat(dir); err != nil || statErr != nil || !info.IsDir() {
			return output.Usagef(cmd, "--root %s: not a folder", output.Visible(root))
		}
		roots[i] = dir
	}
	return nil
}

// CompleteProgram lets the shell complete files, because programs and their arguments are files.
func CompleteProgram(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// CompleteFlag completes a flag of cmd with values.
func CompleteFlag(cmd *cobra.Command, flag string, values ...string) {
	// Fails only for unknown flags.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// A Duration is a flag value such as 500ms, 1m30s, or 90 for seconds.
type Duration time.Duration

func (d *Duration) String() string {
	if *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}

// Type implements pflag.Value.
func (d *Duration) Type() string { return "duration" }

// Set implements pflag.Value.
func (d *Duration) Set(s string) error {
	v, err := time.ParseDuration(s)
	// A number without a unit is in seconds.
	if seconds, plain := strconv.ParseFloat(s, 64); plain == nil {
		v, err = time.Duration(seconds*float64(time.Second)), nil
	}
	if err != nil || v < time.Millisecond || v > 1000*24*time.Hour {
		return errors.New("must be a duration of at least 1ms, such as 500ms, 30s or 5m")
	}
	*d = Duration(v)
	return nil
}

// Milliseconds returns the duration in milliseconds.
func (d Duration) Milliseconds() int { return int(time.Duration(d).Milliseconds()) }
