// Package machines implements `tandem machine`, and runs a command on several machines at once.
package machines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/hosts/transport"
	"tandem/engine/units"
	"tandem/ui/cli/output"
)

// Config gives access to the machines of config.toml.
type Config struct {
	DataDir func() (string, error)
	Load    func() ([]transport.Machine, error)
	Keep    func(transport.Machine) (path string, err error)
	Forget  func(name string) (path string, err error)
	Named   func(name string) bool // reports whether a name is valid
}

// Verbs implements the commands of `tandem machine`.
type Verbs struct {
	Config
	Version string
	Out     *output.Printer
	Stdin   io.Reader
	Environ []string

	ProbeTimeout time.Duration // timeout of a probe; default 20 s

	ConnectOwn     func(context.Context) (*client.Client, error)         // connects to this machine's engine
	ConnectMachine func(context.Context, string) (*client.Client, error) // connects to another machine's engine
}

// Command returns the command machine with its subcommands.
func (v *Verbs) Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "machine COMMAND",
		Short: "Add, list and check other machines",
		Long: "Other machines are reached over ssh, or over any command that connects its input and\n" +
			"output to `tandem bridge` there. Every command works on them with --host NAME.",
		Example: "tandem machine add box me@box.example.org\ntandem machine list\ntandem --host box ps",
		Args:    arguments(0, 0, ""),
		RunE:    func(cmd *cobra.Command, _ []string) error { return v.list(cmd.Context()) },
	}
	cmd.AddCommand(v.addCommand(), v.listCommand(), v.removeCommand(), v.checkCommand(), v.connectCommand(), v.upgradeCommand())
	return cmd
}

// arguments checks the number of arguments: at least minArgs, and at most maxArgs unless that is
// negative. otherwise is the error for too few.
func arguments(minArgs, maxArgs int, otherwise string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < minArgs:
			return output.Usagef(cmd, "%s", otherwise)
		case maxArgs >= 0 && len(args) > maxArgs:
			return output.Usagef(cmd, "unexpected argument %q", output.Visible(args[maxArgs]))
		}
		return nil
	}
}

// Names completes with the names of machines, also in a list with commas.
func (v *Verbs) Names(_ *cobra.Command, args []string, toComplete string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	machines, _ := v.Load() // completion must not print errors
	before, _, several := cutLast(toComplete)
	for _, m := range machines {
		if !slices.Contains(args, m.Name) && (!several || !slices.Contains(strings.Split(before, ","), m.Name)) {
			name := m.Name
			if several {
				name = before + "," + name
			}
			found = append(found, cobra.CompletionWithDesc(name, output.Visible(m.Target())))
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// cutLast splits a list at its last comma.
func cutLast(list string) (before, last string, several bool) {
	i := strings.LastIndexByte(list, ',')
	if i < 0 {
		return "", list, false
	}
	return list[:i], list[i+1:], true
}

func (v *Verbs) completeOne(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return v.Names(cmd, args, toComplete)
}

// find returns a machine of config.toml.
func (v *Verbs) find(name string) (transport.Machine, error) {
	machines, err := v.Load()
	if err != nil {
		return transport.Machine{}, err
	}
	i := slices.IndexFunc(machines, func(m transport.Machine) bool { return m.Name == name })
	if i < 0 {
		return transport.Machine{}, api.Errorf(api.CodeNotFound, "find machine %s: config.toml has no machine with this name", output.Visible(name)).
			WithHint("`tandem machine list` lists them")
	}
	return machines[i], nil
}

func stateTint(s api.MachineState) output.Tint {
	switch s {
	case api.MachineConnected:
		return output.Green
	case api.MachineAway:
		return output.Faint
	}
	return output.Yellow
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func rttText(m api.Machine) string {
	if m.RTTMS == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1fms", m.RTTMS)
}

func lastSeen(m api.Machine) string {
	if m.LastSeen == nil {
		return "-"
	}
	return units.Age(time.Since(*m.LastSeen))
}

func (v *Verbs) removeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Aliases: []string{"rm"}, Short: "Remove a machine from config.toml",
		Long:    "Removes a machine from config.toml. Programs there keep running, and tandem stays installed.",
		Example: "tandem machine remove box",
		Args:    arguments(1, 1, "which machine? Give a name."), ValidArgsFunction: v.completeOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := v.find(args[0])
			if err != nil {
				return err
			}
			path, err := v.Forget(m.Name)
			if err != nil {
				return err
			}
			if m.SSH != "" {
				v.endMaster(cmd.Context(), m)
			}
			if err := v.awaitForgotten(cmd.Context(), m.Name); err != nil {
				return err
			}
			return v.Out.Answer(map[string]string{"name": m.Name, "path": path}, func() string {
				return fmt.Sprintf("removed %s from %s; programs there keep running\n", m.Name, output.Visible(path))
			})
		},
	}
}

func (v *Verbs) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check NAME", Short: "Check the connection to a machine, and its version",
		Long:    "Connects to a machine and reports its state, speed and version, and what this version can\ndo that it cannot. Exits with 1 if it is not connected.",
		Example: "tandem machine check box",
		Args:    arguments(1, 1, "which machine? Give a name."), ValidArgsFunction: v.completeOne,
		RunE: func(cmd *cobra.Command, args []string) error { return v.checkMachine(cmd.Context(), args[0]) },
	}
}

// A checkAnswer is the JSON output of check.
type checkAnswer struct {
	api.Machine
	Lacks []string `json:"lacks"`
}

func (v *Verbs) checkMachine(ctx context.Context, name string) error {
	m, err := v.reach(ctx, name)
	if err != nil {
		return err
	}
	answer := checkAnswer{m, []string{}}
	if m.State == api.MachineConnected {
		if answer.Lacks, err = v.missingFeatures(ctx, name); err != nil {
			return err
		}
	}
	err = v.Out.Answer(answer, func() string {
		text := formatStatus(m)
		for _, what := range answer.Lacks {
			text += "  it has no " + what + "\n"
		}
		switch {
		case len(answer.Lacks) == 0:
		case m.SSH:
			text += fmt.Sprintf("  `tandem machine upgrade %s` upgrades it to %s\n", name, v.Version)
		default:
			text += fmt.Sprintf("  install tandem %s there; programs there keep running\n", v.Version)
		}
		return text
	})
	if err == nil && m.State != api.MachineConnected {
		err = &output.ExitError{Status: output.StatusFailed}
	}
	return err
}

// reach makes this machine's engine try to connect now.
func (v *Verbs) reach(ctx context.Context, name string) (api.Machine, error) {
	own, err := v.ConnectOwn(ctx)
	if err != nil {
		return api.Machine{}, err
	}
	defer own.Close()
	return api.MachineConnect.Call(ctx, own, api.MachineConnectInput{Name: name})
}

// formatStatus formats a machine's state, and what to do about it.
func formatStatus(m api.Machine) string {
	switch m.State {
	case api.MachineConnected:
		text := fmt.Sprintf("%s: connected, tandem %s", m.Name, output.Visible(m.Version))
		if m.RTTMS > 0 { // measured shortly after the connection
			text += ", " + rttText(m)
		}
		return text + "\n"
	case api.MachineNeedsYou:
		return fmt.Sprintf("%s: it needs you: %s\n  `tandem machine connect %s` connects here, where it can ask you\n", m.Name, output.Visible(m.Error), m.Name)
	}
	return fmt.Sprintf("%s: %s: %s\n", m.Name, m.State, output.Visible(m.Error))
}

// missingFeatures returns the operations and fields of this version that a machine does not support.
func (v *Verbs) missingFeatures(ctx context.Context, name string) ([]string, error) {
	far, err := v.ConnectMachine(ctx, name)
	if err != nil {
		return nil, err
	}
	defer far.Close()
	out, err := api.EngineOperations.Call(ctx, far, api.Empty{})
	// Without this operation an engine cannot list the others, so report only this one.
	if errors.Is(err, api.CodeNotSupported) {
		return []string{api.EngineOperations.Name}, nil
	}
	if err != nil {
		return nil, err
	}
	has := map[string]map[string]bool{}
	for _, op := range out.Operations {
		has[op.Name] = map[string]bool{}
		for _, field := range op.Input {
			has[op.Name][field] = true
		}
	}
	lacking := map[string]bool{}
	for _, op := range api.Operations() {
		if has[op.Name] == nil {
			lacking[op.Name] = true
			continue
		}
		for _, field := range api.FieldsOf(op.In) {
			if !has[op.Name][field] {
				lacking[op.Name+" "+field] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(lacking)), nil
}

// None returns a configuration without machines.
func None() Config {
	return Config{
		DataDir: api.DataDir,
		Load:    func() ([]transport.Machine, error) { return nil, nil },
		Keep:    func(transport.Machine) (string, error) { return "", errors.New("there is no configuration") },
		Forget:  func(string) (string, error) { return "", errors.New("there is no configuration") },
		Named:   func(string) bool { return false },
	}
}
