package tmux

import (
	"cmp"
	"fmt"
	"io"

	"tandem/ui/cli/tmux/format"
	"tandem/ui/cli/tmux/server"
)

// formats expands formats for targets.
type formats struct {
	state       *server.State
	engine      *engine
	settings    *settings
	targets     *targets
	unsupported error // for an unsupported feature of an expanded format
}

// scope returns the scope for expanding formats at a target, completed by the current window and pane.
func (f *formats) scope(at server.Target) format.Scope {
	if at.Session == nil && f.state.IsRunning() {
		at, _ = f.targets.findDefault()
	}
	if at.Session != nil && at.Window == nil {
		at.Window = at.Session.CurrentWindow()
	}
	if at.Window != nil && at.Pane == nil {
		at.Pane = at.Window.ActivePane()
	}
	return f.exactScope(at)
}

// exactScope returns the scope for expanding formats at a target, whose missing parts have no
// variables.
func (f *formats) exactScope(at server.Target) format.Scope {
	v := &variables{state: f.state, engine: f.engine, settings: f.settings, at: at}
	return format.Scope{Lookup: v.lookup, Unsupported: func(what string) {
		f.unsupported = fmt.Errorf("format %s is not supported by tandem; use plain variables", what)
	}}
}

// expand expands a format at a target.
func (f *formats) expand(at server.Target, text string) string { return f.scope(at).Expand(text) }

// takeError returns the error of the formats expanded since the previous call. Expanding a format
// returns no error itself.
func (f *formats) takeError() (err error) {
	err, f.unsupported = f.unsupported, nil
	return err
}

// A printer prints the results of commands.
type printer struct {
	out     io.Writer
	formats *formats
}

func (p *printer) lines(lines ...string) {
	for _, line := range lines {
		fmt.Fprintln(p.out, line)
	}
}

// item prints one item of a list, in the format given by -F or else in form. An item that -f
// filters out is not printed.
func (p *printer) item(cmd *command, at server.Target, form string) {
	p.filtered(cmd, p.formats.scope(at), form)
}

func (p *printer) filtered(cmd *command, scope format.Scope, form string) {
	if cmd.has('F') {
		form = cmd.value('F')
	}
	if !cmd.has('f') || format.IsTrue(scope.Expand(cmd.value('f'))) {
		p.lines(scope.Expand(form))
	}
}

// created prints a new session, window or pane if -P is given, in the format given by -F or else in
// form.
func (p *printer) created(cmd *command, at server.Target, form string) {
	if cmd.has('P') {
		p.lines(p.formats.expand(at, cmp.Or(cmd.value('F'), form)))
	}
}
