package terminal

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

// startupSeconds is the maximum duration of each startup command.
const startupSeconds = 30

type shellInput struct {
	ShellType        string   `json:"shell_type,omitempty" enum:"bash,zsh,python,codomyrmex,tandem" doc:"codomyrmex, tandem: a shell of Tandem's own commands"`
	WorkingDirectory string   `json:"working_directory,omitempty"`
	Prompt           string   `json:"prompt,omitempty"`
	StartupCommands  []string `json:"startup_commands,omitempty"`
}

// Subjects returns the startup commands, each of which runs by itself, and the program unless it is
// a shell.
func (in shellInput) Subjects(f *toolkit.Agent) (all []toolkit.Subject) {
	cwd := f.Folder(in.WorkingDirectory)
	switch in.ShellType {
	case "python":
		all = append(all, toolkit.Subject{Argv: []string{PythonName()}, CWD: cwd})
	case "codomyrmex", "tandem":
		if argv, err := in.ownArgv(); err == nil {
			all = append(all, toolkit.Subject{Argv: argv, CWD: cwd})
		}
	}
	for _, line := range in.StartupCommands {
		all = append(all, toolkit.Subject{Command: line, CWD: cwd})
	}
	return all
}

// promptEnv returns the variable with the shell's prompt. A command setting the prompt would be
// visible.
func (in shellInput) promptEnv() map[string]string {
	if in.Prompt == "" || in.ShellType == "codomyrmex" || in.ShellType == "tandem" {
		return nil
	}
	text := in.Prompt
	if in.ShellType == "zsh" {
		text = strings.ReplaceAll(text, "% ", "%% ") // zsh would parse % as an escape
	}
	return map[string]string{api.ShellPrompt: text}
}

type shellStarted struct {
	ShellID                 string   `json:"shell_id"`
	ShellType               string   `json:"shell_type"`
	Status                  string   `json:"status"`
	WorkingDirectory        string   `json:"working_directory"`
	StartupCommandsExecuted int      `json:"startup_commands_executed"`
	AvailableCommands       []string `json:"available_commands"`
}

// A shellKind is one type of shell, ready to start.
type shellKind struct {
	argv     []string
	commands []string // a selection of its commands

	shows string // prompt of a shell running the startup commands itself; "" for others
}

func startShell(ctx context.Context, f *toolkit.Agent, in shellInput) (toolkit.Result, error) {
	kind, err := shellKindOf(ctx, in)
	if err != nil {
		return toolkit.Result{}, err
	}
	cwd := f.Folder(in.WorkingDirectory)
	p, err := f.StartSession(ctx, api.SessionStartInput{Command: kind.argv, CWD: cwd, Env: in.promptEnv()})
	if err != nil {
		return toolkit.Result{}, err
	}
	executed, alive, err := startUp(ctx, f, p.ID, kind, in.StartupCommands)
	if err != nil {
		return toolkit.Result{}, err
	}
	started := shellStarted{p.ID, cmp.Or(in.ShellType, "bash"), "started", cwd, executed, kind.commands}
	if !alive {
		started.Status = "ended"
	}
	return toolkit.AnswerJSON(started).ForProcess(p.ID), nil
}

// startUp waits for a new shell's prompt and runs the startup commands. It returns how many of them
// finished, and whether the shell still runs: a command such as exit may have ended it.
func startUp(ctx context.Context, f *toolkit.Agent, id string, kind shellKind, commands []string) (executed int, alive bool, err error) {
	if kind.shows != "" {
		alive, err = awaitText(ctx, f, id, kind.shows, startupSeconds*(1+len(commands)))
		return len(commands), alive, err
	}
	alive = toolkit.AwaitPrompt(ctx, f, id)
	for i, command := range commands {
		out, err := api.SessionExec.Call(ctx, f.Engine, api.SessionExecInput{ID: id, Command: command, TimeoutMS: startupSeconds * 1000})
		alive = out.Alive
		// While a command is running, the next ones would be its input.
		if err != nil || !out.Alive || out.TimedOut || out.Waits != "" {
			return i, alive, err
		}
	}
	return len(commands), alive, nil
}

// awaitText waits until a session has printed text or exited, and reports whether it still runs.
func awaitText(ctx context.Context, f *toolkit.Agent, id, text string, seconds int) (alive bool, err error) {
	ask := api.SessionWaitInput{ID: id, Output: regexp.QuoteMeta(text), Since: new(int64), Exit: true}
	out, err := toolkit.WaitInTurns(seconds*1000, func(turnMS int) (api.SessionWaitOutput, bool, error) {
		ask.TimeoutMS = turnMS
		out, err := api.SessionWait.Call(ctx, f.Engine, ask)
		return out, out.Met != "", err
	})
	return !out.Process.State.Ended(), err
}

// shellKindOf returns the kind of shell for in, or an error if it is not installed.
func shellKindOf(ctx context.Context, in shellInput) (shellKind, error) {
	words := []string{"cd", "export", "alias", "source", "jobs", "fg", "bg", "history", "type", "help", "exit"}
	var k shellKind
	switch in.ShellType {
	case "", "bash":
		k = shellKind{argv: []string{"bash"}, commands: words}
	case "zsh":
		k = shellKind{argv: []string{"zsh"}, commands: words}
	case "python":
		k = shellKind{argv: []string{PythonName()}, commands: []string{"help()", "exit()", "import", "print()"}}
	case "codomyrmex", "tandem":
		return ownShell(ctx, in)
	default:
		return k, api.Errorf(api.CodeInvalid, "start shell: unknown shell_type %q", in.ShellType).
			WithHint("must be bash, zsh, python, codomyrmex or tandem")
	}
	if _, err := exec.LookPath(k.argv[0]); err != nil {
		return k, api.Errorf(api.CodeConflict, "start shell: %s is not installed", k.argv[0]).WithHint("choose another shell_type")
	}
	return k, nil
}

func PythonName() string {
	if _, err := exec.LookPath("python3"); err != nil {
		return "python"
	}
	return "python3"
}

// ownArgv returns the command line of Tandem's own command shell.
func (in shellInput) ownArgv() ([]string, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, api.Errorf(api.CodeInternal, "start shell: find Tandem's program: %v", err)
	}
	argv := []string{program, "shell"}
	if in.Prompt != "" {
		argv = append(argv, "--prompt", in.Prompt)
	}
	for _, line := range in.StartupCommands {
		argv = append(argv, "--run", line)
	}
	return argv, nil
}

// ownShell returns the kind of Tandem's own command shell, with the list of its commands.
func ownShell(ctx context.Context, in shellInput) (shellKind, error) {
	argv, err := in.ownArgv()
	if err != nil {
		return shellKind{}, err
	}
	k := shellKind{argv: argv, shows: cmp.Or(strings.TrimSpace(in.Prompt), "tandem>")}
	words, err := exec.CommandContext(ctx, argv[0], "shell", "--commands").Output()
	if err != nil {
		return k, api.Errorf(api.CodeInternal, "start shell: ask %s for its commands: %v", argv[0], err)
	}
	k.commands = strings.Fields(string(words))
	return k, nil
}
