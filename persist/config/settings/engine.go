package settings

// Engine has the engine's settings at the top level of the file.
type Engine struct {
	Shell            []string `toml:"shell"`             // argv of new sessions
	ShellIntegration bool     `toml:"shell_integration"` // make interactive shells mark their prompts
	Emulator         string   `toml:"emulator"`          // "native" or "vt10x"
	Scrollback       int      `toml:"scrollback"`        // lines of scrollback per session
	LogLimit         int64    `toml:"log_limit"`         // bytes kept of a session's output
	ProcessLogLimit  int64    `toml:"process_log_limit"` // bytes kept of the log of a process without a terminal
}

func engineDefaults() Engine {
	return Engine{ShellIntegration: true, Emulator: "native", Scrollback: 10_000, LogLimit: 1 << 30, ProcessLogLimit: 64 << 20}
}

func engineRows() []Setting {
	return []Setting{
		{Key: "shell", Want: "a list of words", Example: `["zsh", "-l"]`, None: "$SHELL", Doc: "What a new session runs."},
		{Key: "shell_integration", Want: "true or false", Doc: "Have shells mark their prompts and commands."},
		{Key: "emulator", Want: "a name in quotes", Doc: `The terminal emulator of each session; "vt10x" is an alternative grid of cells.`},
		{Key: "scrollback", Want: "a whole number", Doc: "Lines of scrollback kept for each session."},
		{Key: "log_limit", Want: "a whole number", Doc: "Bytes of output kept for each session."},
		{Key: "process_log_limit", Want: "a whole number", Doc: "Bytes of output kept for each process without a terminal."},
	}
}

func (e Engine) check(report Report) {
	report.unknown("emulator", e.Emulator, "native", "vt10x")
	if e.Scrollback < 0 {
		report("scrollback", "scrollback = %d: must be 0 or more lines", e.Scrollback)
	}
	if e.LogLimit < 1<<20 {
		report("log_limit", "log_limit = %d: must be at least %d bytes", e.LogLimit, 1<<20)
	}
	if e.ProcessLogLimit < 64<<10 {
		report("process_log_limit", "process_log_limit = %d: must be at least %d bytes", e.ProcessLogLimit, 64<<10)
	}
	if len(e.Shell) > 0 && e.Shell[0] == "" {
		report("shell", "shell: must have a program before its arguments")
	}
}
