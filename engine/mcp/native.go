package mcp

// nativeTools are the tools of the profile native.
func nativeTools() []tool { return nil }
