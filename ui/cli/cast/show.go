package cast

import (
	"cmp"
	"context"
	"image"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/screen/vt"
	"tandem/ui/display"
	"tandem/ui/pictures"
)

// queryTimeout is how long a terminal may take to report which pictures it supports.
const queryTimeout = time.Second

// A screen is the terminal for playback, with its support for pictures. Sixels are passed through
// if the terminal supports them. Pictures of kitty's protocol, which would stay in the terminal,
// and unsupported pictures are converted, beginning with the first picture.
type screen struct {
	tty          *os.File
	wanted       string // how to show pictures, as in the configuration
	answers      chan []byte
	capabilities display.Terminal
	queriedAt    time.Time // time of the query; zero if there was none

	size      size
	model     *vt.Terminal
	converter *pictures.Converter // nil until there is something to convert
}

// A size is a terminal's size in cells, and a cell's size in pixels; zero means unknown.
type size struct {
	cols, rows int
	cell       image.Point
}

// maxAnswers is how many answers are buffered: enough for all answers to one query.
const maxAnswers = 64

func newScreen(tty *os.File, wanted string) *screen {
	s := &screen{tty: tty, wanted: wanted, answers: make(chan []byte, maxAnswers), size: terminalSize(tty)}
	s.model = vt.New(vt.Options{Cols: cmp.Or(s.size.cols, 80), Rows: cmp.Or(s.size.rows, 24), ScrollbackLines: -1, Cell: s.size.cell})
	return s
}

func terminalSize(tty *os.File) (s size) {
	if w, err := unix.IoctlGetWinsize(int(tty.Fd()), unix.TIOCGWINSZ); err == nil && w.Col > 0 && w.Row > 0 {
		s = size{int(w.Col), int(w.Row), image.Pt(int(w.Xpixel/w.Col), int(w.Ypixel/w.Row))}
	}
	return s
}

// shape returns the terminal's current size and support for pictures.
func (s *screen) shape() pictures.Shape {
	s.capabilities.SetMeasuredCell(s.size.cell)
	cols, rows := s.model.Size()
	return pictures.Shape{Cols: cols, Rows: rows, On: s.capabilities.PictureScreen(s.wanted, true)}
}

// updateSize adapts to the terminal's current size.
func (s *screen) updateSize() {
	now := terminalSize(s.tty)
	if now == s.size || now.cols == 0 {
		return
	}
	s.size = now
	s.model.Resize(now.cols, now.rows)
	if s.converter != nil {
		s.converter.SetShape(s.shape())
	}
}

// convert returns the bytes to write to the terminal for text, with pictures in a supported form.
func (p *player) convert(ctx context.Context, text []byte, keys <-chan byte) ([]byte, error) {
	s := p.terminal
	if s == nil {
		return p.replay.Pass(text), nil
	}
	if s.updateSize(); s.converter != nil {
		return s.converter.ConvertOutput(text), nil
	}
	_, _ = s.model.Write(text) // never fails
	out, filter := p.replay.Pass(text), p.replay.Filter()
	if !filter.Kitty && !filter.Sixel {
		return out, nil
	}
	// Ask only once a picture appears: most recordings have none, and the answers would mix with
	// keys.
	if _, _, known := s.capabilities.SupportsPictures(s.wanted); !known && s.queriedAt.IsZero() && keys != nil {
		if err := p.query(ctx, keys); err != nil {
			return nil, err
		}
	}
	if _, sixel, known := s.capabilities.SupportsPictures(s.wanted); !known || !filter.Kitty && sixel {
		return out, nil
	}
	// The model knows the screen up to the first picture, so the converter continues from it.
	s.converter = pictures.Continue(filter, s.shape(), s.model)
	return s.converter.ConvertOutput(nil), nil
}

// query asks the terminal for its support for pictures, and handles keys until it has answered.
func (p *player) query(ctx context.Context, keys <-chan byte) error {
	s := p.terminal
	s.queriedAt = time.Now()
	if _, err := p.out.Write([]byte(display.QuerySequence(os.Getenv))); err != nil {
		return err
	}
	late := time.After(queryTimeout)
	for {
		select {
		case answer := <-s.answers:
			if s.capabilities.HandleAnswer(answer) == display.DisplayUpdated {
				return nil
			}
		case key := <-keys:
			if _, err := p.handleKey(key); err != nil {
				return err
			}
		case <-late:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// addAnswer queues an answer, or drops it if nothing waits for it.
func (s *screen) addAnswer(p []byte) {
	select {
	case s.answers <- p:
	default:
	}
}

// awaitAnswer reads an answer still on its way, so that it does not reach the shell.
func (s *screen) awaitAnswer(in *os.File) {
	if _, _, known := s.capabilities.SupportsPictures(s.wanted); !known && !s.queriedAt.IsZero() {
		display.DrainAnswers(in, s.queriedAt.Add(display.AnswerLimit))
	}
}
