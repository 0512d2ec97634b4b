package panestest

import (
	"context"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// patience is how long a test waits for an expected state.
const patience = time.Minute

// A Driver runs a pane as the dashboard does, one message at a time. As on a real screen, row 0
// belongs to the dashboard, so the mouse has the same coordinates.
type Driver struct {
	t        *testing.T
	ctx      context.Context
	env      *Env
	pane     panes.Pane
	w, h     int
	resolver *keymap.Resolver
	msgs     chan tea.Msg
	held     []any // keys and pastes, while an action is pending
}

// Drive shows a pane made for env on a screen of w×h cells.
func Drive(t *testing.T, env *Env, pane panes.Pane, w, h int) *Driver {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() {
		cancel()
		if files, ok := env.API.(interface{ Close() }); ok {
			files.Close()
		}
	})
	env.Ctx = ctx
	env.Known.Connected = true
	d := &Driver{t: t, ctx: ctx, env: env, pane: pane, w: w, h: h, resolver: keymap.NewResolver(env.Bindings()), msgs: make(chan tea.Msg, 1000)}
	pane.Resize(w, h-2)
	pane.Show()
	d.update(nil)
	return d
}

// Announce applies an event of the engine. It may be called from any goroutine.
func (d *Driver) Announce(e api.Event) { d.send(e) }

func (d *Driver) send(msg tea.Msg) {
	select {
	case d.msgs <- msg:
	case <-d.ctx.Done():
	}
}

func (d *Driver) update(msg tea.Msg) {
	switch msg := msg.(type) {
	case api.Event:
		before := d.env.Known
		d.env.Known.Apply(msg)
		d.pane.HandleNews(&before)
	case panes.Result:
		d.Run(msg())
	case dialog.Answer:
		if d.env.Shown == msg.Of {
			d.Run(msg.Do())
		}
	case panes.DoneMsg:
		if msg.Err != nil {
			d.Run(d.env.Say(panes.ErrorText(msg.Err), true))
		}
	case keys.Key:
		d.Run(d.pressKey(msg))
	case tea.PasteMsg:
		d.Run(d.paste(msg.Content))
	case keys.Mouse:
		d.Run(d.sendMouse(msg))
	}
	d.Run(d.env.RunPending())
	d.Run(d.pane.Fetch())
	if open, ok := d.env.Shown.(interface{ Fetch() tea.Cmd }); ok {
		d.Run(open.Fetch())
	}
	for len(d.held) > 0 && d.env.Pending == nil {
		first := d.held[0]
		d.held = d.held[1:]
		d.update(first)
	}
}

// Run runs a command and handles its messages.
func (d *Driver) Run(cmd tea.Cmd) {
	if cmd != nil {
		go func() { d.deliver(cmd()) }()
	}
}

func (d *Driver) deliver(msg tea.Msg) {
	// The messages of tea.Batch and tea.Sequence are lists of commands.
	if v := reflect.ValueOf(msg); v.IsValid() && v.Type().ConvertibleTo(reflect.TypeFor[[]tea.Cmd]()) {
		for _, cmd := range v.Convert(reflect.TypeFor[[]tea.Cmd]()).Interface().([]tea.Cmd) {
			d.Run(cmd)
		}
		return
	}
	if msg != nil {
		d.send(msg)
	}
}

// Press types keys by name. A name starting with a quote is typed as text.
func (d *Driver) Press(names ...string) {
	d.t.Helper()
	for _, name := range names {
		text, isText := strings.CutPrefix(name, "'")
		if !isText {
			k, err := keys.Parse(name)
			if err != nil {
				d.t.Fatal(err)
			}
			d.input(k)
			continue
		}
		for _, r := range text {
			d.input(keys.Key{Code: keys.Code(r), Text: string(r)})
		}
	}
}

// Paste pastes text.
func (d *Driver) Paste(text string) { d.input(tea.PasteMsg{Content: text}) }

// input handles a key or a paste. While an action is pending, input waits. The key for Cancel drops
// the action and the input that waits.
func (d *Driver) input(msg any) {
	if d.env.Pending == nil {
		d.update(msg)
		return
	}
	k, isKey := msg.(keys.Key)
	if !isKey || keymap.NewResolver(d.env.Bindings()).Resolve(k, keymap.ScopePrompt, keymap.ScopePicker, keymap.ScopeForm).Action != keymap.Cancel {
		d.held = append(d.held, msg)
		return
	}
	pending := d.env.Pending
	d.env.Pending, d.held = nil, nil
	if pending.Cancel != nil {
		pending.Cancel()
	}
}

func (d *Driver) pressKey(k keys.Key) tea.Cmd {
	d.env.ClearMessage()
	open := d.env.Shown
	taker, _ := d.pane.(panes.KeyTaker)
	if taker != nil && open == nil && !d.resolver.Pending() && taker.TakeKey(k) {
		return nil
	}
	outcome := d.resolver.Resolve(k, d.Scopes()...)
	switch {
	case outcome.Kind == keymap.Bound && open != nil:
		return open.Do(d.env, outcome.Action)
	case outcome.Kind == keymap.Bound:
		if act := d.pane.Actions()[outcome.Action]; act != nil {
			return act()
		}
	case outcome.Kind == keymap.Unbound && open != nil:
		return open.Type(d.env, pressMsg(k))
	case outcome.Kind == keymap.Unbound && taker != nil:
		return taker.HandleKey(k)
	case outcome.Kind == keymap.Unbound:
		return d.pane.Type(pressMsg(k))
	}
	return nil
}

// pressMsg converts a key to Bubble Tea's form.
func pressMsg(k keys.Key) tea.KeyPressMsg {
	code := rune(k.Code)
	if named, ok := map[keys.Code]rune{
		keys.Up: tea.KeyUp, keys.Down: tea.KeyDown, keys.Right: tea.KeyRight, keys.Left: tea.KeyLeft,
		keys.Home: tea.KeyHome, keys.End: tea.KeyEnd, keys.PageUp: tea.KeyPgUp, keys.PageDown: tea.KeyPgDown, keys.Delete: tea.KeyDelete,
	}[k.Code]; ok {
		code = named
	}
	var mods tea.KeyMod
	for ours, theirs := range map[keys.Mod]tea.KeyMod{keys.Shift: tea.ModShift, keys.Alt: tea.ModAlt, keys.Ctrl: tea.ModCtrl} {
		if k.Mods&ours != 0 {
			mods |= theirs
		}
	}
	return tea.KeyPressMsg{Code: code, Mod: mods, Text: k.Text}
}

func (d *Driver) paste(text string) tea.Cmd {
	if d.env.Shown != nil {
		return d.env.Shown.Paste(d.env, text)
	}
	return d.pane.Paste(text)
}

// Mouse sends a mouse event. Its position is in cells of Screen.
func (d *Driver) Mouse(e keys.Mouse) { d.update(e) }

// Click presses and releases the left button.
func (d *Driver) Click(x, y int) {
	d.Mouse(keys.Mouse{X: x, Y: y, Button: keys.ButtonLeft, Kind: keys.MouseDown})
	d.Mouse(keys.Mouse{X: x, Y: y, Button: keys.ButtonLeft, Kind: keys.MouseUp})
}

func (d *Driver) sendMouse(e keys.Mouse) tea.Cmd {
	u, ok := d.env.Shown.(interface {
		Mouse(dialog.Host, keys.Mouse) tea.Cmd
	})
	switch {
	case ok:
		e.X, e.Y = e.X-2, e.Y-d.h-statusRows+1
		return u.Mouse(d.env, e)
	case d.env.Shown != nil:
		return nil
	}
	e.Y--
	return d.pane.Mouse(e)
}

// statusRows is the number of rows that Screen has between the pane and the dialog.
const statusRows = 3

// Scopes returns the scopes in which keys are looked up, innermost first.
func (d *Driver) Scopes() []keymap.Scope {
	if d.env.Shown != nil {
		return d.env.Shown.Scopes()
	}
	return append(d.pane.Scopes(), keymap.ScopeGlobal)
}

// Screen returns the text of the screen without colors. It contains the pane, its note, the last
// message and the hints, and below them the open dialog.
func (d *Driver) Screen() string {
	note, _ := d.pane.Note()
	rows := slices.Concat([]string{""}, d.paneRows(), []string{note, d.env.Said, d.hints()})
	for _, row := range d.dialogRows() {
		rows = append(rows, "│ "+row+" │")
	}
	return ansi.Strip(strings.Join(rows, "\n"))
}

func (d *Driver) paneRows() []string {
	if r, ok := d.pane.(panes.Redrawer); ok {
		return strings.Split(strings.TrimSuffix(string(r.AppendRows(nil)), "\n"), "\n")
	}
	return d.pane.Draw()
}

func (d *Driver) dialogRows() []string {
	if d.env.Shown == nil {
		return nil
	}
	rows, _, _, _ := d.env.Shown.Draw(d.env, d.w, d.h)
	return rows
}

func (d *Driver) hints() string {
	var hints []keymap.Hint
	if d.env.Shown != nil {
		hints = d.env.Shown.Hints(d.env)
	} else if all, ok := d.pane.Hints(); ok {
		hints = all
	} else {
		hints = d.env.Bindings().Hints(false, d.Scopes()...)
	}
	line, _ := look.Hints(hints, d.w, 0, "", "")
	return line
}

// CheckRows checks that the pane fills its height, and that each row of the pane and of the dialog
// has the right width.
func (d *Driver) CheckRows() {
	d.t.Helper()
	rows := d.pane.Draw()
	if len(rows) != d.h-2 {
		d.t.Errorf("%d×%d: %d rows", d.w, d.h, len(rows))
	}
	d.checkWidths(rows, d.w)
	if d.env.Shown != nil {
		rows, w, _, _ := d.env.Shown.Draw(d.env, d.w, d.h)
		d.checkWidths(rows, w)
	}
}

func (d *Driver) checkWidths(rows []string, w int) {
	d.t.Helper()
	for i, row := range rows {
		if got := text.Width(row); got != w {
			d.t.Errorf("%d×%d: row %d is %d wide: %q", d.w, d.h, i, got, row)
		}
	}
}

// Wait handles messages until cond holds.
func (d *Driver) Wait(what string, cond func() bool) {
	d.t.Helper()
	deadline := time.After(patience)
	for !cond() {
		select {
		case msg := <-d.msgs:
			d.update(msg)
		case <-deadline:
			d.t.Fatalf("waited in vain: %s\n%s", what, d.Screen())
		}
	}
}

// WaitText waits until text is on the screen.
func (d *Driver) WaitText(text string) {
	d.t.Helper()
	d.Wait("the screen shows "+text, func() bool { return strings.Contains(d.Screen(), text) })
}

// WaitMatch waits until the screen matches a regular expression. In the pattern, ^ and $ match at
// the ends of rows.
func (d *Driver) WaitMatch(pattern string) {
	d.t.Helper()
	re := regexp.MustCompile("(?m)" + pattern)
	d.Wait("the screen matches "+pattern, func() bool { return re.MatchString(d.Screen()) })
}

// WaitNoText waits until text is not on the screen.
func (d *Driver) WaitNoText(text string) {
	d.t.Helper()
	d.Wait("the screen no longer shows "+text, func() bool { return !strings.Contains(d.Screen(), text) })
}

// Press runs the handler of an action and returns its command.
func Press(t *testing.T, actions panes.Actions, action keymap.Action) tea.Cmd {
	t.Helper()
	act := actions[action]
	if act == nil {
		t.Fatalf("%s does nothing", action)
	}
	return act()
}

// RunAll runs a command and, if its result returns another command, that one too, until none is
// left.
func RunAll(cmd tea.Cmd) {
	for cmd != nil {
		result, ok := cmd().(panes.Result)
		if !ok {
			return
		}
		cmd = result()
	}
}
