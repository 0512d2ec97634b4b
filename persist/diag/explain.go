package diag

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// TrimBOM returns a text without the byte order mark that some editors put first.
func TrimBOM(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }

// Errorf is a mistake at a place of a text.
func Errorf(text []byte, at Span, format string, args ...any) error {
	return errors.New(at.Mistake(text, fmt.Sprintf(format, args...)))
}

// Explain says in words of a TOML file what the decoder does not take. wanted says
// what the value of a key is.
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
	says, key := Syntax(wrong), wrong.Key()
	if len(key) > 0 && strings.HasPrefix(says, "cannot ") {
		says = fmt.Sprintf("%s: must be %s", strings.Join(key, "."), wanted(key[len(key)-1]))
	}
	return Errorf(text, Span{Line: line, Column: column, Width: 1}, "%s", says)
}

// Locate finds a key of the table with a name and a number from 1 among those of its
// name, or of the file itself for 0; where the table does not have the key, its head.
func Locate(text []byte, table string, number int, key string) Span {
	var p unstable.Parser
	p.Reset(bytes.Clone(text)) // places are told by the capacity of what is parsed
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
