package tmux

import "tandem/ui/cli/tmux/server"

// A handler implements a verb. Without run, the verb is unsupported.
type handler struct {
	run         func(c *call, cmd *command, at server.Target) error
	target      server.TargetKind // kind of -t, resolved before run; with TargetNone, run resolves it
	unsupported string            // flags rejected because they would change the result
}

// handlers returns the handlers of supported verbs, and as "tmux" that of the flags before a command.
func handlers() map[string]handler {
	const (
		nothing, session, window, pane = server.TargetNone, server.TargetSession, server.TargetWindow, server.TargetPane
		index                          = server.TargetIndex
	)
	return map[string]handler{
		"tmux":                {nil, nothing, "cD"},
		"attach-session":      {attachSession, nothing, "frx"},
		"break-pane":          {breakPane, nothing, ""},
		"capture-pane":        {capturePane, pane, "P"},
		"delete-buffer":       {deleteBuffer, nothing, ""},
		"display-message":     {displayMessage, nothing, "acIv"},
		"has-session":         {hasSession, session, ""},
		"if-shell":            {ifShell, nothing, "b"},
		"join-pane":           {joinPane, pane, ""},
		"kill-pane":           {killPane, pane, ""},
		"kill-server":         {killServer, nothing, ""},
		"kill-session":        {killSession, session, ""},
		"kill-window":         {killWindow, window, ""},
		"last-pane":           {selectPane, pane, ""},
		"last-window":         {stepWindow, session, ""},
		"list-buffers":        {listBuffers, nothing, ""},
		"list-clients":        {listClients, nothing, ""},
		"list-commands":       {listCommands, nothing, ""},
		"list-keys":           {listKeys, nothing, ""},
		"list-panes":          {listPanes, nothing, ""},
		"list-sessions":       {listSessions, nothing, ""},
		"list-windows":        {listWindows, nothing, ""},
		"load-buffer":         {setBuffer, nothing, ""},
		"move-pane":           {joinPane, pane, ""},
		"move-window":         {moveWindow, nothing, ""},
		"new-session":         {newSession, nothing, "fX"},
		"new-window":          {newWindow, index, ""},
		"next-layout":         {selectLayout, pane, ""},
		"next-window":         {stepWindow, session, "a"},
		"paste-buffer":        {pasteBuffer, pane, ""},
		"pipe-pane":           {pipePane, pane, "I"},
		"previous-layout":     {selectLayout, pane, ""},
		"previous-window":     {stepWindow, session, "a"},
		"refresh-client":      {refreshClient, nothing, "ABcDflLRSU"},
		"rename-session":      {renameSession, session, ""},
		"rename-window":       {renameWindow, window, ""},
		"resize-pane":         {resizePane, pane, "MT"},
		"resize-window":       {resizeWindow, window, ""},
		"respawn-pane":        {respawnPane, pane, ""},
		"respawn-window":      {respawnWindow, window, ""},
		"rotate-window":       {rotateWindow, window, ""},
		"run-shell":           {runShell, nothing, ""},
		"save-buffer":         {showBuffer, nothing, ""},
		"select-layout":       {selectLayout, pane, "o"},
		"select-pane":         {selectPane, pane, "mM"},
		"select-window":       {selectWindow, nothing, ""},
		"send-keys":           {sendKeys, pane, "MRX"},
		"send-prefix":         {sendPrefix, pane, ""},
		"set-buffer":          {setBuffer, nothing, "w"},
		"set-environment":     {setEnvironment, nothing, "h"},
		"set-option":          {setOption, nothing, ""},
		"set-window-option":   {setOption, nothing, ""},
		"show-buffer":         {showBuffer, nothing, ""},
		"show-environment":    {showEnvironment, nothing, "h"},
		"show-options":        {showOptions, nothing, "H"},
		"show-window-options": {showOptions, nothing, ""},
		"source-file":         {sourceFile, nothing, "v"},
		"split-window":        {splitWindow, pane, "I"},
		"start-server":        {func(*call, *command, server.Target) error { return nil }, nothing, ""},
		"swap-pane":           {swapPane, pane, ""},
		"swap-window":         {swapWindow, window, ""},
		"switch-client":       {switchClient, nothing, "clnprT"},
		"wait-for":            {waitFor, nothing, ""},
	}

}
