package tmux

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/ui/cli/procfs"
	"tandem/ui/cli/tmux/format"
	"tandem/ui/cli/tmux/server"
)

func isTrue(value string) bool { return format.IsTrue(value) }

// variables looks up the variables of formats for one target.
type variables struct {
	*call
	at     server.Target
	screen *api.Screen // of the pane; nil until fetched by loadScreen
}

// scope returns the scope for expanding formats at a target, completed by the current window and pane.
func (c *call) scope(at server.Target) format.Scope {
	if at.Session == nil && c.file != nil && c.file.IsRunning() {
		at, _ = c.newFinder().FindTarget("", server.TargetPane)
	}
	if at.Session != nil && at.Window == nil {
		at.Window = at.Session.CurrentWindow()
	}
	if at.Window != nil && at.Pane == nil {
		at.Pane = at.Window.ActivePane()
	}
	v := &variables{call: c, at: at}
	return format.Scope{Lookup: v.lookupVariable, Now: time.Now(), Unsupported: func(what string) {
		c.unsupported = fmt.Errorf("format %s is not supported by tandem", what)
	}}
}

// facts maps variables to values: a string, int, bool or time, or a func() any to compute an expensive
// one only if it is used.
type facts map[string]any

func (v *variables) lookupVariable(name string) (string, bool) {
	if value, ok := v.factsFor(name)[name]; ok {
		return formatValue(value), true
	}
	// As in tmux, options and environment variables serve as variables, too.
	if value, _, ok := v.file.LookupOption(v.at, name); ok {
		if k, err := server.ResolveOption(name); err == nil && k.IsSwitch() {
			return formatValue(value == "on"), true
		}
		return string(value), true
	}
	value, ok := v.environFor(v.at.Session)[name]
	return value, ok
}

// factsFor returns the group of variables to search for name, chosen by its prefix.
func (v *variables) factsFor(name string) facts {
	kind, _, _ := strings.Cut(name, "_")
	switch {
	case kind == "session" && v.at.Session != nil:
		return v.sessionFacts(v.at.Session)
	case (kind == "window" || name == "last_window_index" || name == "active_window_index") && v.at.Window != nil:
		return v.windowFacts(v.at.Session, v.at.Window)
	case (kind == "pane" || kind == "history") && v.at.Pane != nil:
		return v.paneFacts(v.at.Window, v.at.Pane)
	case kind == "buffer" && len(v.file.Buffers) > 0:
		return bufferFacts(v.file.Buffers[0])
	case (kind == "cursor" || kind == "alternate" || kind == "scroll") && v.at.Pane != nil:
		return v.screenFacts(v.loadScreen())
	}
	return v.serverFacts()
}

// formatValue formats the value of a variable as tmux does.
func formatValue(value any) string {
	switch x := value.(type) {
	case func() any:
		return formatValue(x())
	case bool:
		if x {
			return "1"
		}
		return "0"
	case int:
		return strconv.Itoa(x)
	case time.Time:
		if x.IsZero() {
			return ""
		}
		return strconv.FormatInt(x.Unix(), 10)
	}
	return value.(string)
}

func (v *variables) serverFacts() facts {
	host, _ := os.Hostname()
	short, _, _ := strings.Cut(host, ".")
	all := facts{
		"version":         version,
		"socket_path":     v.path,
		"pid":             func() any { return v.serverPID() },
		"start_time":      v.file.Started,
		"host":            host,
		"host_short":      short,
		"uid":             os.Getuid(),
		"user":            func() any { return userName() },
		"server_sessions": len(v.file.Sessions),
		"next_session_id": fmt.Sprintf("$%d", v.file.Next.Session),
		"line":            0,
		"wrap_flag":       true,
	}
	if v.at.Pane != nil { // terminal modes not reported by the engine
		for _, name := range []string{"mouse_all", "mouse_any", "mouse_button", "mouse_sgr", "mouse_standard", "mouse_utf8", "insert", "keypad_cursor", "keypad", "origin"} {
			all[name+"_flag"] = false
		}
	}
	return all
}

func userName() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}

func (v *variables) sessionFacts(s *server.Session) facts {
	return facts{
		"session_name":          s.Name,
		"session_id":            fmt.Sprintf("$%d", s.ID),
		"session_windows":       len(s.Windows),
		"session_created":       s.Created,
		"session_activity":      s.Used,
		"session_last_attached": s.Attached,
		"session_path":          s.CWD,
		"session_attached":      func() any { return v.isAttached(s) },
		"session_stack":         stackIndexes(s),
		"session_many_attached": false,
		"session_grouped":       false,
		"session_marked":        false,
		"session_format":        false,
		"session_attached_list": "",
		"session_group":         "",
		"session_group_list":    "",
		"session_alerts":        "",
	}
}

// isAttached reports whether a client shows a pane of s. Adopted panes do not count.
func (v *variables) isAttached(s *server.Session) bool {
	return slices.ContainsFunc(s.Windows, func(w *server.Window) bool {
		return slices.ContainsFunc(w.Panes, func(p *server.Pane) bool {
			t := v.knownProcesses()[p.Terminal].Terminal
			return t != nil && t.Viewers > 0 && !p.Adopted
		})
	})
}

// stackIndexes lists the indexes of the windows, most recently shown first.
func stackIndexes(s *server.Session) string {
	var all []string
	for _, id := range s.Stack {
		if w := s.WindowByID(id); w != nil {
			all = append(all, strconv.Itoa(w.Index))
		}
	}
	return strings.Join(all, ",")
}

func (v *variables) windowFacts(s *server.Session, w *server.Window) facts {
	visible := w.Layout
	if w.Zoomed {
		visible = w.PaneCell(w.ActivePane())
	}
	return facts{
		"window_name":                 w.Name,
		"window_id":                   fmt.Sprintf("@%d", w.ID),
		"window_index":                w.Index,
		"window_panes":                len(w.Panes),
		"window_width":                w.Layout.W,
		"window_height":               w.Layout.H,
		"window_layout":               w.Layout.String(),
		"window_visible_layout":       visible.String(),
		"window_active":               s.CurrentWindow() == w,
		"window_last_flag":            s.LastWindow() == w,
		"window_zoomed_flag":          w.Zoomed,
		"window_flags":                windowFlags(s, w),
		"window_raw_flags":            windowFlags(s, w),
		"window_start_flag":           s.Windows[0] == w,
		"window_end_flag":             s.Windows[len(s.Windows)-1] == w,
		"window_activity":             func() any { return v.lastActivity(w) },
		"window_stack_index":          slices.Index(s.Stack, w.ID),
		"window_linked_sessions":      1,
		"window_active_sessions":      1,
		"window_linked_sessions_list": s.Name,
		"window_active_sessions_list": s.Name,
		"window_active_clients":       0,
		"window_linked":               false,
		"window_marked_flag":          false,
		"window_bell_flag":            false,
		"window_activity_flag":        false,
		"window_silence_flag":         false,
		"window_bigger":               false,
		"window_cell_width":           16, // tmux's value without a client
		"window_cell_height":          32,
		"active_window_index":         s.CurrentWindow().Index,
		"last_window_index":           s.Windows[len(s.Windows)-1].Index,
	}
}

func windowFlags(s *server.Session, w *server.Window) string {
	flags := ""
	switch w {
	case s.CurrentWindow():
		flags += "*"
	case s.LastWindow():
		flags += "-"
	}
	if w.Zoomed {
		flags += "Z"
	}
	return flags
}

// lastActivity returns the time of the last activity in a window.
func (v *variables) lastActivity(w *server.Window) time.Time {
	last := w.Created
	for _, p := range w.Panes {
		if t := v.knownProcesses()[p.Terminal].Terminal; t != nil && t.ActiveAt.After(last) {
			last = t.ActiveAt
		}
	}
	return last
}

func (v *variables) paneFacts(w *server.Window, p *server.Pane) facts {
	all := facts{
		"pane_id":              fmt.Sprintf("%%%d", p.ID),
		"pane_index":           func() any { return v.optionValue(v.at, "pane-base-index").Int() + slices.Index(w.Panes, p) },
		"pane_active":          w.ActivePane() == p,
		"pane_last":            w.LastPane() == p,
		"pane_title":           func() any { return paneTitle(p, v.knownProcesses()[p.Terminal]) },
		"pane_pid":             p.PID,
		"pane_tty":             func() any { return ttyPath(p.PID) },
		"pane_current_command": func() any { return cmp.Or(foregroundName(p.PID), v.programName(p.Argv)) },
		"pane_current_path":    func() any { return cmp.Or(foregroundDirectory(p.PID), p.CWD) },
		"pane_start_path":      p.CWD,
		"pane_start_command":   startCommand(p.Argv),
		"pane_dead":            func() any { return !v.isAlive(p) },
		"pane_dead_status":     func() any { return v.exitStatus(p) },
		"pane_dead_time":       func() any { return v.exitTime(p) },
		"pane_synchronized":    func() any { return v.optionValue(v.at, "synchronize-panes").IsOn() },
		"pane_pipe":            p.Pipe != "",
		"pane_input_off":       p.InputOff,
		"pane_tabs":            tabStops(w.Layout.W),
		"pane_fg":              "default",
		"pane_bg":              "default",
		"pane_in_mode":         false,
		"pane_marked":          false,
		"pane_dead_signal":     "",
		"pane_mode":            "",
		"pane_search_string":   "",
		"pane_marked_set":      "",
		"pane_path":            "",
		"history_limit":        func() any { return string(v.optionValue(v.at, "history-limit")) },
		"history_size":         func() any { return v.historySize() },
		"history_bytes":        func() any { return v.historySize() * w.Layout.W },
	}
	if cell := w.PaneCell(p); cell != nil {
		maps.Copy(all, facts{
			"pane_width":     cell.W,
			"pane_height":    cell.H,
			"pane_left":      cell.X,
			"pane_top":       cell.Y,
			"pane_right":     cell.X + cell.W - 1,
			"pane_bottom":    cell.Y + cell.H - 1,
			"pane_at_top":    cell.Y == 0,
			"pane_at_left":   cell.X == 0,
			"pane_at_right":  cell.X+cell.W == w.Layout.W,
			"pane_at_bottom": cell.Y+cell.H == w.Layout.H,
		})
	}
	return all
}

func ttyPath(pid int) string {
	stat, _ := procfs.Read(pid)
	return stat.TTY()
}

// exitStatus returns the exit status of a dead pane's program, and "" for a running one.
func (v *variables) exitStatus(p *server.Pane) any {
	if code := v.knownProcesses()[p.Terminal].ExitCode; code != nil && !v.isAlive(p) {
		return *code
	}
	return ""
}

func (v *variables) exitTime(p *server.Pane) any {
	if at := v.knownProcesses()[p.Terminal].ExitedAt; at != nil {
		return *at
	}
	return ""
}

// tabStops lists the columns of a terminal's tab stops.
func tabStops(width int) string {
	var all []string
	for x := 8; x < width; x += 8 {
		all = append(all, strconv.Itoa(x))
	}
	return strings.Join(all, ",")
}

// paneTitle returns the title set by a command, else the one set by the program, else the host name.
func paneTitle(p *server.Pane, process api.Process) string {
	if p.Title != "" {
		return p.Title
	}
	if process.Terminal != nil && process.Terminal.Title != "" {
		return process.Terminal.Title
	}
	host, _ := os.Hostname()
	return host
}

// startCommand formats a command line as tmux shows it.
func startCommand(argv []string) string {
	if len(argv) == 3 && argv[1] == "-c" {
		argv = argv[2:]
	}
	var words []string
	for _, word := range argv {
		if strings.ContainsAny(word, " \t\"'$;#{}%\\") {
			word = strconv.Quote(word)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// loadScreen returns the pane's screen with its scrollback, fetching it once. It is empty on failure.
func (v *variables) loadScreen() *api.Screen {
	if v.screen == nil {
		v.screen = &api.Screen{}
		if s, err := v.readScreen(v.at.Pane, false); err == nil {
			v.screen = &s
		}
	}
	return v.screen
}

func (v *variables) historySize() int {
	s := v.loadScreen()
	return max(len(s.Lines)-s.Rows, 0)
}

func (v *variables) screenFacts(s *api.Screen) facts {
	character := " "
	if row := v.historySize() + s.Cursor.Y; row < len(s.Lines) {
		if line := []rune(s.Lines[row]); s.Cursor.X < len(line) {
			character = string(line[s.Cursor.X])
		}
	}
	return facts{
		"cursor_x":            s.Cursor.X,
		"cursor_y":            s.Cursor.Y,
		"cursor_flag":         s.Cursor.Visible,
		"cursor_character":    character,
		"alternate_on":        s.AltScreen,
		"alternate_saved_x":   "4294967295",
		"alternate_saved_y":   "4294967295",
		"scroll_region_upper": 0,
		"scroll_region_lower": max(s.Rows-1, 0),
	}
}
