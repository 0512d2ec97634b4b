package cast

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"tandem/engine/screen/vt/scan"
)

// Recordings are asciicast v2 files (https://docs.asciinema.org/manual/asciicast/v2/). Version 3
// can be read too.

const (
	// maxLine is the maximum length of a line to read, in bytes.
	maxLine = 16 << 20
	// maxTime is the latest time of an event, in seconds: over a century.
	maxTime = 4e9
)

// A Header is the first line of a recording.
type Header struct {
	Version   int               `json:"version"`
	Width     int               `json:"width"`
	Height    int               `json:"height"`
	Timestamp int64             `json:"timestamp,omitempty"`
	IdleLimit float64           `json:"idle_time_limit,omitempty"` // in seconds
	Command   string            `json:"command,omitempty"`
	Title     string            `json:"title,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
}

// Kinds of events that are played. Others are skipped.
const (
	Output = "o"
	Resize = "r"
)

// An Event is one line of a recording after the first.
type Event struct {
	At   time.Duration // since the start
	Kind string
	Text string // for output the text, for a resize COLSxROWS
}

// A Writer writes a recording. The file is valid at any time, except for a last line cut off by a
// crash.
type Writer struct {
	w    *bufio.Writer
	last time.Duration
	rest []byte // the beginning of an incomplete character
	n    int    // events written
}

func NewWriter(w io.Writer, h Header) (*Writer, error) {
	h.Version = 2
	c := &Writer{w: bufio.NewWriter(w)}
	if err := c.encodeLine(h); err != nil {
		return nil, err
	}
	return c, c.w.Flush()
}

// Add writes an event. Times never decrease. An incomplete character is held for the next event,
// and invalid UTF-8 is replaced because JSON cannot contain it.
func (c *Writer) Add(e Event) error {
	if e.Kind == Output {
		// A page of the log may end within a character.
		text := append(c.rest, e.Text...)
		whole := scan.CompleteLen(text)
		c.rest = bytes.Clone(text[whole:])
		e.Text = strings.ToValidUTF8(string(text[:whole]), "\uFFFD")
		if e.Text == "" {
			return nil
		}
	}
	c.last = max(c.last, e.At)
	c.n++
	return c.encodeLine([]any{json.Number(fmt.Sprintf("%.6f", c.last.Seconds())), e.Kind, e.Text})
}

func (c *Writer) encodeLine(v any) error {
	enc := json.NewEncoder(c.w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func (c *Writer) Flush() error { return c.w.Flush() }

// A Reader reads a recording.
type Reader struct {
	Header   Header
	r        *bufio.Reader
	line     int
	last     time.Duration
	relative bool // version 3: times are relative to the previous event
}

// NewReader reads the header and returns a reader for the events.
func NewReader(r io.Reader) (*Reader, error) {
	c := &Reader{r: bufio.NewReader(r)}
	text, err := c.readLine()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		return nil, err
	}
	var head struct {
		Header
		Term struct {
			Cols, Rows int
		} `json:"term"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, errors.New("not an asciicast recording")
	}
	c.Header = head.Header
	switch c.Header.Version {
	case 2:
	case 3:
		c.relative = true
		c.Header.Width, c.Header.Height = head.Term.Cols, head.Term.Rows
	default:
		return nil, fmt.Errorf("asciicast version %d is not supported; must be 2 or 3", c.Header.Version)
	}
	if c.Header.Width < 0 || c.Header.Height < 0 || !(c.Header.IdleLimit >= 0 && c.Header.IdleLimit < maxTime) {
		return nil, errors.New("line 1 has a size or a limit below 0")
	}
	return c, nil
}

// Next returns the next event, or io.EOF at the end. A last line that was cut off counts as the
// end.
func (c *Reader) Next() (Event, error) {
	for {
		text, err := c.readLine()
		if err != nil {
			return Event{}, err
		}
		e, ok, err := c.parseEvent(text)
		if err != nil {
			// Only the last line may be invalid, after a crash.
			if _, more := c.r.Peek(1); more != nil && text[len(text)-1] != '\n' {
				return Event{}, io.EOF
			}
			return Event{}, fmt.Errorf("line %d: %w", c.line, err)
		}
		if ok {
			return e, nil
		}
	}
}

func (c *Reader) parseEvent(text []byte) (e Event, ok bool, err error) {
	var parts []json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil {
		return e, false, fmt.Errorf("not an event: %w", err)
	}
	if len(parts) != 3 {
		return e, false, errors.New("not an event: must be time, kind and text")
	}
	var seconds float64
	if err := errors.Join(json.Unmarshal(parts[0], &seconds), json.Unmarshal(parts[1], &e.Kind)); err != nil {
		return e, false, fmt.Errorf("not an event: %w", err)
	}
	if !(seconds >= 0 && seconds <= maxTime) {
		return e, false, fmt.Errorf("%v is not a valid time", seconds)
	}
	e.At = time.Duration(math.Round(seconds * float64(time.Second)))
	if c.relative {
		e.At += min(c.last, maxTime*time.Second)
	}
	e.At = max(e.At, c.last)
	c.last = e.At
	if e.Kind != Output && e.Kind != Resize {
		return e, false, nil
	}
	if err := json.Unmarshal(parts[2], &e.Text); err != nil {
		return e, false, fmt.Errorf("not an event: %w", err)
	}
	return e, true, nil
}

// readLine returns the next line, except for empty lines and comments.
func (c *Reader) readLine() ([]byte, error) {
	for {
		c.line++
		var line []byte
		for {
			part, err := c.r.ReadSlice('\n')
			if line = append(line, part...); len(line) > maxLine {
				return nil, fmt.Errorf("line %d has more than %d bytes", c.line, maxLine)
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
				return nil, err
			}
			break
		}
		if t := bytes.TrimSpace(line); len(t) > 0 && t[0] != '#' {
			return line, nil
		}
	}
}
