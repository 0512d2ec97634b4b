package mcp

// terminalTools are the tools of the profile terminal.
func terminalTools() []tool { return nil }
