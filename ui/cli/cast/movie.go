package cast

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"tandem/engine/picture"
	"tandem/engine/vt"
)

const (
	// movieGap is the least time between two screens of a movie.
	movieGap = time.Second / 25
	// movieRest is how long the last screen is seen before it begins again.
	movieRest = 3 * time.Second
	// movieMost bounds the columns and rows of a movie.
	movieMost = 1000
)

// writeMovie writes what a source shows as one SVG that moves.
func writeMovie(ctx context.Context, w io.Writer, source source, cols, rows int, o PlayOptions) error {
	if cols <= 0 || rows <= 0 {
		cols, rows = 80, 24
	}
	if cols > movieMost || rows > movieMost {
		return fmt.Errorf("draw %d columns and %d rows: must be at most %d", cols, rows, movieMost)
	}
	m := movie{
		Movie: picture.NewMovie(cols, rows), clock: clock{speed: o.Speed, idle: o.Idle},
		terminal: vt.New(vt.Options{Cols: cols, Rows: rows, ScrollbackLines: -1}),
	}
	for {
		e, err := source.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = m.play(e)
		}
		if err != nil {
			return err
		}
	}
	if err := m.shoot(); err != nil {
		return err
	}
	if _, err := w.Write(m.SVG(m.clock.now + movieRest)); err != nil {
		return fmt.Errorf("write picture: %w", err)
	}
	return nil
}

// A clock turns the times of a recording into those of its playing.
type clock struct {
	speed float64
	idle  time.Duration
	begun bool
	event time.Duration // of the recording
	now   time.Duration
}

// tick goes on to an event; what is played begins with the first.
func (c *clock) tick(at time.Duration) {
	if !c.begun {
		c.begun, c.event = true, at
	}
	gap := max(at-c.event, 0)
	if c.idle > 0 {
		gap = min(gap, c.idle)
	}
	c.event = at
	c.now += time.Duration(float64(gap) / c.speed)
}

// A movie is filmed from the terminal that a recording is played in.
type movie struct {
	*picture.Movie
	clock    clock
	terminal *vt.Terminal
	shown    time.Duration // since when the terminal shows what it does
	due      bool          // that has not been filmed yet
}

func (m *movie) play(e Event) error {
	before := m.clock.now
	m.clock.tick(e.At)
	if m.due && m.clock.now >= m.shown+movieGap && before < m.clock.now && !m.terminal.Modes().Sync {
		if err := m.shoot(); err != nil {
			return err
		}
	}
	if !m.due {
		m.shown, m.due = m.clock.now, true
	}
	if e.Kind == Resize {
		m.resize(e.Text)
		return nil
	}
	_, err := m.terminal.Write([]byte(e.Text))
	return err
}

func (m *movie) shoot() error {
	m.due = false
	return m.Add(m.shown, picture.Of(m.terminal))
}

// resize gives the terminal the size of an event; the movie keeps its own.
func (m *movie) resize(size string) {
	var cols, rows int
	if n, _ := fmt.Sscanf(size, "%dx%d", &cols, &rows); n == 2 && cols > 0 && rows > 0 {
		m.terminal.Resize(min(cols, movieMost), min(rows, movieMost))
	}
}
