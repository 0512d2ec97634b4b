package pick

import (
	"context"
	"errors"
	"os"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"tandem/engine/api/client"
)

// Options say what is looked for, and how that looks.
type Options struct {
	Connect func(context.Context) (*client.Client, error)
	Query   string // to begin with
	Folder  string // that commands can be restricted to
	Home    string // shown as "~"
	// Theme is the name of the theme on a dark or light background; "" is the
	// terminal's own colours.
	Theme func(dark bool) string
}

// A Choice is what the person chose. Without a line they chose nothing.
type Choice struct {
	Line string
	Run  bool // at once; else it is to be edited first
}

// Run shows the history on the terminal that the process belongs to, whatever its
// standard streams are, until something is chosen.
func Run(ctx context.Context, o Options) (Choice, error) {
	in, out, err := tea.OpenTTY()
	if err != nil {
		return Choice{}, err
	}
	defer in.Close()
	if out != in {
		defer out.Close()
	}
	c, err := o.Connect(ctx)
	if err != nil {
		return Choice{}, err
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newModel(ctx, o, c, colorprofile.Detect(out, os.Environ()))
	_, err = tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out)).Run()
	if errors.Is(err, tea.ErrInterrupted) {
		return Choice{}, nil
	}
	return m.chosen, err
}
