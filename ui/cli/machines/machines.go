// Package machines implements `tandem machine`, and runs a command on several machines at once.
package machines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/engine/remote/hosts/transport"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

// Commands implements the commands of `tandem machine`.
type Commands struct{ f *factory.Factory }

// NewCommands returns the commands for the machines that f gives access to.
func NewCommands(f *factory.Factory) *Commands { return &Commands{f} }

// NewMachine returns the command machine with its subcommands.
func NewMachine(f *factory.Factory) *cobra.Command {
	v := NewCommands(f)
	cmd := &cobra.Command{
		Use:   "machine COMMAND",
		Short: "Add, list and check other machines",
		Long: "Other machines are reached over ssh, or over any command that connects its input and\n" +
			"output to `tandem bridge` there. Every command works on them with --host NAME.",
		Example:     "tandem machine add box me@box.example.org\ntandem machine list\ntandem --host box ps",
		Annotations: factory.Here.Annotations(),
		RunE:        func(cmd *cobra.Command, _ []string) error { return v.list(cmd.Context()) },
	}
	cmd.AddCommand(v.addCommand(), v.listCommand(), v.removeCommand(), v.checkCommand(), v.connectCommand(), v.upgradeCommand())
	return cmd
}

// Names completes with the names of machines, also in a list with commas.
func (v *Commands) Names(_ *cobra.Command, args []string, toComplete string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	machines, _ := v.f.Machines.Load() // completion must not print errors
	before := toComplete[:strings.LastIndexByte(toComplete, ',')+1]
	given := append(strings.Split(before, ","), args...)
	for _, m := range machines {
		if !slices.Contains(given, m.Name) {
			found = append(found, cobra.CompletionWithDesc(before+m.Name, m.Target()))
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// find returns a machine of config.toml.
func (v *Commands) find(name string) (transport.Machine, error) {
	machines, err := v.f.Machines.Load()
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

func (v *Commands) removeCommand() *cobra.Command {
	return v.forOne(v.remove, &cobra.Command{
		Use: "remove NAME", Aliases: []string{"rm"}, Short: "Remove a machine from config.toml",
		Long:    "Removes a machine from config.toml. Programs there keep running, and tandem stays installed.",
		Example: "tandem machine remove box",
	})
}

func (v *Commands) remove(ctx context.Context, m transport.Machine) error {
	path, err := v.f.Machines.Forget(m.Name)
	if err != nil {
		return err
	}
	v.endMaster(ctx, m)
	if err := v.awaitForgotten(ctx, m.Name); err != nil {
		return err
	}
	return v.f.Out.Answer(map[string]string{"name": m.Name, "path": path}, func() string {
		return fmt.Sprintf("removed %s from %s; programs there keep running\n", m.Name, output.Visible(path))
	})
}

// forOne makes cmd take the name of a machine of config.toml, and run on it.
func (v *Commands) forOne(run func(context.Context, transport.Machine) error, cmd *cobra.Command) *cobra.Command {
	cmd.Args, cmd.ValidArgsFunction = factory.Exactly(1, "which machine? Give a name."), factory.First(v.Names)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		m, err := v.find(args[0])
		if err != nil {
			return err
		}
		return run(cmd.Context(), m)
	}
	return cmd
}

func (v *Commands) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check NAME", Short: "Check the connection to a machine, and its version",
		Long:    "Connects to a machine and reports its state, speed and version, and the features of this version\nthat it lacks. Exits with 1 if it is not connected.",
		Example: "tandem machine check box",
		Args:    factory.Exactly(1, "which machine? Give a name."), ValidArgsFunction: factory.First(v.Names),
		RunE: func(cmd *cobra.Command, args []string) error { return v.checkMachine(cmd.Context(), args[0]) },
	}
}

// A checkAnswer is the JSON output of check.
type checkAnswer struct {
	api.Machine
	Lacks []string `json:"lacks"`
}

func (v *Commands) checkMachine(ctx context.Context, name string) error {
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
	return v.answerOn(m, answer, func() string {
		text := formatStatus(m)
		for _, what := range answer.Lacks {
			text += "  it has no " + what + "\n"
		}
		switch {
		case len(answer.Lacks) == 0:
		case m.SSH:
			text += fmt.Sprintf("  `tandem machine upgrade %s` upgrades it to %s\n", name, v.f.Version)
		default:
			text += fmt.Sprintf("  install tandem %s there; programs there keep running\n", v.f.Version)
		}
		return text
	})
}

// answerOn prints an answer about a machine. It returns exit status 1 if the machine is not connected.
func (v *Commands) answerOn(m api.Machine, answer any, text func() string) error {
	err := v.f.Out.Answer(answer, text)
	if err == nil && m.State != api.MachineConnected {
		err = &output.ExitError{Status: output.StatusFailed}
	}
	return err
}

// reach makes this machine's engine try to connect now.
func (v *Commands) reach(ctx context.Context, name string) (api.Machine, error) {
	return factory.Call(ctx, v.f, api.MachineConnect, api.MachineConnectInput{Name: name})
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
func (v *Commands) missingFeatures(ctx context.Context, name string) ([]string, error) {
	far, err := v.f.ConnectMachine(ctx, name)
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
	has := map[string]bool{}
	for _, op := range out.Operations {
		has[op.Name] = true
		for _, field := range op.Input {
			has[op.Name+" "+field] = true
		}
	}
	lacking := []string{}
	for _, op := range api.Operations() {
		if !has[op.Name] {
			lacking = append(lacking, op.Name)
			continue
		}
		for _, field := range api.FieldsOf(op.In) {
			if what := op.Name + " " + field; !has[what] {
				lacking = append(lacking, what)
			}
		}
	}
	slices.Sort(lacking)
	return lacking, nil
}
