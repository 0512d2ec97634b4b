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

// openTarget opens the path or the URL under the cursor.
func (p *Pane) openTarget() tea.Cmd {
	target, ok := p.Scroll.TargetAtCursor()
	switch {
	case !ok:
		return p.env.Say("no path or address here", false)
	case target.URL != "":
		p.Scroll.Stop()
		return p.openURL(target.URL)
	}
	machine, _ := api.MachineOf(p.ID)
	path := target.Path
	if machine == "" { // ~ on another machine is that machine's home
		path = text.ExpandHome(path, p.env.Home())
	}
	if filepath.IsAbs(path) {
		path = api.PathOn(machine, path)
	} else {
		path = filepath.Join(p.folder(), path)
	}
	return panes.Ask(p.env.Context(), p.env, func(ctx context.Context, e panes.Engine) (api.FileInfo, error) {
		info, err := e.StatFile(ctx, path)
		if errors.Is(err, api.CodeNotFound) {
			err = api.Errorf(api.CodeNotFound, "no such file: %s", text.ShortPath(path, p.env.Home()))
		}
		return info, err
	}, func(info api.FileInfo, err error) tea.Cmd {
		if err != nil {
			return p.env.Say(panes.ErrorText(err), true)
		}
		p.Scroll.Stop()
		return p.openFile(path, info, target)
	})
}

// openFile opens a file in the user's editor, in a new session, or a directory in a shell.
func (p *Pane) openFile(path string, info api.FileInfo, target Target) tea.Cmd {
	if info.Type == "dir" || info.ToDir {
		return p.env.StartNear(p, nil, path)
	}
	_, there := api.PathOf(path)
	return p.env.StartNear(p, panes.EditorCommand(there, target.Line, target.Column), "")
}

// openURL opens a URL in the user's browser, or copies it if there is none.
func (p *Pane) openURL(url string) tea.Cmd {
	program := findBrowser()
	if isTextBrowser(program) {
		return p.env.StartNear(p, []string{program, url}, "")
	}
	if program == "" {
		keep := p.env.Copy(url, "")
		return tea.Batch(keep, p.env.Say("no browser here: copied "+text.Clip(url, 60), false))
	}
	return tea.Batch(p.env.Say("opening "+text.Clip(url, 60), false), func() tea.Msg {
		cmd := exec.Command(program, url)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it outlives the dashboard
		// Run also waits for the program, so that it leaves no zombie.
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
