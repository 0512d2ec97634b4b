package mcp

// pluginTools are the tools of the profile plugin.
func pluginTools() []tool { return nil }
