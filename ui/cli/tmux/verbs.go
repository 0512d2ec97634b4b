package tmux

// A handler carries out a verb.
type handlerFunc func(*call, *command) error

// handler is what carries out a verb; nil for one that is refused.
func handler(name string) handlerFunc {
	for _, group := range []func(string) handlerFunc{sessionVerb, windowVerb, paneVerb, otherVerb} {
		if does := group(name); does != nil {
			return does
		}
	}
	return nil
}

func sessionVerb(name string) handlerFunc {
	switch name {
	case "new-session":
		return (*call).newSession
	case "has-session":
		return (*call).hasSession
	case "kill-session":
		return (*call).killSession
	case "kill-server":
		return (*call).killServer
	case "rename-session":
		return (*call).renameSession
	case "list-sessions":
		return (*call).listSessions
	case "list-clients":
		return (*call).listClients
	case "attach-session":
		return (*call).attachSession
	case "switch-client":
		return (*call).switchClient
	case "start-server", "refresh-client":
		return func(*call, *command) error { return nil }
	}
	return nil
}

func windowVerb(name string) handlerFunc {
	switch name {
	case "new-window":
		return (*call).newWindow
	case "kill-window":
		return (*call).killWindow
	case "rename-window":
		return (*call).renameWindow
	case "list-windows":
		return (*call).listWindows
	case "select-window":
		return (*call).selectWindow
	case "next-window", "previous-window", "last-window":
		return (*call).stepWindow
	case "move-window":
		return (*call).moveWindow
	case "swap-window":
		return (*call).swapWindow
	case "respawn-window":
		return (*call).respawnWindow
	case "resize-window":
		return (*call).resizeWindow
	case "select-layout", "next-layout", "previous-layout":
		return (*call).selectLayout
	case "rotate-window":
		return (*call).rotateWindow
	case "find-window":
		return nil
	}
	return nil
}

func paneVerb(name string) handlerFunc {
	switch name {
	case "split-window":
		return (*call).splitWindow
	case "kill-pane":
		return (*call).killPane
	case "list-panes":
		return (*call).listPanes
	case "select-pane", "last-pane":
		return (*call).selectPane
	case "swap-pane":
		return (*call).swapPane
	case "join-pane", "move-pane":
		return (*call).joinPane
	case "break-pane":
		return (*call).breakPane
	case "resize-pane":
		return (*call).resizePane
	case "respawn-pane":
		return (*call).respawnPane
	case "send-keys":
		return (*call).sendKeys
	case "send-prefix":
		return (*call).sendPrefix
	case "capture-pane":
		return (*call).capturePane
	case "pipe-pane":
		return (*call).pipePane
	}
	return nil
}

func otherVerb(name string) handlerFunc {
	switch name {
	case "display-message":
		return (*call).displayMessage
	case "set-option", "set-window-option":
		return (*call).setOption
	case "show-options", "show-window-options":
		return (*call).showOptions
	case "set-environment":
		return (*call).setEnvironment
	case "show-environment":
		return (*call).showEnvironment
	case "set-buffer", "load-buffer":
		return (*call).setBuffer
	case "show-buffer", "save-buffer":
		return (*call).showBuffer
	case "list-buffers":
		return (*call).listBuffers
	case "delete-buffer":
		return (*call).deleteBuffer
	case "paste-buffer":
		return (*call).pasteBuffer
	case "run-shell":
		return (*call).runShell
	case "if-shell":
		return (*call).ifShell
	case "source-file":
		return (*call).sourceFile
	case "wait-for":
		return (*call).waitFor
	case "list-commands":
		return (*call).listCommands
	case "list-keys":
		return (*call).listKeys
	}
	return nil
}
