package mcp

// androidTools are the tools of the profile android.
func androidTools() []tool { return nil }
