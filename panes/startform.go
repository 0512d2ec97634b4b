package panes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"

	"tandem/engine/api"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// A Wanted is a process that was asked for in the form that starts one.
type Wanted struct {
	Process api.ProcessStartInput
	Sandbox string                // file of the one that it starts in, "" for none
	Tree    *api.WorktreeAddInput // the worktree that it starts in; nil for none
}

// ReadStart reads what was typed into the form, or says which field is wrong.
func ReadStart(typed overlay.StartInput, folder, home string) (w Wanted, field int, err error) {
	in := &w.Process
	*in = api.ProcessStartInput{
		Environ: api.Environ(os.Environ()), Umask: api.Umask(), Name: typed.Name, CWD: folder,
		KeepAlive: typed.KeepAlive, Actor: "person", TTY: typed.Terminal,
	}
	w.Sandbox = widget.ExpandHome(typed.Sandbox, home)
	if in.Command, err = CommandOf(typed.Command); err != nil {
		return w, overlay.FieldCommand, err
	}
	if in.Env, err = ParseEnv(typed.Env); err != nil {
		return w, overlay.FieldEnv, err
	}
	if in.Ready, err = readinessOf(typed.Ready); err != nil {
		return w, overlay.FieldReady, err
	}
	if policy := api.Policy(typed.Restart); policy != api.PolicyNo {
		if typed.KeepAlive && policy != api.PolicyAlways {
			return w, overlay.FieldRestart, errors.New("what is kept alive is restarted always")
		}
		in.Restart = &api.Restart{Policy: policy}
	}
	if typed.Worktree != "" {
		w.Tree = &api.WorktreeAddInput{CWD: cmp.Or(folder, home)}
		err = readTree(w.Tree, typed.Worktree)
	}
	return w, overlay.FieldWorktree, err
}

// ReadTree reads what was typed into the form of a session in a new worktree: that, and
// the command, nil for a shell.
func ReadTree(typed overlay.StartInput, home string) (in api.WorktreeAddInput, command []string, field int, err error) {
	in.CWD = widget.ExpandHome(cmp.Or(typed.Folder, "~"), home)
	if typed.Command != "" {
		if command, err = CommandOf(typed.Command); err != nil {
			return in, nil, overlay.FieldCommand, err
		}
	}
	return in, command, overlay.FieldWorktree, readTree(&in, typed.Worktree)
}

// readTree reads the name of a worktree and, behind it, what its branch begins at.
func readTree(in *api.WorktreeAddInput, text string) error {
	words := strings.Fields(text)
	if len(words) > 2 {
		return errors.New("needs a name, and optionally the start of its branch")
	}
	words = append(words, "", "")
	in.Name, in.Base = words[0], words[1]
	return nil
}

// Start does what takes a file or the engine, and says which field is wrong. A worktree in
// which nothing could be started is removed.
func (w Wanted) Start(ctx context.Context, e Engine) (p api.Process, field int, err error) {
	in := w.Process
	if machine, _ := api.MachineOf(in.ID); machine == "" && in.CWD != "" { // another one looks itself
		if info, err := os.Stat(in.CWD); err != nil {
			return p, overlay.FieldFolder, errors.New("no such folder")
		} else if !info.IsDir() {
			return p, overlay.FieldFolder, errors.New("not a folder")
		}
	}
	if w.Sandbox != "" {
		if in.Sandbox, err = readSandbox(w.Sandbox); err != nil {
			return p, overlay.FieldSandbox, err
		}
	}
	if w.Tree != nil {
		tree, err := api.WorktreeAdd.Call(ctx, e, *w.Tree)
		if err != nil {
			return p, overlay.FieldWorktree, err
		}
		in.CWD = tree.Path
	}
	if p, err = api.ProcessStart.Call(ctx, e, in); err != nil && w.Tree != nil {
		_ = api.WorktreeRemove.Run(ctx, e, api.WorktreeRemoveInput{Path: in.CWD}) // why nothing was started is told
	}
	return p, overlay.FieldCommand, err
}

// readinessOf reads when a process is ready: "port 8080", a URL, "log REGEXP" or
// "command LINE"; nil for nothing.
func readinessOf(text string) (*api.Readiness, error) {
	kind, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	switch {
	case text == "":
		return nil, nil
	case strings.HasPrefix(text, "http://"), strings.HasPrefix(text, "https://"):
		return &api.Readiness{HTTP: text}, nil
	case rest == "":
	case kind == "port":
		port, err := strconv.Atoi(rest)
		if err != nil || port < 1 || port > 65535 {
			return nil, errors.New("must be a port from 1 to 65535")
		}
		return &api.Readiness{Port: port}, nil
	case kind == "log":
		_, err := regexp.Compile(rest)
		return &api.Readiness{Log: rest}, err
	case kind == "command":
		command, err := CommandOf(rest)
		return &api.Readiness{Command: command}, err
	}
	return nil, errors.New("must be port NUMBER, http://…, log REGEXP or command LINE")
}

// maxSandboxFile bounds what is read as a sandbox file.
const maxSandboxFile = 1 << 20

// readSandbox reads a sandbox file. What it says and nobody would enforce is an
// error.
func readSandbox(path string) (*api.Sandbox, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, errors.New("no such file")
	case !info.Mode().IsRegular() || info.Size() > maxSandboxFile:
		return nil, errors.New("not a sandbox file")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var profile api.Sandbox
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(&profile); err != nil {
		return nil, err
	}
	return &profile, nil
}
