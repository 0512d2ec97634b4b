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
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
)

// A StartRequest is a process as entered in the start form.
type StartRequest struct {
	Process api.ProcessStartInput
	Sandbox string                // path of the sandbox file, "" for none
	Tree    *api.WorktreeAddInput // worktree to create for it; nil for none
}

// ParseStartForm parses the fields of the start form. field is the one with the error.
func ParseStartForm(typed dialog.StartInput, folder, home string) (w StartRequest, field int, err error) {
	in := &w.Process
	*in = api.ProcessStartInput{
		Environ: api.Environ(os.Environ()), Umask: api.Umask(), Name: typed.Name, CWD: folder,
		KeepAlive: typed.KeepAlive, Actor: "person", TTY: typed.Terminal,
	}
	w.Sandbox = text.ExpandHome(typed.Sandbox, home)
	if in.Command, err = ParseCommand(typed.Command); err != nil {
		return w, dialog.FieldCommand, err
	}
	if in.Env, err = ParseEnv(typed.Env); err != nil {
		return w, dialog.FieldEnv, err
	}
	if in.Ready, err = parseReadiness(typed.Ready); err != nil {
		return w, dialog.FieldReady, err
	}
	if policy := api.Policy(typed.Restart); policy != api.PolicyNo {
		if typed.KeepAlive && policy != api.PolicyAlways {
			return w, dialog.FieldRestart, errors.New("keep alive means restart always")
		}
		in.Restart = &api.Restart{Policy: policy}
	}
	if typed.Worktree != "" {
		w.Tree = &api.WorktreeAddInput{CWD: cmp.Or(folder, home)}
		err = parseTree(w.Tree, typed.Worktree)
	}
	return w, dialog.FieldWorktree, err
}

// ParseTreeForm parses the form for a session in a new worktree. A nil command means a shell.
func ParseTreeForm(typed dialog.StartInput, home string) (in api.WorktreeAddInput, command []string, field int, err error) {
	in.CWD = text.ExpandHome(cmp.Or(typed.Folder, "~"), home)
	if typed.Command != "" {
		if command, err = ParseCommand(typed.Command); err != nil {
			return in, nil, dialog.FieldCommand, err
		}
	}
	return in, command, dialog.FieldWorktree, parseTree(&in, typed.Worktree)
}

// parseTree parses the name of a worktree and, optionally, the start of its branch.
func parseTree(in *api.WorktreeAddInput, text string) error {
	words := strings.Fields(text)
	if len(words) > 2 {
		return errors.New("needs a name, and optionally the start of its branch")
	}
	words = append(words, "", "")
	in.Name, in.Base = words[0], words[1]
	return nil
}

// Start reads the sandbox file, creates the worktree and starts the process. field is the one with
// the error. If the start fails, the worktree is removed.
func (w StartRequest) Start(ctx context.Context, e Engine) (p api.Process, field int, err error) {
	in := w.Process
	if machine, _ := api.MachineOf(in.ID); machine == "" && in.CWD != "" { // another machine checks it itself
		if info, err := os.Stat(in.CWD); err != nil {
			return p, dialog.FieldFolder, errors.New("no such folder")
		} else if !info.IsDir() {
			return p, dialog.FieldFolder, errors.New("not a folder")
		}
	}
	if w.Sandbox != "" {
		if in.Sandbox, err = readSandbox(w.Sandbox); err != nil {
			return p, dialog.FieldSandbox, err
		}
	}
	if w.Tree != nil {
		tree, err := api.WorktreeAdd.Call(ctx, e, *w.Tree)
		if err != nil {
			return p, dialog.FieldWorktree, err
		}
		in.CWD = tree.Path
	}
	if p, err = api.ProcessStart.Call(ctx, e, in); err != nil && w.Tree != nil {
		_ = api.WorktreeRemove.Run(ctx, e, api.WorktreeRemoveInput{Path: in.CWD}) // the error of the start matters more
	}
	return p, dialog.FieldCommand, err
}

// parseReadiness parses a readiness check: "port 8080", a URL, "log REGEXP" or "command LINE". It
// returns nil for "".
func parseReadiness(text string) (*api.Readiness, error) {
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
		command, err := ParseCommand(rest)
		return &api.Readiness{Command: command}, err
	}
	return nil, errors.New("must be port NUMBER, http://…, log REGEXP or command LINE")
}

const maxSandboxFile = 1 << 20

// readSandbox reads a sandbox file. An unknown field is an error, because it would not be enforced.
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
