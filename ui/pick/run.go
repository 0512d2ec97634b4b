package pick

import (
	"context"
	"errors"
	"os"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"tandem/engine/api/client"
)

// Options configures the picker.
type Options struct {
	Connect func(context.Context) (*client.Client, error)
	Query   string // initial query
	Folder  string // folder to restrict commands to
	Home    string // displayed as "~"
	// Theme returns the name of the theme for a dark or a light background; "" uses the
	// terminal's own colours.
	Theme func(dark bool) string
}

// A Choice is the chosen command. Line is empty if nothing was chosen.
type Choice struct {
	Line string
	Run  bool // run it at once; otherwise it is edited first
}

// Run shows the history on the process's controlling terminal, whatever its standard
// streams are, until a command is chosen.
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
