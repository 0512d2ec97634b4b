package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ReadJSON reads a whole file as one JSON value and returns it in compact form.
func (t *Tree) ReadJSON(path string) (abs string, value json.RawMessage, err error) {
	err = t.runConfined(func() (err error) {
		abs, value, err = t.readJSON(path)
		return err
	})
	return abs, value, err
}

func (t *Tree) readJSON(path string) (abs string, value json.RawMessage, err error) {
	p, err := t.locate(path, lookup{verb: "read"})
	if err != nil {
		return "", nil, err
	}
	defer p.close()
	data, _, err := p.readWhole("read", maxBytes)
	if err != nil {
		return "", nil, fileError("read", p.path, err)
	}
	data = bytes.TrimPrefix(data, []byte(bom))
	if err := json.Unmarshal(data, &value); err != nil {
		return "", nil, errorf(NotJSON, "invalid JSON in %s: %s", p.path, explainJSON(data, err))
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, value); err != nil {
		return "", nil, errorf(NotJSON, "invalid JSON in %s: %v", p.path, err)
	}
	return p.path, bytes.ToValidUTF8(compact.Bytes(), []byte("\uFFFD")), nil
}

// explainJSON describes what is wrong with data, and the position.
func explainJSON(data []byte, err error) string {
	if len(bytes.TrimSpace(data)) == 0 {
		return "it is empty"
	}
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return strings.TrimPrefix(err.Error(), "json: ")
	}
	before := data[:min(max(syntax.Offset-1, 0), int64(len(data)))]
	line := bytes.Count(before, []byte{'\n'}) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d: %v", line, column, err)
}
