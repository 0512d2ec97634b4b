package tmux

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tandem/ui/cli/tmux/server"
)

// findEnviron returns the environment selected by -g or -t.
func (c optionCommands) findEnviron(cmd *command) (*server.Environ, error) {
	if cmd.has('g') {
		return &c.state.Environ, nil
	}
	at, err := c.targets.find(cmd, 't', server.TargetSession)
	switch {
	case err == nil:
		return &at.Session.Environ, nil
	case cmd.has('t'):
		return nil, fmt.Errorf("no such session: %s", cmd.value('t'))
	}
	return nil, errors.New("no current session")
}

func (c optionCommands) setEnvironment(cmd *command, _ server.Target) error {
	name := cmd.args[0]
	switch {
	case name == "":
		return errors.New("empty variable name")
	case strings.Contains(name, "="):
		return errors.New("variable name contains =")
	}
	environ, err := c.findEnviron(cmd)
	if err != nil {
		return err
	}
	if *environ == nil {
		*environ = server.Environ{}
	}
	if cmd.has('g') {
		c.state.Unset = slices.DeleteFunc(c.state.Unset, func(n string) bool { return n == name })
	}
	switch {
	case cmd.has('u') && len(cmd.args) > 1:
		return errors.New("can't specify a value with -u")
	case cmd.has('r') && len(cmd.args) > 1:
		return errors.New("can't specify a value with -r")
	case cmd.has('u'):
		if delete(*environ, name); cmd.has('g') {
			c.state.Unset = append(c.state.Unset, name) // hides the caller's variable, too
		}
		return nil
	case cmd.has('r'):
		(*environ)[name] = nil
		return nil
	case len(cmd.args) < 2:
		return errors.New("no value specified")
	}
	(*environ)[name] = &cmd.args[1]
	return nil
}

func (c optionCommands) showEnvironment(cmd *command, _ server.Target) error {
	set, err := c.findEnviron(cmd)
	if err != nil {
		return err
	}
	environ := *set
	if cmd.has('g') {
		environ = c.settings.globalEnviron()
	}
	names := slices.Sorted(maps.Keys(environ))
	if len(cmd.args) > 0 {
		names = cmd.args[:1]
	}
	for _, name := range names {
		value, known := environ[name]
		switch {
		case !known:
			return fmt.Errorf("unknown variable: %s", name)
		case value == nil:
			c.print.lines("-" + name)
		default:
			c.print.lines(name + "=" + *value)
		}
	}
	return nil
}
