package cast

import (
	"cmp"
	"context"
	"image"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/vt"
	"tandem/ui/display"
	"tandem/ui/pictures"
)

// askLimit is how long a terminal may take to say which pictures it shows.
const askLimit = time.Second

// A show is the terminal that a recording is played on, for the pictures in it. Sixels pass
// if the terminal knows them; kitty's protocol, whose pictures would stay in it, and what it
// does not know is converted from the first picture on.
type show struct {
	tty     *os.File
	wanted  string // how pictures are shown, as the configuration has it
	answers chan []byte
	told    display.Terminal
	asked   time.Time // when it was asked; zero if it was not

	size      size
	model     *vt.Terminal
	converter *pictures.Converter // nil until there is something to convert
}

// A size is a terminal's in cells, and that of a cell in pixels; zero where it is unknown.
type size struct {
	cols, rows int
	cell       image.Point
}

// mostAnswers is how many answers may wait to be read: all that one question has.
const mostAnswers = 64

func newShow(tty *os.File, wanted string) *show {
	s := &show{tty: tty, wanted: wanted, answers: make(chan []byte, mostAnswers), size: sizeOf(tty)}
	s.model = vt.New(vt.Options{Cols: cmp.Or(s.size.cols, 80), Rows: cmp.Or(s.size.rows, 24), ScrollbackLines: -1, Cell: s.size.cell})
	return s
}

func sizeOf(tty *os.File) (s size) {
	if w, err := unix.IoctlGetWinsize(int(tty.Fd()), unix.TIOCGWINSZ); err == nil && w.Col > 0 && w.Row > 0 {
		s = size{int(w.Col), int(w.Row), image.Pt(int(w.Xpixel/w.Col), int(w.Ypixel/w.Row))}
	}
	return s
}

// shape is what the terminal is like now.
func (s *show) shape() pictures.Shape {
	s.told.Measured(s.size.cell)
	cols, rows := s.model.Size()
	return pictures.Shape{Cols: cols, Rows: rows, On: s.told.Pictures(s.wanted, true)}
}

// fit follows the terminal's size.
func (s *show) fit() {
	now := sizeOf(s.tty)
	if now == s.size || now.cols == 0 {
		return
	}
	s.size = now
	s.model.Resize(now.cols, now.rows)
	if s.converter != nil {
		s.converter.Fit(s.shape())
	}
}

// onShow gives what a terminal is written of output that is text, and what shows its
// pictures.
func (p *player) onShow(ctx context.Context, text []byte, keys <-chan byte) ([]byte, error) {
	s := p.show
	if s == nil {
		return p.replay.Pass(text), nil
	}
	if s.fit(); s.converter != nil {
		return s.converter.Pass(text), nil
	}
	_, _ = s.model.Write(text) // which never fails
	out, filter := p.replay.Pass(text), p.replay.Filter()
	if !filter.Kitty && !filter.Sixel {
		return out, nil
	}
	if _, _, known := s.told.Knows(s.wanted); !known && s.asked.IsZero() && keys != nil {
		if err := p.ask(ctx, keys); err != nil {
			return nil, err
		}
	}
	if _, sixel, known := s.told.Knows(s.wanted); !known || !filter.Kitty && sixel {
		return out, nil
	}
	s.converter = pictures.Continue(filter, s.shape(), s.model)
	return s.converter.Pass(nil), nil
}

// ask asks the terminal what it shows, and obeys keys until it has answered.
func (p *player) ask(ctx context.Context, keys <-chan byte) error {
	s := p.show
	s.asked = time.Now()
	if _, err := p.out.Write([]byte(display.Ask(os.Getenv))); err != nil {
		return err
	}
	late := time.After(askLimit)
	for {
		select {
		case answer := <-s.answers:
			if s.told.Answer(answer) == display.Told {
				return nil
			}
		case key := <-keys:
			if _, err := p.obey(key); err != nil {
				return err
			}
		case <-late:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// answered takes an answer that was read, or leaves it out if nobody waits for it.
func (s *show) answered(p []byte) {
	select {
	case s.answers <- p:
	default:
	}
}

// leave waits for an answer that is still to come.
func (s *show) leave(in *os.File) {
	if _, _, known := s.told.Knows(s.wanted); !known && !s.asked.IsZero() {
		display.Swallow(in, s.asked.Add(display.AnswerLimit))
	}
}
