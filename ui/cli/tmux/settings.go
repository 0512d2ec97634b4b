package tmux

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tandem/ui/cli/tmux/server"
)

// optionValue returns the value of an option in effect at a target. Unless it was set, default-shell
// is the caller's shell.
func (c *call) optionValue(at server.Target, name string) server.Value {
	value, set, _ := c.file.LookupOption(at, name)
	if name == "default-shell" && !set {
		value = server.Value(cmp.Or(c.lookupEnv("SHELL"), string(value)))
	}
	return value
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
func findOptions(c *call, cmd *command, level server.Level) (set *server.Options, at server.Target, err error) {
	if level == server.LevelServer || cmd.has('g') {
		return c.file.OptionSet(level, at, true), at, nil
	}
	want := map[server.Level]server.TargetKind{server.LevelSession: server.TargetSession, server.LevelWindow: server.TargetWindow, server.LevelPane: server.TargetPane}
	if !c.file.IsRunning() {
		return nil, at, errors.New("no current session")
	}
	if at, err = c.findTarget(cmd, 't', want[level]); err != nil {
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
	return c.file.OptionSet(level, at, false), at, nil
}

// setOption implements set-option and set-window-option.
func setOption(c *call, cmd *command, _ server.Target) error {
	err := changeOption(c, cmd)
	if cmd.has('q') {
		return nil
	}
	return err
}

func changeOption(c *call, cmd *command) error {
	here, _ := c.findTarget(cmd, 't', server.TargetPane) // an option's name rarely needs one
	k, err := server.ResolveOption(c.scope(here).Expand(cmd.args[0]))
	if err != nil {
		return err
	}
	set, at, err := findOptions(c, cmd, optionLevel(cmd, k.Level))
	if err != nil {
		return err
	}
	_, isSet := (*set)[k.Name]
	before := string(c.optionValue(at, k.Name))
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
		value = c.scope(at).Expand(value)
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
func showOptions(c *call, cmd *command, _ server.Target) error {
	err := printOptions(c, cmd)
	if cmd.has('q') {
		return nil
	}
	return err
}

func printOptions(c *call, cmd *command) error {
	var named server.Definition
	var err error
	if len(cmd.args) > 0 {
		if named, err = server.ResolveOption(cmd.args[0]); err != nil {
			return err
		}
	}
	level := optionLevel(cmd, named.Level)
	set, at, err := findOptions(c, cmd, level)
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
		_, _, known := c.file.LookupOption(at, k.Name)
		switch {
		case isSet:
			printOption(c, cmd, k, "", value)
		case !known || k.Level == "" && !cmd.has('A'):
			return fmt.Errorf("invalid option: %s", k.Name)
		case global:
			printOption(c, cmd, k, "", string(c.optionValue(at, k.Name)))
		case cmd.has('A'):
			printOption(c, cmd, k, "*", string(c.optionValue(at, k.Name)))
		}
	}
	return nil
}

func printOption(c *call, cmd *command, k server.Definition, mark, value string) {
	switch {
	case cmd.has('v'):
		c.printLines(value)
	case k.IsNumber() || k.IsSwitch():
		c.printLines(k.Name + mark + " " + value)
	default:
		c.printLines(k.Name + mark + " " + quoteValue(value))
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
	var b strings.Builder
	for _, r := range value {
		switch r {
		case '"', '\\', '$':
			b.WriteByte('\\')
		case '\n':
			b.WriteString(`\n`)
			continue
		}
		b.WriteRune(r)
	}
	return `"` + b.String() + `"`
}

// findEnviron returns the environment selected by -g or -t.
func findEnviron(c *call, cmd *command) (environ *server.Environ, at server.Target, err error) {
	if cmd.has('g') {
		return &c.file.Environ, at, nil
	}
	at, err = c.findTarget(cmd, 't', server.TargetSession)
	switch {
	case err == nil:
		return &at.Session.Environ, at, nil
	case cmd.has('t'):
		return nil, at, fmt.Errorf("no such session: %s", cmd.value('t'))
	}
	return nil, at, errors.New("no current session")
}

func setEnvironment(c *call, cmd *command, _ server.Target) error {
	name := cmd.args[0]
	switch {
	case name == "":
		return errors.New("empty variable name")
	case strings.Contains(name, "="):
		return errors.New("variable name contains =")
	}
	environ, at, err := findEnviron(c, cmd)
	if err != nil {
		return err
	}
	if *environ == nil {
		*environ = server.Environ{}
	}
	if cmd.has('g') {
		c.file.Unset = slices.DeleteFunc(c.file.Unset, func(n string) bool { return n == name })
	}
	switch {
	case cmd.has('u') && len(cmd.args) > 1:
		return errors.New("can't specify a value with -u")
	case cmd.has('r') && len(cmd.args) > 1:
		return errors.New("can't specify a value with -r")
	case cmd.has('u'):
		if delete(*environ, name); cmd.has('g') {
			c.file.Unset = append(c.file.Unset, name) // hides the caller's variable, too
		}
		return nil
	case cmd.has('r'):
		(*environ)[name] = nil
		return nil
	case len(cmd.args) < 2:
		return errors.New("no value specified")
	}
	value := cmd.args[1]
	if cmd.has('F') {
		value = c.scope(at).Expand(value)
	}
	(*environ)[name] = &value
	return nil
}

func showEnvironment(c *call, cmd *command, _ server.Target) error {
	set, _, err := findEnviron(c, cmd)
	if err != nil {
		return err
	}
	environ := *set
	if cmd.has('g') {
		environ = c.globalEnviron()
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
		case cmd.has('s') && value == nil:
			c.printLines("unset " + name + ";")
		case cmd.has('s'):
			c.printLines(fmt.Sprintf("%s=\"%s\"; export %[1]s;", name, strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(*value)))
		case value == nil:
			c.printLines("-" + name)
		default:
			c.printLines(name + "=" + *value)
		}
	}
	return nil
}
