package transport

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"tandem/engine/api"
)

// marker begins the line with which a bridge begins. What comes before it is the
// machine's: banners, what a login shell prints.
const marker = "tandem-bridge/1 "

const (
	// maxNoise bounds what may come before the marker, maxHello the line.
	maxNoise = 256 << 10
	maxHello = 64 << 10
)

// A Hello is what a bridge says of its machine.
type Hello struct {
	Version        string `json:"version"` // of the engine there
	Protocol       int    `json:"protocol"`
	OldestProtocol int    `json:"oldest_protocol,omitempty"`
	Agents         bool   `json:"agents,omitempty"`  // its engine holds the agents that it is told of to their bounds
	Machine        string `json:"machine,omitempty"` // which machine of the fleet answered
	Error          string `json:"error,omitempty"`   // why there is no engine; the bridge ends then
	Hint           string `json:"hint,omitempty"`
}

// Write says hello.
func (h Hello) Write(w io.Writer) error {
	text, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("encode hello: %w", err)
	}
	_, err = w.Write([]byte("\n" + marker + string(text) + "\n"))
	return err
}

// ErrNoBridge says that what was said is no bridge's.
var ErrNoBridge = errors.New("no bridge answered")

// ReadHello reads up to the end of the line that a bridge begins with, and not a
// byte more; noise gets what came before it.
func ReadHello(r io.Reader, noise io.Writer) (Hello, error) {
	var h Hello
	var held []byte // of what was read, what may be the beginning of the marker
	one := make([]byte, 1)
	for count := 0; string(held) != marker; count++ {
		if count >= maxNoise {
			return h, fmt.Errorf("%w within %d bytes", ErrNoBridge, maxNoise)
		}
		if _, err := io.ReadFull(r, one); err != nil {
			_, _ = noise.Write(held) // that nobody answers is worse
			return h, fmt.Errorf("%w: %w", ErrNoBridge, err)
		}
		held = append(held, one[0])
		plain := 0
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

// HelloIn reads a line, and reports whether it is the first of a bridge.
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
	if strings.ContainsFunc(h.Version, func(r rune) bool { return r < ' ' || r > '~' }) { // it goes into headers
		return h, fmt.Errorf("%w: its version is %.40q", ErrNoBridge, h.Version)
	}
	return h, nil
}

// A Preface is the first line of each stream: who asks.
type Preface struct {
	Origin string        `json:"origin"`          // "user@host"
	Agent  string        `json:"agent,omitempty"` // what of an agent's it comes from
	By     *api.FarAgent `json:"by,omitempty"`    // the agent that asks, where Hello.Agents
}

// MaxPreface bounds its line.
const MaxPreface = 64 << 10

// Line is the preface as it is sent.
func (p Preface) Line() []byte {
	text, _ := json.Marshal(p) // strings, numbers and booleans alone
	return append(text, '\n')
}

// ReadPreface reads a preface and not a byte more.
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
	return p, errors.New("the first line of a stream has no end")
}
