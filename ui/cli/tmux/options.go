package tmux

import (
	"errors"
	"fmt"
	"strings"

	"tandem/ui/cli/tmux/server"
)

// optionCommands implements the commands that set and show options and environment variables.
type optionCommands struct{ *parts }

// findOptions returns the set of options selected by the flags of a command: the global one (-g,
// -s), or that of the pane (-p), window (-w) or session named by -t. at is the pane, window or
// session of the set; its smaller parts are nil.
func (c optionCommands) findOptions(cmd *command) (set *server.Options, at server.Target, err error) {
	level, kind := "session", server.TargetSession
	switch {
	case cmd.has('g') || cmd.has('s'):
		return &c.state.Global, at, nil
	case cmd.has('p'):
		level, kind = "pane", server.TargetPane
	case cmd.has('w') || strings.Contains(cmd.name, "window-option"):
		level, kind = "window", server.TargetWindow
	}
	if !c.state.IsRunning() {
		return nil, at, errors.New("no current session")
	}
	if at, err = c.targets.find(cmd, 't', kind); err != nil {
		if value := cmd.value('t'); value != "" {
			err = fmt.Errorf("no such %s: %s", level, value)
		}
		return nil, at, err
	}
	switch kind {
	case server.TargetPane:
		return &at.Pane.Options, at, nil
	case server.TargetWindow:
		at.Pane = nil
		return &at.Window.Options, at, nil
	}
	at.Window, at.Pane = nil, nil
	return &at.Session.Options, at, nil
}

// unlessQuiet returns err, and nil with the flag -q.
func unlessQuiet(cmd *command, err error) error {
	if cmd.has('q') {
		return nil
	}
	return err
}

// setOption implements set-option and set-window-option.
func (c optionCommands) setOption(cmd *command, _ server.Target) error {
	return unlessQuiet(cmd, c.changeOption(cmd))
}

func (c optionCommands) changeOption(cmd *command) error {
	k, err := server.ResolveOption(cmd.args[0])
	if err != nil {
		return err
	}
	set, at, err := c.findOptions(cmd)
	if err != nil {
		return err
	}
	_, isSet := (*set)[k.Name]
	value := cmd.arg(1)
	switch {
	case cmd.has('u') || cmd.has('U'):
		delete(*set, k.Name)
		if cmd.has('U') && at.Window != nil && at.Pane == nil {
			for _, p := range at.Window.Panes {
				delete(p.Options, k.Name)
			}
		}
		return nil
	case isSet && cmd.has('o'):
		return fmt.Errorf("already set: %s", cmd.args[0])
	case len(cmd.args) < 2:
		return fmt.Errorf("%s %s without a value is not supported by tandem; give the value", cmd.name, cmd.args[0])
	}
	if value, err = k.ParseValue(value); err != nil {
		return err
	}
	if cmd.has('a') {
		value = string(c.settings.optionValue(at, k.Name)) + value
	}
	if *set == nil {
		*set = server.Options{}
	}
	(*set)[k.Name] = value
	return nil
}

// showOptions implements show-options and show-window-options.
func (c optionCommands) showOptions(cmd *command, _ server.Target) error {
	return unlessQuiet(cmd, c.printOptions(cmd))
}

// printOptions prints the named option, or all that were set.
func (c optionCommands) printOptions(cmd *command) error {
	set, at, err := c.findOptions(cmd)
	if err != nil {
		return err
	}
	if len(cmd.args) == 0 {
		for _, k := range set.List() {
			c.printOption(cmd, k, "", (*set)[k.Name])
		}
		return nil
	}
	k, err := server.ResolveOption(cmd.args[0])
	if err != nil {
		return err
	}
	value := string(c.settings.optionValue(at, k.Name))
	_, isSet := (*set)[k.Name]
	_, _, known := c.state.LookupOption(at, k.Name)
	switch {
	case isSet, known && set == &c.state.Global:
		c.printOption(cmd, k, "", value)
	case !known, strings.HasPrefix(k.Name, "@") && !cmd.has('A'):
		return fmt.Errorf("invalid option: %s", k.Name)
	case cmd.has('A'):
		c.printOption(cmd, k, "*", value)
	}
	return nil
}

func (c optionCommands) printOption(cmd *command, k server.Definition, mark, value string) {
	switch {
	case cmd.has('v'):
		c.print.lines(value)
	case k.IsNumber() || k.IsSwitch():
		c.print.lines(k.Name + mark + " " + value)
	default:
		c.print.lines(k.Name + mark + " " + quoteValue(value))
	}
}

// quoteValue quotes value so that set-option would read it back.
func quoteValue(value string) string {
	switch {
	case value == "":
		return "''"
	case !strings.ContainsAny(value, " #';${}%\"\\\t\n"):
		return value
	}
	return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`, "$", `\$`, "\n", `\n`).Replace(value) + `"`
}
