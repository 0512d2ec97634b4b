package tmux

import (
	"cmp"
	"strings"

	"tandem/ui/cli/tmux/server"
)

// printCommands implements display-message and list-commands, which only print.
type printCommands struct {
	targets       *targets
	formats       *formats
	print         *printer
	inControlMode bool // display-message prints even without -p
}

func (c *printCommands) displayMessage(cmd *command, _ server.Target) error {
	at, err := c.targets.find(cmd, 't', server.TargetPane)
	if err != nil && !cmd.has('t') { // with a wrong -t, tmux prints without a pane
		return err
	}
	text := cmp.Or(cmd.arg(0), cmd.value('F'), `[#{session_name}] #{window_index}:#{window_name}, current pane #{pane_index} - (%H:%M %d-%b-%y)`)
	scope := c.formats.scope(at)
	if err != nil {
		scope = c.formats.exactScope(server.Target{})
	}
	if cmd.has('p') || c.inControlMode {
		c.print.lines(scope.Expand(scope.ExpandTime(text)))
	}
	return nil
}

func (c *printCommands) listCommands(cmd *command, _ server.Target) error {
	for _, v := range verbs() {
		if !isSupported(v.name) || len(cmd.args) > 0 && v.name != cmd.args[0] && v.alias != cmd.args[0] {
			continue
		}
		line := v.name
		if v.alias != "" {
			line += " (" + v.alias + ")"
		}
		if form := cmd.value('F'); cmd.has('F') {
			line = strings.NewReplacer("#{command_list_name}", v.name, "#{command_list_alias}", v.alias, "#{command_list_usage}", v.usage).Replace(form)
		} else {
			line += " " + v.usage
		}
		c.print.lines(line)
	}
	return nil
}
