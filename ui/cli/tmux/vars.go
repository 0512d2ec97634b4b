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

func truth(value string) bool { return format.IsTrue(value) }

// variables are what formats know of one place.
type variables struct {
	*call
	at     server.Target
	screen *api.Screen // of the pane; nil before it was asked for
}

// scope returns what formats are expanded with at a place.
func (c *call) scope(at server.Target) format.Scope {
	if at.Session == nil && c.file != nil && c.file.IsRunning() {
		at, _ = c.finder().FindTarget("", server.TargetPane)
	}
	if at.Session != nil && at.Window == nil {
		at.Window = at.Session.CurrentWindow()
	}
	if at.Window != nil && at.Pane == nil {
		at.Pane = at.Window.ActivePane()
	}
	v := &variables{call: c, at: at}
	return format.Scope{Lookup: v.lookup, Now: time.Now(), Unsupported: func(what string) {
		c.refused = fmt.Errorf("format %s is not supported by tandem", what)
	}}
}

// facts are variables by name: strings, numbers, switches, times, or a func() any for what takes
// time to find out.
type facts map[string]any

func (v *variables) lookup(name string) (string, bool) {
	if value, ok := v.facts(name)[name]; ok {
		return written(value), true
	}
	if value, _, ok := v.file.LookupOption(v.at, name); ok {
		if k, err := server.ResolveOption(name); err == nil && k.IsSwitch() {
			return written(value == "on"), true
		}
		return string(value), true
	}
	value, ok := v.environFor(v.at.Session)[name]
	return value, ok
}

// facts returns the variables among which one with a name would be.
func (v *variables) facts(name string) facts {
	kind, _, _ := strings.Cut(name, "_")
	switch {
	case kind == "session" && v.at.Session != nil:
		return v.ofSession(v.at.Session)
	case (kind == "window" || name == "last_window_index" || name == "active_window_index") && v.at.Window != nil:
		return v.ofWindow(v.at.Session, v.at.Window)
	case (kind == "pane" || kind == "history") && v.at.Pane != nil:
		return v.ofPane(v.at.Window, v.at.Pane)
	case kind == "buffer" && len(v.file.Buffers) > 0:
		return bufferFacts(v.file.Buffers[0])
	case (kind == "cursor" || kind == "alternate" || kind == "scroll") && v.at.Pane != nil:
		return v.ofScreen(v.look())
	}
	return v.ofServer()
}

// written writes the value of a variable as tmux does.
func written(value any) string {
	switch x := value.(type) {
	case func() any:
		return written(x())
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

func (v *variables) ofServer() facts {
	host, _ := os.Hostname()
	short, _, _ := strings.Cut(host, ".")
	all := facts{
		"version":         version,
		"socket_path":     v.path,
		"pid":             func() any { return v.pid() },
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
	if v.at.Pane != nil { // modes of its terminal that the engine does not tell
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

func (v *variables) ofSession(s *server.Session) facts {
	return facts{
		"session_name":          s.Name,
		"session_id":            fmt.Sprintf("$%d", s.ID),
		"session_windows":       len(s.Windows),
		"session_created":       s.Created,
		"session_activity":      s.Used,
		"session_last_attached": s.Attached,
		"session_path":          s.CWD,
		"session_attached":      func() any { return v.attached(s) },
		"session_stack":         indexes(s),
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

// attached reports whether somebody looks at a session.
func (v *variables) attached(s *server.Session) bool {
	return slices.ContainsFunc(s.Windows, func(w *server.Window) bool {
		return slices.ContainsFunc(w.Panes, func(p *server.Pane) bool {
			t := v.known()[p.Terminal].Terminal
			return t != nil && t.Viewers > 0 && !p.Adopted
		})
	})
}

// indexes lists those of the windows, the current one first.
func indexes(s *server.Session) string {
	var all []string
	for _, id := range s.Stack {
		if w := s.WindowByID(id); w != nil {
			all = append(all, strconv.Itoa(w.Index))
		}
	}
	return strings.Join(all, ",")
}

func (v *variables) ofWindow(s *server.Session, w *server.Window) facts {
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
		"window_activity":             func() any { return v.activity(w) },
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
		"window_cell_width":           16, // of a window that no client shows
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

// activity returns when a window's programs last did something.
func (v *variables) activity(w *server.Window) time.Time {
	last := w.Created
	for _, p := range w.Panes {
		if t := v.known()[p.Terminal].Terminal; t != nil && t.ActiveAt.After(last) {
			last = t.ActiveAt
		}
	}
	return last
}

func (v *variables) ofPane(w *server.Window, p *server.Pane) facts {
	all := facts{
		"pane_id":              fmt.Sprintf("%%%d", p.ID),
		"pane_index":           func() any { return v.option(v.at, "pane-base-index").Int() + slices.Index(w.Panes, p) },
		"pane_active":          w.ActivePane() == p,
		"pane_last":            w.LastPane() == p,
		"pane_title":           func() any { return title(p, v.known()[p.Terminal]) },
		"pane_pid":             p.PID,
		"pane_tty":             func() any { return ttyOf(p.PID) },
		"pane_current_command": func() any { return cmp.Or(foregroundName(p.PID), v.programName(p.Argv)) },
		"pane_current_path":    func() any { return cmp.Or(foregroundFolder(p.PID), p.CWD) },
		"pane_start_path":      p.CWD,
		"pane_start_command":   startCommand(p.Argv),
		"pane_dead":            func() any { return !v.alive(p) },
		"pane_dead_status":     func() any { return v.exitStatus(p) },
		"pane_dead_time":       func() any { return v.exitTime(p) },
		"pane_synchronized":    func() any { return v.option(v.at, "synchronize-panes").IsOn() },
		"pane_pipe":            p.Pipe != "",
		"pane_input_off":       p.InputOff,
		"pane_tabs":            tabs(w.Layout.W),
		"pane_fg":              "default",
		"pane_bg":              "default",
		"pane_in_mode":         false,
		"pane_marked":          false,
		"pane_dead_signal":     "",
		"pane_mode":            "",
		"pane_search_string":   "",
		"pane_marked_set":      "",
		"pane_path":            "",
		"history_limit":        func() any { return string(v.option(v.at, "history-limit")) },
		"history_size":         func() any { return v.history() },
		"history_bytes":        func() any { return v.history() * w.Layout.W },
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

func ttyOf(pid int) string {
	stat, _ := procfs.Read(pid)
	return stat.TTY()
}

// exitStatus returns with what the program of a dead pane exited.
func (v *variables) exitStatus(p *server.Pane) any {
	if code := v.known()[p.Terminal].ExitCode; code != nil && !v.alive(p) {
		return *code
	}
	return ""
}

func (v *variables) exitTime(p *server.Pane) any {
	if at := v.known()[p.Terminal].ExitedAt; at != nil {
		return *at
	}
	return ""
}

// tabs lists the tab stops of a terminal.
func tabs(width int) string {
	var all []string
	for x := 8; x < width; x += 8 {
		all = append(all, strconv.Itoa(x))
	}
	return strings.Join(all, ",")
}

// title returns the pane's title as set by a command, else by its program, else the host's name.
func title(p *server.Pane, process api.Process) string {
	if p.Title != "" {
		return p.Title
	}
	if process.Terminal != nil && process.Terminal.Title != "" {
		return process.Terminal.Title
	}
	host, _ := os.Hostname()
	return host
}

// startCommand writes a command line as tmux shows it.
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

// look returns the pane's screen with its scrollback.
func (v *variables) look() *api.Screen {
	if v.screen == nil {
		v.screen = &api.Screen{}
		if s, err := v.capture(v.at.Pane, false); err == nil {
			v.screen = &s
		}
	}
	return v.screen
}

func (v *variables) history() int {
	s := v.look()
	return max(len(s.Lines)-s.Rows, 0)
}

func (v *variables) ofScreen(s *api.Screen) facts {
	character := " "
	if row := v.history() + s.Cursor.Y; row < len(s.Lines) {
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
