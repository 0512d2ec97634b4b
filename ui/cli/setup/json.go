package setup

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// maxBrackets limits the brackets in a JSON file, and with them the nesting: hujson recurses for each
// level, and a stack overflow cannot be recovered from.
const maxBrackets = 500_000

// whitespace lists the whitespace characters of JSON.
const whitespace = " \t\r\n"

// A jsonFile is a settings file in JSON, edited in place. Unless it is strict, comments and trailing
// commas are allowed.
type jsonFile struct {
	byteOrderMark []byte // the UTF-8 byte order mark, or empty
	text          []byte // the text after the byte order mark
	root          hujson.Value
	strict        bool
}

func openJSON(text []byte, strict bool) (*jsonFile, error) {
	j := &jsonFile{strict: strict}
	return j, j.setText(text)
}

func (j *jsonFile) bytes() []byte { return slices.Concat(j.byteOrderMark, j.text) }

// setText parses text and makes it the file's content, with an object if it has no value. If it is
// invalid, the content stays.
func (j *jsonFile) setText(text []byte) error {
	body := bytes.TrimPrefix(text, []byte("\ufeff"))
	root, err := parseJSON(body, j.strict)
	if err == nil {
		j.byteOrderMark, j.text, j.root = text[:len(text)-len(body)], root.Pack(), root
	}
	return err
}

func parseJSON(text []byte, strict bool) (hujson.Value, error) {
	if bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) > maxBrackets {
		return hujson.Value{}, errors.New("too many values")
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	root, err := hujson.Parse(text)
	// Clients also accept text that ends in a line comment, and text without a value.
	for _, end := range []string{"\n", "\n{}\n"} {
		if err == nil {
			break
		}
		if whole, whyNot := hujson.Parse(append(bytes.Clone(text), end...)); whyNot == nil {
			root, err = whole, nil
		}
	}
	if err != nil {
		return root, convertParseError(err)
	}
	if strict && !root.IsStandard() {
		var syntax *json.SyntaxError
		if errors.As(json.Unmarshal(text, new(any)), &syntax) {
			return root, errorAt(text, int(syntax.Offset)-1, "this file cannot have comments or trailing commas")
		}
	}
	return root, nil
}

// convertParseError converts a hujson error, with line and column only in its text, to a positionError.
func convertParseError(err error) error {
	var m positionError
	if n, _ := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &m.line, &m.column); n != 2 {
		return err
	}
	m.text = errors.Unwrap(err).Error()
	return &m
}

// decodeJSON returns v as decoded by encoding/json.
func decodeJSON(v hujson.Value) (decoded any) {
	v = v.Clone()
	v.Standardize()
	_ = json.Unmarshal(v.Pack(), &decoded) // cannot fail: hujson has parsed it
	return decoded
}

// descend follows path through objects as far as it exists. It returns the last value reached and the
// rest of path.
func (j *jsonFile) descend(path []string) (in *hujson.Value, rest []string) {
	in = &j.root
	for i, name := range path {
		at := memberIndex(in, name)
		if at < 0 {
			return in, path[i:]
		}
		in = &in.Value.(*hujson.Object).Members[at].Value
	}
	return in, nil
}

// memberIndex returns the index of a member of in, or -1. The last of several with the same name counts.
func memberIndex(in *hujson.Value, name string) int {
	object, ok := in.Value.(*hujson.Object)
	if !ok {
		return -1
	}
	for i, m := range slices.Backward(object.Members) {
		if m.Name.Value.(hujson.Literal).String() == name {
			return i
		}
	}
	return -1
}

// get returns the value at path. It fails if another value than an object is on the path.
func (j *jsonFile) get(path []string) (any, bool, error) {
	in, rest := j.descend(path)
	if len(rest) == 0 {
		return decodeJSON(*in), true, nil
	}
	if _, ok := in.Value.(*hujson.Object); !ok {
		where := strings.Join(path[:len(path)-len(rest)], ".")
		if where == "" {
			where = "the settings"
		}
		return nil, false, errorAt(j.text, in.StartOffset, "%s: must be an object", where)
	}
	return nil, false, nil
}

// set puts v at path, and creates the missing objects on the path.
func (j *jsonFile) set(path []string, v any) error {
	if _, _, err := j.get(path); err != nil {
		return err
	}
	in, rest := j.descend(path)
	if len(rest) == 0 {
		return j.splice(in.StartOffset, in.EndOffset, j.render("", v, j.indentAt(in.StartOffset)))
	}
	for _, name := range slices.Backward(rest[1:]) {
		v = fields{{name, v}}
	}
	return j.insert(in, compactJSON(rest[0])+": ", v)
}

// addItem inserts an item into the array at path, and creates the array if it is missing.
func (j *jsonFile) addItem(path []string, item fields) error {
	in, rest := j.descend(path)
	if len(rest) > 0 {
		return j.set(path, []fields{item})
	}
	if _, ok := in.Value.(*hujson.Array); !ok {
		return fmt.Errorf("%s: must be an array", strings.Join(path, "."))
	}
	return j.insert(in, "", item)
}

// insert puts a member or an item at the beginning of an object or array, where no comma and no
// comment of the others has to move. name is the name of a member with its colon, or "" for an
// item.
func (j *jsonFile) insert(in *hujson.Value, name string, v any) error {
	at := in.StartOffset + len("{")
	inside := j.text[at : in.EndOffset-len("}")]
	slots := slotsOf(in.Value)
	outer := j.indentAt(in.StartOffset)
	indent := outer + j.indentUnit()
	switch {
	case len(slots) == 0:
		text := lineEnding(j.text) + indent + j.render(name, v, indent)
		if !bytes.Contains(inside, []byte("\n")) {
			text += lineEnding(j.text) + outer
		}
		return j.splice(at, at, text)
	case !bytes.Contains(inside, []byte("\n")):
		return j.splice(at, at, name+compactJSON(v)+",")
	}
	// Follow the first one's indentation if it has a line of its own.
	if start := slots[0].start; bytes.Contains(j.text[at:start], []byte("\n")) {
		indent = j.indentAt(start)
	}
	return j.splice(at, at, lineEnding(j.text)+indent+j.render(name, v, indent)+",")
}

// A slot is a member of an object or an item of an array. The offsets are those of its text and of the
// comma after it; comma is -1 if there is none.
type slot struct{ start, end, comma int }

// slotsOf returns the slots of an object or an array.
func slotsOf(v hujson.ValueTrimmed) (all []slot) {
	add := func(start int, v hujson.Value, last bool) {
		s := slot{start, v.EndOffset, v.EndOffset + len(v.AfterExtra)}
		if last && v.AfterExtra == nil {
			s.comma = -1
		}
		all = append(all, s)
	}
	switch v := v.(type) {
	case *hujson.Object:
		for i, m := range v.Members {
			add(m.Name.StartOffset, m.Value, i == len(v.Members)-1)
		}
	case *hujson.Array:
		for i, item := range v.Elements {
			add(item.StartOffset, item, i == len(v.Elements)-1)
		}
	}
	return all
}

// remove removes the value at path, and the objects around it that are left empty.
func (j *jsonFile) remove(path []string) error {
	around := path[:len(path)-1]
	in, rest := j.descend(around)
	i := memberIndex(in, path[len(path)-1])
	if len(rest) > 0 || i < 0 {
		return nil
	}
	return j.removeSlot(around, i)
}

// removeSlot removes slot i of the object or array at path, with a comma and the space before it. All
// comments stay. An object or array that is left empty is removed too.
func (j *jsonFile) removeSlot(path []string, i int) error {
	in, _ := j.descend(path)
	slots := slotsOf(in.Value)
	s := slots[i]
	cut := func(from int) error {
		text := slices.Concat(j.text[:from], j.text[s.end:])
		if s.comma >= 0 {
			at := s.comma - (s.end - from)
			text = slices.Delete(text, at, at+1)
		} else if i > 0 {
			text = slices.Delete(text, slots[i-1].comma, slots[i-1].comma+1)
		}
		return j.setText(slices.Concat(j.byteOrderMark, text))
	}
	inside := j.text[in.StartOffset+len("{") : in.EndOffset-len("}")]
	if len(slots) == 1 && len(bytes.Trim(inside, whitespace+",")) == s.end-s.start {
		if len(path) > 0 {
			return j.remove(path)
		}
		return j.splice(in.StartOffset, in.EndOffset, "{}")
	}
	// A line comment before the slot may need the line break after it, unless another one follows.
	if cut(len(bytes.TrimRight(j.text[:s.start], whitespace))) != nil {
		return cut(s.start)
	}
	return nil
}

// splice replaces a part of the text. Parsing the result checks the edit.
func (j *jsonFile) splice(from, to int, with string) error {
	return j.setText(slices.Concat(j.byteOrderMark, j.text[:from], []byte(with), j.text[to:]))
}

// indentAt returns the indentation of the line that contains an offset. Only blanks before the
// offset count.
func (j *jsonFile) indentAt(at int) string {
	line := j.text[1+bytes.LastIndexByte(j.text[:at], '\n') : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// indentUnit returns the indentation of one level: that of the first member, or two spaces.
func (j *jsonFile) indentUnit() string {
	if slots := slotsOf(j.root.Value); len(slots) > 0 {
		return cmp.Or(j.indentAt(slots[0].start), "  ")
	}
	return "  "
}

func lineEnding(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// render returns name followed by v as indented JSON. indent is the indentation of the first line.
func (j *jsonFile) render(name string, v any, indent string) string {
	var b bytes.Buffer
	_ = json.Indent(&b, []byte(compactJSON(v)), indent, j.indentUnit()) // cannot fail: compactJSON returns valid JSON
	return name + strings.ReplaceAll(b.String(), "\n", lineEnding(j.text))
}
