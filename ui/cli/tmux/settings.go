package tmux

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tandem/ui/cli/tmux/server"
)

// optionPlace is where an option of a command is kept.
func optionPlace(c *call, cmd *command, level server.Level) (set *server.Options, at server.Place, on server.Level, err error) {
	window := strings.Contains(cmd.name, "window-option")
	switch {
	case level == server.LevelServer:
	case level == "" && cmd.has('s'):
		level = server.LevelServer
	case level == "" && cmd.has('p'):
		level = server.LevelPane
	case level == server.LevelPane && !cmd.has('p'):
		level = server.LevelWindow
	case level == "" && (cmd.has('w') || window):
		level = server.LevelWindow
	case level == "":
		level = server.LevelSession
	}
	if level == server.LevelServer {
		return &c.file.Options, at, level, nil
	}
	if cmd.has('g') {
		return c.file.Set(level, at, true), at, level, nil
	}
	want := map[server.Level]server.Want{server.LevelSession: server.WantSession, server.LevelWindow: server.WantWindow, server.LevelPane: server.WantPane}
	if !c.file.Running() {
		return nil, at, level, errors.New("no current session")
	}
	if at, err = c.target(cmd, 't', want[level]); err != nil {
		if value := cmd.value('t'); value != "" {
			kind := map[server.Level]string{server.LevelSession: "session", server.LevelWindow: "window", server.LevelPane: "pane"}[level]
			err = fmt.Errorf("no such %s: %s", kind, value)
		}
		return nil, at, level, err
	}
	return c.file.Set(level, at, false), at, level, nil
}

// setOption is set-option and set-window-option.
func setOption(c *call, cmd *command) error {
	err := setAnOption(c, cmd)
	if cmd.has('q') {
		return nil
	}
	return err
}

func setAnOption(c *call, cmd *command) error {
	where, err := c.finder().Find(cmd.value('t'), server.WantPane)
	if err != nil {
		where = server.Place{}
	}
	name, level, err := server.Resolve(c.scope(where).Expand(cmd.args[0]))
	if err != nil {
		return err
	}
	set, at, level, err := optionPlace(c, cmd, level)
	if err != nil {
		return err
	}
	if cmd.has('u') || cmd.has('U') {
		delete(*set, name)
		if cmd.has('U') && level == server.LevelWindow && at.Window != nil {
			for _, p := range at.Window.Panes {
				delete(p.Options, name)
			}
		}
		return nil
	}
	value := cmd.arg(1)
	if cmd.has('F') {
		value = c.scope(at).Expand(value)
	}
	if _, own := (*set)[name]; own && cmd.has('o') {
		return fmt.Errorf("already set: %s", cmd.args[0])
	}
	if len(cmd.args) < 2 && !server.IsSwitch(name) && server.Choices(name) == nil {
		return errors.New("empty value")
	}
	now := string(c.file.Lookup(level, at, name))
	if value, err = optionValue(name, value, now); err != nil {
		return err
	}
	if cmd.has('a') {
		value = now + value
	}
	if *set == nil {
		*set = server.Options{}
	}
	(*set)[name] = value
	return nil
}

// optionValue checks the value of an option.
func optionValue(name, value, before string) (string, error) {
	choices := server.Choices(name)
	switch {
	case strings.HasPrefix(name, "@"):
		return value, nil
	case choices != nil && value == "":
		return server.Toggled(choices, before), nil
	case choices != nil && !slices.Contains(choices, value):
		return "", fmt.Errorf("unknown value: %s", value)
	case server.IsSwitch(name):
		switch strings.ToLower(value) {
		case "":
			return map[bool]string{true: "off", false: "on"}[before == "on"], nil
		case "on", "yes", "1":
			return "on", nil
		case "off", "no", "0":
			return "off", nil
		}
		return "", fmt.Errorf("bad value: %s", value)
	case server.IsNumber(name):
		n, err := strconv.Atoi(value)
		if err != nil {
			return "", fmt.Errorf("value is invalid: %s", value)
		}
		if n < 0 {
			return "", fmt.Errorf("value is too small: %s", value)
		}
		return strconv.Itoa(n), nil
	}
	return value, nil
}

// showOptions is show-options and show-window-options.
func showOptions(c *call, cmd *command) error {
	if len(cmd.args) > 0 {
		return showOption(c, cmd)
	}
	set, at, level, err := optionPlace(c, cmd, "")
	if err != nil {
		if cmd.has('q') {
			return nil
		}
		return err
	}
	global := cmd.has('g') || level == server.LevelServer
	for _, name := range server.Shown(*set, level, global || cmd.has('A')) {
		value, own := (*set)[name]
		mark := ""
		if !own {
			value = string(c.file.Lookup(level, at, name))
			if !global {
				mark = "*"
			}
		}
		printOption(c, cmd, name, mark, value)
	}
	return nil
}

func printOption(c *call, cmd *command, name, mark, value string) {
	if cmd.has('v') {
		c.print(value)
		return
	}
	switch {
	case value == "" && server.IsArray(name):
		c.print(name + mark)
		return
	case server.IsNumber(name) || server.IsSwitch(name):
		c.print(name + mark + " " + value)
		return
	}
	c.print(name + mark + " " + quoted(value))
}

// quoted writes a value so that set-option reads it back.
func quoted(value string) string {
	switch {
	case value == "":
		return "''"
	case !strings.ContainsAny(value, " #';${}%\"\\\t\n|&*?<>()[]~`"), !strings.ContainsAny(value, " #';${}%\"\\\t\n"):
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

func showOption(c *call, cmd *command) error {
	name, level, err := server.Resolve(cmd.args[0])
	if err != nil {
		if cmd.has('q') {
			return nil
		}
		return err
	}
	set, at, level, err := optionPlace(c, cmd, level)
	if err != nil {
		if cmd.has('q') {
			return nil
		}
		return err
	}
	value, own := (*set)[name]
	switch {
	case own:
		printOption(c, cmd, name, "", value)
	case strings.HasPrefix(name, "@"):
		if cmd.has('A') {
			if value, ok := c.file.Any(at, name); ok {
				printOption(c, cmd, name, "*", value)
				return nil
			}
		}
		if !cmd.has('q') {
			return fmt.Errorf("invalid option: %s", name)
		}
	case cmd.has('g') || level == server.LevelServer || cmd.has('A'):
		mark := "*"
		if cmd.has('g') || level == server.LevelServer {
			mark = ""
		}
		showTable(c, cmd, name, mark, level, at)
	}
	return nil
}

// showTable shows what an option is worth without being set here: an array item by item.
func showTable(c *call, cmd *command, name, mark string, level server.Level, at server.Place) {
	for _, k := range server.Table() {
		if k.Name == name || server.Base(k.Name) == name {
			printOption(c, cmd, k.Name, mark, string(c.file.Lookup(level, at, k.Name)))
		}
	}
}

// setEnvironment is set-environment.
func setEnvironment(c *call, cmd *command) error {
	name := cmd.args[0]
	switch {
	case name == "":
		return errors.New("empty variable name")
	case strings.Contains(name, "="):
		return errors.New("variable name contains =")
	}
	environ, removed := &c.file.Environ, &c.file.Hidden
	var at server.Place
	if !cmd.has('g') {
		var err error
		if at, err = c.target(cmd, 't', server.WantSession); err != nil {
			if cmd.has('t') {
				return fmt.Errorf("no such session: %s", cmd.value('t'))
			}
			return errors.New("no current session")
		}
		environ, removed = &at.Session.Environ, &at.Session.Removed
	}
	is := func(n string) bool { return n == name }
	*removed = slices.DeleteFunc(*removed, is)
	if cmd.has('g') {
		c.file.Unset = slices.DeleteFunc(c.file.Unset, is)
	}
	switch {
	case cmd.has('u') && len(cmd.args) > 1:
		return errors.New("can't specify a value with -u")
	case cmd.has('r') && len(cmd.args) > 1:
		return errors.New("can't specify a value with -r")
	case cmd.has('u'):
		if delete(*environ, name); cmd.has('g') {
			c.file.Unset = append(c.file.Unset, name) // the caller's, too
		}
		return nil
	case cmd.has('r'):
		*removed = append(*removed, name)
		delete(*environ, name)
		return nil
	case len(cmd.args) < 2:
		return errors.New("no value specified")
	}
	value := cmd.args[1]
	if cmd.has('F') {
		value = c.scope(at).Expand(value)
	}
	if *environ == nil {
		*environ = map[string]string{}
	}
	(*environ)[name] = value
	return nil
}

// showEnvironment is show-environment.
func showEnvironment(c *call, cmd *command) error {
	environ, removed := c.base(), c.file.Hidden
	if !cmd.has('g') {
		at, err := c.target(cmd, 't', server.WantSession)
		if err != nil {
			if cmd.has('t') {
				return fmt.Errorf("no such session: %s", cmd.value('t'))
			}
			return errors.New("no current session")
		}
		environ, removed = at.Session.Environ, at.Session.Removed
	}
	names := append(slices.Collect(maps.Keys(environ)), removed...)
	slices.Sort(names)
	if len(cmd.args) > 0 {
		if names = []string{cmd.args[0]}; !slices.Contains(removed, names[0]) {
			if _, known := environ[names[0]]; !known {
				return fmt.Errorf("unknown variable: %s", names[0])
			}
		}
	}
	for _, name := range names {
		value, gone := environ[name], slices.Contains(removed, name)
		switch {
		case cmd.has('s') && gone:
			c.print("unset " + name + ";")
		case cmd.has('s'):
			c.print(fmt.Sprintf("%s=\"%s\"; export %[1]s;", name, strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(value)))
		case gone:
			c.print("-" + name)
		default:
			c.print(name + "=" + value)
		}
	}
	return nil
}
