package engine

import "context"

// Options configure an engine. DataDir is required.
type Options struct {
	DataDir    string   // the data folder, absolute
	Version    string   // told to clients, and to programs as TERM_PROGRAM_VERSION
	Shell      []string // what an empty command starts; default $SHELL or /bin/sh
	Emulator   string   // grid of the terminals: "" or "native", or "vt10x"
	Scrollback int      // lines kept of each session's screen; default 10,000
	LogLimit   int64    // bytes kept of each session's output; default 1 GiB
}

// Run serves the data folder until ctx ends or a client stops the engine; it
// then returns nil. Sessions and processes go on in the keeper.
func Run(ctx context.Context, o Options) error { panic("not written") }
