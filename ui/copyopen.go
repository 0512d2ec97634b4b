package ui

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
	"tandem/panes/terminal"
	"tandem/panes/widget"
)

// openTarget opens the path or the address under the cursor.
func (m *model) openTarget(p *terminal.Terminal) tea.Cmd {
	target, ok := p.TargetHere()
	switch {
	case !ok:
		return m.say("no path or address here", false)
	case target.URL != "":
		p.StopScroll()
		return m.openURL(p, target.URL)
	}
	path := widget.ExpandHome(target.Path, m.list.Home)
	if !filepath.IsAbs(path) {
		path = filepath.Join(m.cwd(p), path)
	}
	return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		info, err := e.Stat(ctx, path)
		if errors.Is(err, api.CodeNotFound) {
			err = api.Errorf(api.CodeNotFound, "no such file: %s", widget.ShortPath(path, m.list.Home))
		}
		return targetMsg{p, path, target, info, err}
	}, func(err error) tea.Msg { return panes.DoneMsg{Err: err} })
}

// targetMsg is a path under the cursor and what is there.
type targetMsg struct {
	pane   *terminal.Terminal
	path   string
	target terminal.Target
	info   api.FileInfo
	err    error
}

// openFile opens a file in the person's editor, in a session of its own, and a
// folder in a shell.
func (m *model) openFile(msg targetMsg) tea.Cmd {
	if msg.err != nil {
		return m.say(panes.ErrorText(msg.err), true)
	}
	msg.pane.StopScroll()
	if msg.info.Type == "dir" || msg.info.ToDir {
		return m.startCommand(msg.pane, nil, msg.path)
	}
	return m.startCommand(msg.pane, panes.Editor(msg.path, msg.target.Line, msg.target.Column), "")
}

// startCommand starts a command in a new session and shows it; without one a
// shell. Without a folder it is where the session near is.
func (m *model) startCommand(near *terminal.Terminal, command []string, folder string) tea.Cmd {
	p := terminal.NewTerminal("")
	g := m.tabs.Add(p)
	m.switchTo(viewSessions)
	m.show(g, nil)
	return m.startWith(start{pane: p, near: near, command: command, folder: folder})
}

// openURL hands an address to the person's browser, or copies it where there is
// none.
func (m *model) openURL(near *terminal.Terminal, url string) tea.Cmd {
	program := browser()
	if onTerminals(program) {
		return m.startCommand(near, []string{program, url}, "")
	}
	if program == "" {
		keep := m.keepCopy(url, false)
		return tea.Batch(keep, m.say("no browser here: copied "+widget.Clip(url, 60), false))
	}
	return tea.Batch(m.say("opening "+widget.Clip(url, 60), false), func() tea.Msg {
		cmd := exec.Command(program, url)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it outlives the dashboard
		if err := cmd.Run(); err != nil {
			return panes.DoneMsg{Err: api.Errorf(api.CodeUnavailable, "open address: %s: %v", program, err)}
		}
		return panes.DoneMsg{}
	})
}

// onTerminals reports whether a browser is one that is used in a terminal.
func onTerminals(program string) bool {
	switch filepath.Base(program) {
	case "w3m", "lynx", "links", "links2", "elinks", "browsh", "carbonyl":
		return true
	}
	return false
}

// browser is the program that opens addresses; "" if there is none or nothing
// that it could show them on.
func browser() string {
	if name := os.Getenv("BROWSER"); name != "" {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return ""
	}
	path, _ := exec.LookPath("xdg-open")
	return path
}
