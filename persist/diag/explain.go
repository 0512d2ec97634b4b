package diag

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// TrimBOM returns text without a byte order mark at its start. Some editors write one.
func TrimBOM(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }

// Errorf returns an error for a mistake at a position in text.
func Errorf(text []byte, at Span, format string, args ...any) error {
	return errors.New(at.Mistake(text, fmt.Sprintf(format, args...)))
}

// Explain adds the line and a caret to an error of the TOML decoder. It returns other errors
// unchanged. wanted describes the valid values of a key.
func Explain(text []byte, err error, wanted func(key string) string) error {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) {
		first := unknown.Errors[0]
		line, column := first.Position()
		return Errorf(text, Span{Line: line, Column: column, Width: 1}, "unknown key %q", strings.Join(first.Key(), "."))
	}
	var wrong *toml.DecodeError
	if !errors.As(err, &wrong) {
		return err
	}
	line, column := wrong.Position()
	message, key := Syntax(wrong), wrong.Key()
	if len(key) > 0 && strings.HasPrefix(message, "cannot ") {
		message = fmt.Sprintf("%s: must be %s", strings.Join(key, "."), wanted(key[len(key)-1]))
	}
	return Errorf(text, Span{Line: line, Column: column, Width: 1}, "%s", message)
}

// Locate returns the position of key. number selects among the tables of that name and counts from
// 1; with 0, the key is at the top level. If the table lacks the key, Locate returns the position
// of the table's header.
func Locate(text []byte, table string, number int, key string) Span {
	var p unstable.Parser
	// The parser derives positions from the capacity of its input, so they would be wrong without a
	// clone.
	p.Reset(bytes.Clone(text))
	seen, inside := 0, number == 0
	var head Span
	for p.NextExpression() {
		e := p.Expression()
		names := e.Key()
		if !names.Next() {
			continue
		}
		name := names.Node()
		if e.Kind == unstable.Table || e.Kind == unstable.ArrayTable {
			own := string(name.Data) == table && !names.Next()
			if own {
				seen++
			}
			if inside = own && seen == number; inside {
				head = SpanOf(&p, name.Raw)
			}
			continue
		}
		if inside && string(name.Data) == key {
			return SpanOf(&p, e.Raw)
		}
	}
	return head
}
