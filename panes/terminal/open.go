package terminal

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/text"
)

// An opener opens what is under the cursor of scroll mode.
type opener struct {
	env    panes.Env
	scroll *ScrollMode
	id     func() string                                 // of the session
	folder func() string                                 // working directory of its program
	start  func(command []string, folder string) tea.Cmd // starts a session near it
}

// openTarget opens the path or the URL under the cursor.
func (o *opener) openTarget() tea.Cmd {
	target, ok := o.scroll.screen.targetAt(o.scroll.cursor)
	switch {
	case !ok:
		return o.env.Say("no path or address here", false)
	case target.URL != "":
		o.scroll.Stop()
		return o.openURL(target.URL)
	}
	machine, _ := api.MachineOf(o.id())
	path := target.Path
	if machine == "" { // ~ on another machine is that machine's home
		path = text.ExpandHome(path, o.env.Home())
	}
	if filepath.IsAbs(path) {
		path = api.PathOn(machine, path)
	} else {
		path = filepath.Join(o.folder(), path)
	}
	return panes.Call(o.env.Context(), o.env, func(ctx context.Context, e panes.Engine) (api.FileInfo, error) {
		info, err := e.StatFile(ctx, path)
		if errors.Is(err, api.CodeNotFound) {
			err = api.Errorf(api.CodeNotFound, "no such file: %s", text.ShortPath(path, o.env.Home()))
		}
		return info, err
	}, panes.ReportErrors(o.env.Say, func(info api.FileInfo) tea.Cmd {
		o.scroll.Stop()
		return o.openFile(path, info, target)
	}))
}

// openFile opens a file in the user's editor, in a new session, or a directory in a shell.
func (o *opener) openFile(path string, info api.FileInfo, target Target) tea.Cmd {
	if info.Type == "dir" || info.ToDir {
		return o.start(nil, path)
	}
	_, there := api.PathOf(path)
	return o.start(panes.EditorCommand(there, target.Line, target.Column), "")
}

// openURL opens a URL in the user's browser, or copies it if there is none.
func (o *opener) openURL(url string) tea.Cmd {
	program := findBrowser()
	if isTextBrowser(program) {
		return o.start([]string{program, url}, "")
	}
	if program == "" {
		keep := o.env.Copy(url, "")
		return tea.Batch(keep, o.env.Say("no browser here: copied "+text.Clip(url, 60), false))
	}
	return tea.Batch(o.env.Say("opening "+text.Clip(url, 60), false), func() tea.Msg {
		cmd := exec.Command(program, url)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it outlives the dashboard
		// Call Run, not Start, because it also waits for the program, which would become a zombie
		// otherwise.
		if err := cmd.Run(); err != nil {
			return panes.DoneMsg{Err: api.Errorf(api.CodeUnavailable, "open address: %s: %v", program, err)}
		}
		return panes.DoneMsg{}
	})
}

// isTextBrowser reports whether a browser runs in a terminal.
func isTextBrowser(program string) bool {
	switch filepath.Base(program) {
	case "w3m", "lynx", "links", "links2", "elinks", "browsh", "carbonyl":
		return true
	}
	return false
}

// findBrowser returns the program to open URLs; "" if there is none, or no display for it.
func findBrowser() string {
	if name := os.Getenv("BROWSER"); name != "" {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	// xdg-open is useless without a display, for example over ssh.
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return ""
	}
	path, _ := exec.LookPath("xdg-open")
	return path
}
