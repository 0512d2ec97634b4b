package transport

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"tandem/engine/api"
)

// marker starts the greeting of a bridge. Output before it is from the machine: banners, output of
// a login shell.
const marker = "tandem-bridge/1 "

const (
	// maxNoise bounds the output before the marker, maxHello the greeting, in bytes.
	maxNoise = 256 << 10
	maxHello = 64 << 10
)

// A Hello is a bridge's greeting.
type Hello struct {
	Version        string `json:"version"` // version of the engine there
	Protocol       int    `json:"protocol"`
	OldestProtocol int    `json:"oldest_protocol,omitempty"`
	Agents         bool   `json:"agents,omitempty"`  // its engine enforces the bounds of agents in prefaces
	Machine        string `json:"machine,omitempty"` // machine of the fleet that answered
	Error          string `json:"error,omitempty"`   // why there is no engine; the bridge then exits
	Hint           string `json:"hint,omitempty"`
}

// Info returns the version and the protocols of the engine.
func (h Hello) Info() api.Info {
	return api.Info{Version: h.Version, Protocol: h.Protocol, OldestProtocol: h.OldestProtocol}
}

func (h Hello) Write(w io.Writer) error {
	text, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("encode hello: %w", err)
	}
	_, err = w.Write([]byte("\n" + marker + string(text) + "\n"))
	return err
}

// ErrNoBridge is returned if the output is not from a bridge.
var ErrNoBridge = errors.New("no bridge answered")

// ReadHello reads up to the end of the greeting and no further. Output before the greeting goes to
// the writer noise.
func ReadHello(r io.Reader, noise io.Writer) (Hello, error) {
	var h Hello
	var held []byte // possible start of the marker
	one := make([]byte, 1)
	for count := 0; string(held) != marker; count++ {
		if count >= maxNoise {
			return h, fmt.Errorf("%w within %d bytes", ErrNoBridge, maxNoise)
		}
		if _, err := io.ReadFull(r, one); err != nil {
			_, _ = noise.Write(held) // the missing answer is the more important error
			return h, fmt.Errorf("%w: %w", ErrNoBridge, err)
		}
		held = append(held, one[0])
		plain := 0
		// Keep the longest end that could start the marker; the rest is noise.
		for !strings.HasPrefix(marker, string(held[plain:])) {
			plain++
		}
		if plain == 0 {
			continue
		}
		if _, err := noise.Write(held[:plain]); err != nil {
			return h, err
		}
		held = append(held[:0], held[plain:]...)
	}
	var line []byte
	for len(line) < maxHello {
		if _, err := io.ReadFull(r, one); err != nil {
			return h, fmt.Errorf("%w: %w", ErrNoBridge, err)
		}
		if one[0] == '\n' {
			return parseHello(line)
		}
		line = append(line, one[0])
	}
	return h, fmt.Errorf("%w: its first line has no end", ErrNoBridge)
}

// HelloIn parses a line, and reports whether it is a greeting.
func HelloIn(line string) (h Hello, ok bool) {
	text, ok := strings.CutPrefix(line, marker)
	if !ok {
		return h, false
	}
	h, err := parseHello([]byte(text))
	return h, err == nil
}

func parseHello(text []byte) (h Hello, err error) {
	if err := json.Unmarshal(text, &h); err != nil {
		return h, fmt.Errorf("%w: %w", ErrNoBridge, err)
	}
	if strings.ContainsFunc(h.Version, func(r rune) bool { return r < ' ' || r > '~' }) { // it is used in headers
		return h, fmt.Errorf("%w: its version is %.40q", ErrNoBridge, h.Version)
	}
	return h, nil
}

// A Preface is the first line of a stream: who opens it.
type Preface struct {
	Origin string        `json:"origin"`          // "user@host"
	Agent  string        `json:"agent,omitempty"` // part of an agent that opens it
	By     *api.FarAgent `json:"by,omitempty"`    // the agent that opens it, if Hello.Agents
}

// MaxPreface bounds the line, in bytes.
const MaxPreface = 64 << 10

// Line returns the encoded preface.
func (p Preface) Line() []byte {
	text, _ := json.Marshal(p) // only strings, numbers and booleans: cannot fail
	return append(text, '\n')
}

// ReadPreface reads a preface and no further.
func ReadPreface(r io.Reader) (Preface, error) {
	var p Preface
	var line []byte
	for one := make([]byte, 1); len(line) < MaxPreface; line = append(line, one[0]) {
		if _, err := io.ReadFull(r, one); err != nil {
			return p, err
		}
		if one[0] == '\n' {
			return p, json.Unmarshal(line, &p)
		}
	}
	return p, errors.New("the first line of the stream is too long")
}
