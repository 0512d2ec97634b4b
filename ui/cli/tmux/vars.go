package tmux

import (
	"cmp"
	"fmt"
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

func truth(value string) bool { return format.Truth(value) }

// variables are what formats know of one place.
type variables struct {
	*call
	at     server.Place
	screen *api.Screen // of the pane; nil before it was asked for
}

// scope is what formats are expanded with at a place.
func (c *call) scope(at server.Place) format.Scope {
	if at.Session == nil && c.file != nil && c.file.Running() {
		at, _ = c.finder().Find("", server.WantPane)
	}
	if at.Session != nil && at.Window == nil {
		at.Window = at.Session.Current()
	}
	if at.Window != nil && at.Pane == nil {
		at.Pane = at.Window.Active()
	}
	v := &variables{call: c, at: at}
	return format.Scope{Lookup: v.lookup, Loop: v.loop, Now: time.Now(), Named: func(kind, name string) bool {
		if kind == "s" {
			return c.sessionNamed(name)
		}
		return at.Session != nil && at.Session.Named(name, true) != nil
	}}
}

func flag(on bool) (string, bool) {
	if on {
		return "1", true
	}
	return "0", true
}

func (v *variables) lookup(name string) (string, bool) {
	kind, _, _ := strings.Cut(name, "_")
	var value string
	var ok bool
	switch {
	case kind == "session" && v.at.Session != nil:
		value, ok = v.ofSession(name, v.at.Session)
	case (kind == "window" || name == "last_window_index" || name == "active_window_index") && v.at.Window != nil:
		value, ok = v.ofWindow(name, v.at.Window)
	case (kind == "pane" || kind == "history") && v.at.Pane != nil:
		value, ok = v.ofPane(name, v.at.Pane)
	case kind == "buffer":
		value, ok = v.ofBuffer(name)
	case kind == "cursor" || kind == "alternate" || kind == "scroll":
		value, ok = v.ofScreen(name)
	default:
		value, ok = v.ofServer(name)
	}
	if ok {
		return value, true
	}
	if value, _, ok := v.file.Lookup(v.at, name); ok {
		if k, err := server.Resolve(name); err == nil && k.IsSwitch() {
			return flag(value == "on")
		}
		return string(value), true
	}
	value, ok = v.environFor(v.at.Session)[name]
	return value, ok
}

func (v *variables) ofServer(name string) (string, bool) {
	switch name {
	case "version":
		return version, true
	case "socket_path":
		return v.path, true
	case "pid":
		return strconv.Itoa(v.pid()), true
	case "start_time":
		return stamp(v.file.Started), true
	case "host", "host_short":
		host, _ := os.Hostname()
		if name == "host_short" {
			host, _, _ = strings.Cut(host, ".")
		}
		return host, true
	case "uid":
		return strconv.Itoa(os.Getuid()), true
	case "user":
		u, err := user.Current()
		if err != nil {
			return "", false
		}
		return u.Username, true
	case "server_sessions":
		return strconv.Itoa(len(v.file.Sessions)), true
	case "next_session_id":
		return fmt.Sprintf("$%d", v.file.Next.Session), true
	case "line":
		return "0", true
	case "mouse_all_flag", "mouse_any_flag", "mouse_button_flag", "mouse_sgr_flag", "mouse_standard_flag", "mouse_utf8_flag",
		"insert_flag", "keypad_cursor_flag", "keypad_flag", "origin_flag":
		if v.at.Pane != nil {
			return "0", true
		}
	case "wrap_flag":
		return "1", true
	}
	return "", false
}

func stamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return strconv.FormatInt(at.Unix(), 10)
}

func (v *variables) ofSession(name string, s *server.Session) (string, bool) {
	switch name {
	case "session_name":
		return s.Name, true
	case "session_id":
		return fmt.Sprintf("$%d", s.ID), true
	case "session_windows":
		return strconv.Itoa(len(s.Windows)), true
	case "session_created":
		return stamp(s.Created), true
	case "session_activity":
		return stamp(s.Used), true
	case "session_last_attached":
		return stamp(s.Attached), true
	case "session_path":
		return s.CWD, true
	case "session_width", "session_height": // gone since tmux 2.9
		return "", false
	case "session_attached":
		return flag(v.attached(s))
	case "session_many_attached", "session_grouped", "session_marked", "session_format":
		return flag(name == "session_format" && false)
	case "session_attached_list", "session_group", "session_group_list", "session_alerts":
		return "", true
	case "session_stack":
		return indexes(s), true
	}
	return "", false
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

// indexes are those of the windows, the current one first.
func indexes(s *server.Session) string {
	var all []string
	for _, id := range s.Stack {
		if w := s.Window(id); w != nil {
			all = append(all, strconv.Itoa(w.Index))
		}
	}
	return strings.Join(all, ",")
}

func (v *variables) ofWindow(name string, w *server.Window) (string, bool) {
	s := v.at.Session
	switch name {
	case "window_name":
		return w.Name, true
	case "window_id":
		return fmt.Sprintf("@%d", w.ID), true
	case "window_index":
		return strconv.Itoa(w.Index), true
	case "window_panes":
		return strconv.Itoa(len(w.Panes)), true
	case "window_width":
		return strconv.Itoa(w.Layout.W), true
	case "window_height":
		return strconv.Itoa(w.Layout.H), true
	case "window_layout":
		return w.Layout.String(), true
	case "window_visible_layout":
		if w.Zoomed {
			return w.Cell(w.Active()).String(), true
		}
		return w.Layout.String(), true
	case "window_active":
		return flag(s.Current() == w)
	case "window_last_flag":
		return flag(s.Last() == w)
	case "window_zoomed_flag":
		return flag(w.Zoomed)
	case "window_flags", "window_raw_flags":
		return windowFlags(s, w), true
	case "window_start_flag":
		return flag(s.Windows[0] == w)
	case "window_end_flag":
		return flag(s.Windows[len(s.Windows)-1] == w)
	case "window_activity":
		return stamp(v.activity(w)), true
	case "window_stack_index":
		return strconv.Itoa(slices.Index(s.Stack, w.ID)), true
	case "window_linked_sessions", "window_active_sessions":
		return "1", true
	case "window_linked_sessions_list", "window_active_sessions_list":
		return s.Name, true
	case "window_active_clients", "window_linked", "window_marked_flag", "window_bell_flag", "window_activity_flag",
		"window_silence_flag", "window_bigger":
		return "0", true
	case "window_cell_width": // of a window that no client shows
		return "16", true
	case "window_cell_height":
		return "32", true
	case "active_window_index":
		return strconv.Itoa(s.Current().Index), true
	case "last_window_index":
		return strconv.Itoa(s.Windows[len(s.Windows)-1].Index), true
	}
	return "", false
}

func windowFlags(s *server.Session, w *server.Window) string {
	flags := ""
	switch w {
	case s.Current():
		flags += "*"
	case s.Last():
		flags += "-"
	}
	if w.Zoomed {
		flags += "Z"
	}
	return flags
}

// activity is when a window's programs did something last.
func (v *variables) activity(w *server.Window) time.Time {
	last := w.Created
	for _, p := range w.Panes {
		if t := v.known()[p.Terminal].Terminal; t != nil && t.ActiveAt.After(last) {
			last = t.ActiveAt
		}
	}
	return last
}

func (v *variables) ofPane(name string, p *server.Pane) (string, bool) {
	w := v.at.Window
	switch name {
	case "pane_id":
		return fmt.Sprintf("%%%d", p.ID), true
	case "pane_index":
		base := v.option(v.at, "pane-base-index").Int()
		return strconv.Itoa(base + slices.Index(w.Panes, p)), true
	case "pane_active":
		return flag(w.Active() == p)
	case "pane_last":
		return flag(w.Last() == p)
	case "pane_title":
		return v.title(p, v.known()[p.Terminal]), true
	case "pane_pid":
		return strconv.Itoa(p.PID), true
	case "pane_tty":
		stat, _ := procfs.Read(p.PID)
		return stat.TTY(), true
	case "pane_current_command":
		return v.command(p), true
	case "pane_current_path":
		return cmp.Or(foregroundFolder(p.PID), p.CWD), true
	case "pane_start_path":
		return p.CWD, true
	case "pane_start_command":
		return startCommand(p.Argv), true
	case "pane_dead":
		return flag(!v.alive(p))
	case "pane_dead_status":
		if code := v.known()[p.Terminal].ExitCode; !v.alive(p) && code != nil {
			return strconv.Itoa(*code), true
		}
		return "", true
	case "pane_dead_signal", "pane_mode", "pane_search_string", "pane_marked_set", "pane_path":
		return "", true
	case "pane_dead_time":
		if at := v.known()[p.Terminal].ExitedAt; at != nil {
			return stamp(*at), true
		}
		return "", true
	case "pane_synchronized":
		return flag(v.option(v.at, "synchronize-panes").On())
	case "pane_in_mode", "pane_marked":
		return "0", true
	case "pane_pipe":
		return flag(p.Pipe != "")
	case "pane_input_off":
		return flag(p.Off)
	case "pane_fg", "pane_bg":
		return "default", true
	case "pane_tabs":
		return tabs(w.Layout.W), true
	case "history_limit":
		return string(v.option(v.at, "history-limit")), true
	case "history_size":
		return strconv.Itoa(v.history()), true
	case "history_bytes":
		return strconv.Itoa(v.history() * w.Layout.W), true
	}
	return v.ofCell(name, w, p)
}

// ofCell is where a pane lies.
func (v *variables) ofCell(name string, w *server.Window, p *server.Pane) (string, bool) {
	cell := w.Cell(p)
	if cell == nil {
		return "", false
	}
	switch name {
	case "pane_width":
		return strconv.Itoa(cell.W), true
	case "pane_height":
		return strconv.Itoa(cell.H), true
	case "pane_left":
		return strconv.Itoa(cell.X), true
	case "pane_top":
		return strconv.Itoa(cell.Y), true
	case "pane_right":
		return strconv.Itoa(cell.X + cell.W - 1), true
	case "pane_bottom":
		return strconv.Itoa(cell.Y + cell.H - 1), true
	case "pane_at_top":
		return flag(cell.Y == 0)
	case "pane_at_left":
		return flag(cell.X == 0)
	case "pane_at_right":
		return flag(cell.X+cell.W == w.Layout.W)
	case "pane_at_bottom":
		return flag(cell.Y+cell.H == w.Layout.H)
	}
	return "", false
}

// tabs are the stops of a terminal.
func tabs(width int) string {
	var all []string
	for x := 8; x < width; x += 8 {
		all = append(all, strconv.Itoa(x))
	}
	return strings.Join(all, ",")
}

// title is what somebody called the pane, what its program did, or the machine.
func (v *variables) title(p *server.Pane, process api.Process) string {
	if p.Title != "" {
		return p.Title
	}
	if process.Terminal != nil && process.Terminal.Title != "" {
		return process.Terminal.Title
	}
	host, _ := os.Hostname()
	return host
}

func (v *variables) command(p *server.Pane) string {
	if name := foregroundName(p.PID); name != "" {
		return name
	}
	return v.programName(p.Argv)
}

// startCommand is a command line as tmux shows it.
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

// look is the pane's screen with its history.
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

func (v *variables) ofScreen(name string) (string, bool) {
	if v.at.Pane == nil {
		return "", false
	}
	switch s := v.look(); name {
	case "cursor_x":
		return strconv.Itoa(s.Cursor.X), true
	case "cursor_y":
		return strconv.Itoa(s.Cursor.Y), true
	case "cursor_flag":
		return flag(s.Cursor.Visible)
	case "alternate_on":
		return flag(s.AltScreen)
	case "cursor_character":
		row := v.history() + s.Cursor.Y
		if row < len(s.Lines) {
			if line := []rune(s.Lines[row]); s.Cursor.X < len(line) {
				return string(line[s.Cursor.X]), true
			}
		}
		return " ", true
	case "alternate_saved_x", "alternate_saved_y":
		return "4294967295", true
	case "scroll_region_upper":
		return "0", true
	case "scroll_region_lower":
		return strconv.Itoa(max(s.Rows-1, 0)), true
	}
	return "", false
}

func (v *variables) ofBuffer(name string) (string, bool) {
	if len(v.file.Buffers) == 0 {
		return "", false
	}
	return bufferVariable(v.file.Buffers[0], name)
}

// loop is what #{S:…}, #{W:…} and #{P:…} go over.
func (v *variables) loop(over byte) (scopes []format.Scope, current int) {
	current = -1
	add := func(at server.Place, is bool) {
		if is {
			current = len(scopes)
		}
		scopes = append(scopes, v.scope(at))
	}
	switch {
	case over == 'S':
		for _, s := range v.file.Sorted() {
			add(server.Place{Session: s}, s == v.at.Session)
		}
	case over == 'W' && v.at.Session != nil:
		for _, w := range v.at.Session.Windows {
			add(server.Place{Session: v.at.Session, Window: w}, w == v.at.Session.Current())
		}
	case v.at.Window != nil:
		for _, p := range v.at.Window.Panes {
			add(server.Place{Session: v.at.Session, Window: v.at.Window, Pane: p}, p == v.at.Window.Active())
		}
	}
	return scopes, current
}
