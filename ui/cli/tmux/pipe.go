package tmux

import (
	"errors"
	"fmt"
	"os"

	"tandem/engine/api"
	"tandem/ui/cli/tmux/server"
)

// pipePane implements pipe-pane: a background process follows the pane's log and feeds it to a
// command.
func (c paneCommands) pipePane(cmd *command, at server.Target) error {
	wasPiped := at.Pane.Pipe != ""
	if wasPiped {
		if err := c.programs.stopPipe(at.Pane); err != nil {
			return err
		}
	}
	if len(cmd.args) == 0 || cmd.args[0] == "" || wasPiped && cmd.has('o') {
		return nil
	}
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	if err := checkTimes(cmd.args[0]); err != nil {
		return err
	}
	data, err := api.DataDir()
	if err != nil {
		return err
	}
	// Only output from now on is piped. The command must outlive this call, so the engine runs it.
	cursor := c.engine.knownProcesses()[at.Pane.Terminal].Terminal.Bytes
	follow := fmt.Sprintf(`"$0" logs %s --follow --raw --since %d | (%s)`, at.Pane.Terminal, cursor, c.formats.expand(at, cmd.args[0]))
	process, err := callEngine(c.engine, api.ProcessStart, api.ProcessStartInput{
		ID: api.NewID(), Command: []string{"/bin/sh", "-c", follow, executable}, Name: "pipe of " + at.Pane.Terminal,
		CWD: c.programs.startDirectory("", at), Environ: c.settings.environFor(nil), Umask: api.Umask(), Env: map[string]string{"TANDEM_DATA_DIR": data}, Transient: true,
	})
	if err != nil {
		return err
	}
	at.Pane.Pipe = process.ID
	return nil
}

func (p *programs) stopPipe(pane *server.Pane) error {
	id := pane.Pipe
	pane.Pipe = ""
	_, err := callEngine(p.engine, api.ProcessStop, api.ProcessStopInput{ID: id})
	if errors.Is(err, api.CodeNotFound) {
		return nil
	}
	return err
}
