package cast

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"tandem/engine/screen/picture"
	"tandem/engine/screen/vt"
)

const (
	// minFrameGap is the minimum time between two frames.
	minFrameGap = time.Second / 25
	// lastFrameTime is how long the last frame is shown before the movie repeats.
	lastFrameTime = 3 * time.Second
	// maxSize is the maximum number of columns and of rows.
	maxSize = 1000
)

// writeMovie writes the output of a source as one animated SVG.
func writeMovie(ctx context.Context, w io.Writer, source source, cols, rows int, o PlayOptions) error {
	if cols <= 0 || rows <= 0 {
		cols, rows = 80, 24
	}
	if cols > maxSize || rows > maxSize {
		return fmt.Errorf("draw %d columns and %d rows: must be at most %d", cols, rows, maxSize)
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
	if err := m.addFrame(); err != nil {
		return err
	}
	if _, err := w.Write(m.SVG(m.clock.now + lastFrameTime)); err != nil {
		return fmt.Errorf("write picture: %w", err)
	}
	return nil
}

// A clock converts times of a recording to times of playback.
type clock struct {
	speed float64
	idle  time.Duration
	begun bool
	event time.Duration // time in the recording
	now   time.Duration
}

// advance moves the clock to an event. Playback begins at the first event.
func (c *clock) advance(at time.Duration) {
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

// A movie records the screens of a terminal that plays a recording.
type movie struct {
	*picture.Movie
	clock    clock
	terminal *vt.Terminal
	shownAt  time.Duration // time since the current screen is shown
	changed  bool          // the current screen has no frame yet
}

func (m *movie) play(e Event) error {
	before := m.clock.now
	m.clock.advance(e.At)
	// A screen within a synchronized update is incomplete, so it gets no frame.
	if m.changed && m.clock.now >= m.shownAt+minFrameGap && before < m.clock.now && !m.terminal.Modes().Sync {
		if err := m.addFrame(); err != nil {
			return err
		}
	}
	if !m.changed {
		m.shownAt, m.changed = m.clock.now, true
	}
	if e.Kind == Resize {
		m.resize(e.Text)
		return nil
	}
	_, err := m.terminal.Write([]byte(e.Text))
	return err
}

func (m *movie) addFrame() error {
	m.changed = false
	return m.Add(m.shownAt, picture.Of(m.terminal))
}

// resize resizes the terminal to the size in an event; the movie's size stays the same.
func (m *movie) resize(size string) {
	var cols, rows int
	if n, _ := fmt.Sscanf(size, "%dx%d", &cols, &rows); n == 2 && cols > 0 && rows > 0 {
		m.terminal.Resize(min(cols, maxSize), min(rows, maxSize))
	}
}
