package mcp

import (
	"context"
	"os"
	"os/exec"
	"strings"

	"tandem/engine/api"
)

// startupSeconds is how long each startup command may take.
const startupSeconds = 30

type shellInput struct {
	ShellType        string   `json:"shell_type,omitempty" enum:"bash,zsh,python,codomyrmex,tandem" doc:"default bash; codomyrmex and tandem are Tandem's own"`
	WorkingDirectory string   `json:"working_directory,omitempty"`
	Prompt           string   `json:"prompt,omitempty"`
	StartupCommands  []string `json:"startup_commands,omitempty"`
}

func (in shellInput) subject(f *face) subject {
	return subject{command: strings.Join(in.StartupCommands, "\n"), cwd: f.folder(in.WorkingDirectory)}
}

type shellStarted struct {
	ShellID                 string   `json:"shell_id"`
	ShellType               string   `json:"shell_type"`
	Status                  string   `json:"status"`
	WorkingDirectory        string   `json:"working_directory"`
	StartupCommandsExecuted int      `json:"startup_commands_executed"`
	AvailableCommands       []string `json:"available_commands"`
}

// A shellKind is how one type of shell is started.
type shellKind struct {
	argv     []string
	env      map[string]string
	prompt   string // line that sets the prompt, before startup commands
	commands []string
}

func startShell(ctx context.Context, f *face, in shellInput) (result, error) {
	kind, err := shellKindOf(ctx, f, in)
	if err != nil {
		return result{}, err
	}
	cwd := f.folder(in.WorkingDirectory)
	p, err := api.SessionStart.Call(ctx, f.engine, api.SessionStartInput{
		Command: kind.argv, CWD: cwd, Env: kind.env, Environ: f.environ, Actor: f.actor, Sandbox: f.o.Sandbox,
	})
	if err != nil {
		return result{}, err
	}
	awaitPrompt(ctx, f, p.ID)
	if kind.prompt != "" {
		if _, err := runStartup(ctx, f, p.ID, kind.prompt); err != nil {
			return result{}, err
		}
	}
	executed := 0
	for _, command := range in.StartupCommands {
		done, err := runStartup(ctx, f, p.ID, command)
		if err != nil {
			return result{}, err
		}
		if !done {
			break // what comes after it would be its input
		}
		executed++
	}
	now, err := api.SessionGet.Call(ctx, f.engine, api.IDInput{ID: p.ID})
	if err != nil {
		return result{}, err
	}
	started := shellStarted{p.ID, in.ShellType, "started", cwd, executed, kind.commands}
	if started.ShellType == "" {
		started.ShellType = "bash"
	}
	if now.State.Ended() {
		started.Status = "ended"
	}
	return answerJSON(started).of(p.ID), nil
}

// runStartup runs one line in a new shell, and tells whether it ended.
func runStartup(ctx context.Context, f *face, id, line string) (bool, error) {
	out, err := api.SessionExec.Call(ctx, f.engine, api.SessionExecInput{ID: id, Command: line, TimeoutMS: startupSeconds * 1000})
	if err != nil {
		return false, err
	}
	return out.Alive && !out.TimedOut, nil
}

// shellKindOf says how a shell is started.
func shellKindOf(ctx context.Context, f *face, in shellInput) (shellKind, error) {
	words := []string{"cd", "export", "alias", "source", "jobs", "fg", "bg", "history", "type", "help", "exit"}
	quoted := shellWord(in.Prompt)
	var k shellKind
	switch in.ShellType {
	case "", "bash":
		k = shellKind{argv: []string{"bash"}, commands: words}
		if in.Prompt != "" {
			k.prompt = " PS1=" + quoted
		}
	case "zsh":
		k = shellKind{argv: []string{"zsh"}, commands: words}
		if in.Prompt != "" {
			k.prompt = " PROMPT=" + quoted
		}
	case "python":
		k = shellKind{argv: []string{pythonName()}, commands: []string{"help()", "exit()", "import", "print()"}}
		if in.Prompt != "" {
			k.prompt = "import sys; sys.ps1 = " + jsonText(in.Prompt)
		}
	case "codomyrmex", "tandem":
		return ownShell(ctx, f, in.Prompt)
	default:
		return k, api.Errorf(api.CodeInvalid, "start shell: there is no shell_type %q", in.ShellType).
			WithHint("it is bash, zsh, python, codomyrmex or tandem")
	}
	if _, err := exec.LookPath(k.argv[0]); err != nil {
		return k, api.Errorf(api.CodeConflict, "start shell: %s is not installed", k.argv[0]).WithHint("choose another shell_type")
	}
	return k, nil
}

func pythonName() string {
	if _, err := exec.LookPath("python3"); err != nil {
		return "python"
	}
	return "python3"
}

// ownShell is Tandem's own command shell, which tells its commands itself.
func ownShell(ctx context.Context, f *face, prompt string) (shellKind, error) {
	program, err := os.Executable()
	if err != nil {
		return shellKind{}, api.Errorf(api.CodeInternal, "start shell: find this program: %v", err)
	}
	k := shellKind{argv: []string{program, "shell"}}
	if prompt != "" {
		k.argv = append(k.argv, "--prompt", prompt)
	}
	out, err := api.Exec.Call(ctx, f.engine, api.ExecInput{
		Command: []string{program, "shell", "--commands"}, CWD: f.o.CWD, Environ: f.environ, Actor: f.actor,
	})
	k.commands = strings.Fields(out.Stdout)
	return k, err
}
