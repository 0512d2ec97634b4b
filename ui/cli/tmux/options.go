package tmux

import (
	"errors"
	"fmt"
	"strings"

	"tandem/ui/cli/tmux/server"
)

// optionCommands implements the commands that set and show options and environment variables.
type optionCommands struct {
	state    *server.State
	targets  *targets
	formats  *formats
	print    *printer
	settings *settings
}

// optionLevel returns the level on which a command sets an option of level. An empty level, as of user
// options, leaves the choice to the flags.
func optionLevel(cmd *command, level server.Level) server.Level {
	switch {
	case level == server.LevelPane && !cmd.has('p'):
		return server.LevelWindow
	case level != "":
		return level
	case cmd.has('s'):
		return server.LevelServer
	case cmd.has('p'):
		return server.LevelPane
	case cmd.has('w') || strings.Contains(cmd.name, "window-option"):
		return server.LevelWindow
	}
	return server.LevelSession
}

// findOptions returns the set of options addressed by a command on a level, and the object it belongs
// to.
func (c *optionCommands) findOptions(cmd *command, level server.Level) (set *server.Options, at server.Target, err error) {
	if level == server.LevelServer || cmd.has('g') {
		return c.state.OptionSet(level, at, true), at, nil
	}
	want := map[server.Level]server.TargetKind{server.LevelSession: server.TargetSession, server.LevelWindow: server.TargetWindow, server.LevelPane: server.TargetPane}
	if !c.state.IsRunning() {
		return nil, at, errors.New("no current session")
	}
	if at, err = c.targets.find(cmd, 't', want[level]); err != nil {
		if value := cmd.value('t'); value != "" {
			err = fmt.Errorf("no such %s: %s", level, value)
		}
		return nil, at, err
	}
	if level != server.LevelPane {
		at.Pane = nil
	}
	if level == server.LevelSession {
		at.Window = nil
	}
	return c.state.OptionSet(level, at, false), at, nil
}

// withQuiet adds the flag -q to a command: no error is reported.
func withQuiet(run func(*command, server.Target) error) func(*command, server.Target) error {
	return func(cmd *command, at server.Target) error {
		err := run(cmd, at)
		if cmd.has('q') {
			return nil
		}
		return err
	}
}

// setOption implements set-option and set-window-option.
func (c *optionCommands) setOption(cmd *command, _ server.Target) error {
	here, _ := c.targets.find(cmd, 't', server.TargetPane) // an option's name rarely needs one
	k, err := server.ResolveOption(c.formats.expand(here, cmd.args[0]))
	if err != nil {
		return err
	}
	set, at, err := c.findOptions(cmd, optionLevel(cmd, k.Level))
	if err != nil {
		return err
	}
	_, isSet := (*set)[k.Name]
	before := string(c.settings.optionValue(at, k.Name))
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
	case len(cmd.args) < 2 && !k.IsSwitch() && k.Choices == nil:
		return errors.New("empty value")
	case cmd.has('F'):
		value = c.formats.expand(at, value)
	}
	if value, err = k.ParseValue(value, before); err != nil {
		return err
	}
	if cmd.has('a') {
		value = before + value
	}
	if *set == nil {
		*set = server.Options{}
	}
	(*set)[k.Name] = value
	return nil
}

// showOptions implements show-options and show-window-options.
func (c *optionCommands) showOptions(cmd *command, _ server.Target) error {
	var named server.Definition
	var err error
	if len(cmd.args) > 0 {
		if named, err = server.ResolveOption(cmd.args[0]); err != nil {
			return err
		}
	}
	level := optionLevel(cmd, named.Level)
	set, at, err := c.findOptions(cmd, level)
	if err != nil {
		return err
	}
	list := []server.Definition{named}
	if named.Name == "" {
		list = set.ListOptions(level)
	}
	global := cmd.has('g') || level == server.LevelServer
	for _, k := range list {
		value, isSet := (*set)[k.Name]
		_, _, known := c.state.LookupOption(at, k.Name)
		switch {
		case isSet:
			c.printOption(cmd, k, "", value)
		case !known || k.Level == "" && !cmd.has('A'):
			return fmt.Errorf("invalid option: %s", k.Name)
		case global:
			c.printOption(cmd, k, "", string(c.settings.optionValue(at, k.Name)))
		case cmd.has('A'):
			c.printOption(cmd, k, "*", string(c.settings.optionValue(at, k.Name)))
		}
	}
	return nil
}

func (c *optionCommands) printOption(cmd *command, k server.Definition, mark, value string) {
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
