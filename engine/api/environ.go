package api

import (
	"bytes"
	"os"
	"slices"
	"strings"
)

// outerTerminalVars are variables about the terminal or multiplexer in which this program was
// started. They would mislead a program started in another terminal.
var outerTerminalVars = []string{
	"TMUX", "TMUX_PANE", "STY", "WINDOW", "COLUMNS", "LINES", "TERMCAP",
	"TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "PWD", "OLDPWD", "SHLVL", "_",
	"VTE_VERSION", "WINDOWID", "KITTY_WINDOW_ID", "KITTY_PID", "WEZTERM_PANE", "ALACRITTY_WINDOW_ID",
	"ITERM_SESSION_ID", "TERM_SESSION_ID", "WT_SESSION", "KONSOLE_VERSION", "ZELLIJ", "ZELLIJ_SESSION_NAME",
}

// Environ converts "NAME=value" pairs to the environment of a program to be started. It leaves out
// variables about the outer terminal, and Tandem's own.
func Environ(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if name != "" && !slices.Contains(outerTerminalVars, name) && !strings.HasPrefix(name, "TANDEM_") {
			env[name] = value
		}
	}
	return env
}

// Umask returns this process's umask in octal, or "" if the kernel does not show it.
func Umask() string { return UmaskOf("self") }

// UmaskOf returns the umask of a process, given by its pid or "self", as Umask does.
func UmaskOf(process string) string {
	status, _ := os.ReadFile("/proc/" + process + "/status")
	for line := range bytes.Lines(status) {
		if mask, ok := bytes.CutPrefix(line, []byte("Umask:")); ok {
			return string(bytes.TrimSpace(mask))
		}
	}
	return ""
}

// AltersExecution reports whether an environment variable can make loaders, shells or interpreters
// run another program, or an additional one. name is the variable.
func AltersExecution(name string) bool {
	switch name {
	case "PATH", "IFS", "ENV", "BASH_ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "PS0", "PS1", "PS2", "PS4", "ZDOTDIR", "CDPATH",
		"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PERL5LIB", "PERL5OPT", "PERL5DB", "RUBYLIB", "RUBYOPT", "NODE_OPTIONS", "NODE_PATH",
		"GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_EXEC_PATH", "GIT_ASKPASS", "SSH_ASKPASS", "LESSOPEN", "LESSCLOSE",
		"GCONV_PATH", "JAVA_TOOL_OPTIONS":
		return true
	}
	return slices.ContainsFunc([]string{"LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
