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
	"tandem/persist/procstat"
	"tandem/ui/cli/tmux/server"
)

// variables looks up the variables of formats for one target.
type variables struct {
	state    *server.State
	engine   *engine
	settings *settings
	at       server.Target
	screen   *api.Screen // of the pane; nil until fetched by loadScreen
}

// facts maps variables to values: a string, int, bool or time, or a func() any to compute an expensive
// one only if it is used.
type facts map[string]any

func (v *variables) lookup(name string) (string, bool) {
	if value, ok := v.factsFor(name)[name]; ok {
		return formatValue(value), true
	}
	// As in tmux, options and environment variables can be used as variables, too.
	if value, _, ok := v.state.LookupOption(v.at, name); ok {
		if k, err := server.ResolveOption(name); err == nil && k.IsSwitch() {
			return formatValue(value == "on"), true
		}
		return string(value), true
	}
	value, ok := v.settings.environFor(v.at.Session)[name]
	return value, ok
}

// factsFor returns the group of variables to search for name, chosen by its prefix.
func (v *variables) factsFor(name string) facts {
	kind, _, _ := strings.Cut(name, "_")
	switch {
	case kind == "session" && v.at.Session != nil:
		return sessionFacts(v.at.Session, v.engine.isAttached)
	case (kind == "window" || name == "last_window_index" || name == "active_window_index") && v.at.Window != nil:
		return windowFacts(v.at.Session, v.at.Window, v.engine.lastActivity)
	case (kind == "pane" || kind == "history") && v.at.Pane != nil:
		return v.paneFacts()
	case kind == "buffer" && len(v.state.Buffers) > 0:
		return bufferFacts(v.state.Buffers[0])
	case (kind == "cursor" || kind == "alternate" || kind == "scroll") && v.at.Pane != nil:
		return screenFacts(v.loadScreen())
	}
	return serverFacts(v.state, v.at.Pane != nil)
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

// serverFacts returns the variables of the server, and with withPane the terminal modes of a pane.
func serverFacts(state *server.State, withPane bool) facts {
	host, _ := os.Hostname()
	short, _, _ := strings.Cut(host, ".")
	all := facts{
		"version":         version,
		"socket_path":     state.Path,
		"pid":             func() any { return serverPID(state) },
		"start_time":      state.Started,
		"host":            host,
		"host_short":      short,
		"uid":             os.Getuid(),
		"user":            func() any { return userName() },
		"server_sessions": len(state.Sessions),
		"next_session_id": fmt.Sprintf("$%d", state.Next.Session),
		"line":            0,
		"wrap_flag":       true,
	}
	if withPane { // terminal modes not reported by the engine
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

func sessionFacts(s *server.Session, isAttached func(*server.Session) bool) facts {
	return facts{
		"session_name":          s.Name,
		"session_id":            fmt.Sprintf("$%d", s.ID),
		"session_windows":       len(s.Windows),
		"session_created":       s.Created,
		"session_activity":      s.Used,
		"session_last_attached": s.Attached,
		"session_path":          s.CWD,
		"session_attached":      func() any { return isAttached(s) },
		"session_stack":         stackIndexes(s),
		"session_grouped":       false,
	}
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

func windowFacts(s *server.Session, w *server.Window, lastActivity func(*server.Window) time.Time) facts {
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
		"window_activity":             func() any { return lastActivity(w) },
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

func (v *variables) paneFacts() facts {
	w, p := v.at.Window, v.at.Pane
	all := facts{
		"pane_id":              fmt.Sprintf("%%%d", p.ID),
		"pane_index":           func() any { return v.settings.optionValue(v.at, "pane-base-index").Int() + slices.Index(w.Panes, p) },
		"pane_active":          w.ActivePane() == p,
		"pane_last":            w.LastPane() == p,
		"pane_title":           func() any { return paneTitle(p, v.engine.knownProcesses()[p.Terminal]) },
		"pane_pid":             p.PID,
		"pane_tty":             func() any { return ttyPath(p.PID) },
		"pane_current_command": func() any { return cmp.Or(foregroundName(p.PID), v.settings.programName(p.Argv)) },
		"pane_current_path":    func() any { return cmp.Or(foregroundDirectory(p.PID), p.CWD) },
		"pane_start_path":      p.CWD,
		"pane_start_command":   startCommand(p.Argv),
		"pane_dead":            func() any { return !v.engine.isAlive(p) },
		"pane_dead_status":     func() any { return v.engine.exitStatus(p) },
		"pane_dead_time":       func() any { return v.engine.exitTime(p) },
		"pane_synchronized":    func() any { return v.settings.optionValue(v.at, "synchronize-panes").IsOn() },
		"pane_pipe":            p.Pipe != "",
		"pane_input_off":       p.InputOff,
		"pane_tabs":            tabStops(w.Layout.W),
		"pane_fg":              "default",
		"pane_bg":              "default",
		"pane_in_mode":         false,
		"history_limit":        func() any { return string(v.settings.optionValue(v.at, "history-limit")) },
		"history_size":         func() any { return historySize(v.loadScreen()) },
		"history_bytes":        func() any { return historySize(v.loadScreen()) * w.Layout.W },
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

// ttyPath returns the path of the process's terminal.
func ttyPath(pid int) string {
	p, _ := procstat.Read(pid)
	return devicePath(p.Terminal)
}

// devicePath returns the path of a pseudo-terminal or a console of the machine, by the numbers in Linux's
// admin-guide/devices.txt. It returns "" for others.
func devicePath(device int) string {
	minor := device&0xff | device>>12&0xfff00
	switch major := device >> 8 & 0xfff; {
	case major == 136:
		return fmt.Sprintf("/dev/pts/%d", minor)
	case major == 4 && minor > 0 && minor < 64:
		return fmt.Sprintf("/dev/tty%d", minor)
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

// loadScreen returns the pane's screen with its scrollback, fetching it once. On failure the screen
// is empty.
func (v *variables) loadScreen() *api.Screen {
	if v.screen == nil {
		v.screen = &api.Screen{}
		if s, err := v.engine.readScreen(v.at.Pane, false); err == nil {
			v.screen = &s
		}
	}
	return v.screen
}

func historySize(s *api.Screen) int { return max(len(s.Lines)-s.Rows, 0) }

func screenFacts(s *api.Screen) facts {
	character := " "
	if row := historySize(s) + s.Cursor.Y; row < len(s.Lines) {
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
