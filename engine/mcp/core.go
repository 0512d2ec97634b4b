package mcp

// coreTools are the tools of the profile core.
func coreTools() []tool { return nil }
