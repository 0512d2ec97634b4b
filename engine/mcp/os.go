package mcp

// osTools are the tools of the profile os.
func osTools() []tool { return nil }
