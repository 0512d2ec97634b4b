package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// maxDepth is how far values of JSON may be nested: hujson recurses for each level.
const maxDepth = 100_000

// blank is the whitespace of JSON.
const blank = " \t\r\n"

// A jsonFile is settings in JSON, edited in place. Unless strict, they may have comments and trailing
// commas.
type jsonFile struct {
	mark   []byte // the byte order mark, if any
	text   []byte // the text after it
	root   hujson.Value
	strict bool
}

func openJSON(text []byte, strict bool) (*jsonFile, error) {
	j := &jsonFile{strict: strict}
	return j, j.replace(text)
}

func (j *jsonFile) bytes() []byte { return slices.Concat(j.mark, j.text) }

// replace parses text and takes it as the new content.
func (j *jsonFile) replace(text []byte) error {
	body := bytes.TrimPrefix(text, []byte("\ufeff"))
	root, err := parseJSON(body, j.strict)
	if err == nil {
		j.mark, j.text, j.root = text[:len(text)-len(body)], body, root
	}
	return err
}

// parseJSON parses text. A text without a value counts as an empty object.
func parseJSON(text []byte, strict bool) (hujson.Value, error) {
	if i := tooDeep(text); i >= 0 {
		return hujson.Value{}, mistakeAt(text, i, "values are nested too deep")
	}
	root, err := hujson.Parse(text)
	if err != nil {
		root, err = parseEnd(text, err)
	}
	switch {
	case err != nil:
		return root, parseMistake(err)
	case strict && !root.IsStandard():
		var syntax *json.SyntaxError
		if errors.As(json.Unmarshal(text, new(any)), &syntax) {
			return root, mistakeAt(text, int(syntax.Offset)-1, "this file cannot have comments or trailing commas")
		}
	}
	return root, nil
}

// parseEnd parses what hujson rejects but clients read: text that ends with a line comment, and text
// without a value. For anything else it returns err, hujson's error.
func parseEnd(text []byte, err error) (hujson.Value, error) {
	lines := append(slices.Clone(text), '\n')
	root, failed := hujson.Parse(lines)
	switch {
	case failed == nil:
		root.AfterExtra = bytes.TrimSuffix(root.AfterExtra, []byte("\n"))
		return root, nil
	case !hujson.Extra(lines).IsValid():
		return root, err
	}
	eol := lineEnding(text)
	root = hujson.Value{Value: &hujson.Object{}, AfterExtra: hujson.Extra(eol)}
	if len(bytes.Trim(text, blank)) > 0 {
		root.BeforeExtra = slices.Concat(bytes.TrimRight(text, blank), []byte(eol))
	}
	return root, nil
}

// tooDeep returns the offset of the first bracket that is nested too deep, or -1. Brackets in strings
// count too; only a very odd file has that many.
func tooDeep(text []byte) int {
	depth := 0
	for i, c := range text {
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			depth = max(depth-1, 0)
		}
		if depth > maxDepth {
			return i
		}
	}
	return -1
}

// parseMistake converts an error of hujson, which has line and column only in its text.
func parseMistake(err error) error {
	var m mistake
	if n, _ := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &m.line, &m.column); n != 2 {
		return err
	}
	m.text = errors.Unwrap(err).Error()
	return &m
}

// decode returns a value as encoding/json decodes it.
func decode(v hujson.Value) (decoded any) {
	v = v.Clone()
	v.Standardize()
	_ = json.Unmarshal(v.Pack(), &decoded) // hujson has checked it
	return decoded
}

// walk follows path through objects. It returns the last object reached, the index of the next name in
// path, and the index of the member with that name, or -1. If several members have the name, the last counts.
func (j *jsonFile) walk(path []string) (in *hujson.Value, depth, i int, err error) {
	in = &j.root
	for depth = range path {
		object, ok := in.Value.(*hujson.Object)
		if !ok {
			where := "the settings"
			if depth > 0 {
				where = strings.Join(path[:depth], ".")
			}
			return nil, 0, -1, mistakeAt(j.text, in.StartOffset, "%s: must be an object", where)
		}
		for i = len(object.Members) - 1; i >= 0; i-- {
			if object.Members[i].Name.Value.(hujson.Literal).String() == path[depth] {
				break
			}
		}
		if i < 0 || depth == len(path)-1 {
			break
		}
		in = &object.Members[i].Value
	}
	return in, depth, i, nil
}

// find returns the value at path, or nil if there is none.
func (j *jsonFile) find(path []string) (*hujson.Value, error) {
	in, _, i, err := j.walk(path)
	if err != nil || i < 0 {
		return nil, err
	}
	return &in.Value.(*hujson.Object).Members[i].Value, nil
}

func (j *jsonFile) get(path []string) (any, bool, error) {
	v, err := j.find(path)
	if err != nil || v == nil {
		return nil, false, err
	}
	return decode(*v), true, nil
}

func (j *jsonFile) set(path []string, v any) error {
	in, depth, i, err := j.walk(path)
	if err != nil {
		return err
	}
	if i < 0 {
		return j.append(in, path[depth], wrapped(path[depth+1:], v))
	}
	have := &in.Value.(*hujson.Object).Members[i].Value
	if reflect.DeepEqual(decode(*have), decoded(v)) {
		return nil
	}
	have.Value = j.value(v, j.indentOf(have.StartOffset), false)
	return j.edited()
}

// add appends an item to the array at path, which it creates if necessary.
func (j *jsonFile) add(path []string, item fields) error {
	in, err := j.array(path)
	switch {
	case err != nil:
		return err
	case in == nil:
		return j.set(path, []fields{item})
	}
	return j.append(in, "", item)
}

func (j *jsonFile) remove(path []string) error {
	in, _, i, err := j.walk(path)
	if err != nil || i < 0 {
		return err
	}
	return j.cut(in, i)
}

// drop removes item i of the array at path, and the array if it was the only one.
func (j *jsonFile) drop(path []string, i int) error {
	in, err := j.array(path)
	if err != nil || in == nil {
		return err
	}
	if len(in.Value.(*hujson.Array).Elements) == 1 {
		return j.remove(path)
	}
	return j.cut(in, i)
}

// array returns the array at path, or nil if there is none.
func (j *jsonFile) array(path []string) (*hujson.Value, error) {
	v, err := j.find(path)
	if err != nil || v == nil {
		return nil, err
	}
	if _, ok := v.Value.(*hujson.Array); !ok {
		return nil, mistakeAt(j.text, v.StartOffset, "%s: must be an array", strings.Join(path, "."))
	}
	return v, nil
}

// A slot is a member of an object or an item of an array, with the space and comments before it.
type slot struct {
	before *hujson.Extra
	value  *hujson.Value
}

// slots returns those of an object or an array, and the space and comments after the last one.
func slots(v hujson.ValueTrimmed) (all []slot, end *hujson.Extra) {
	switch v := v.(type) {
	case *hujson.Object:
		for i := range v.Members {
			all = append(all, slot{&v.Members[i].Name.BeforeExtra, &v.Members[i].Value})
		}
		end = &v.AfterExtra
	case *hujson.Array:
		for i := range v.Elements {
			all = append(all, slot{&v.Elements[i].BeforeExtra, &v.Elements[i]})
		}
		end = &v.AfterExtra
	}
	return all, end
}

// append adds a member to an object, or an item to an array.
func (j *jsonFile) append(in *hujson.Value, name string, v any) error {
	before, indent, line := j.room(in)
	added := hujson.Value{BeforeExtra: before}
	if all, _ := slots(in.Value); len(all) > 0 && all[len(all)-1].value.AfterExtra != nil {
		added.AfterExtra = hujson.Extra{} // a trailing comma
	}
	switch in := in.Value.(type) {
	case *hujson.Object:
		key := hujson.Value{BeforeExtra: before, Value: hujson.String(name)}
		added.BeforeExtra, added.Value = hujson.Extra(" "), j.value(v, indent, line)
		in.Members = append(in.Members, hujson.ObjectMember{Name: key, Value: added})
	case *hujson.Array:
		added.Value = j.value(v, indent, true)
		in.Elements = append(in.Elements, added)
	}
	return j.edited()
}

// room makes room at the end of an object or an array, after its last comment. It returns the space and
// comments before the new slot, its indentation, and whether it goes on the same line.
func (j *jsonFile) room(in *hujson.Value) (before hujson.Extra, indent string, line bool) {
	all, end := slots(in.Value)
	kept := bytes.TrimRight(*end, blank)
	rest := (*end)[len(kept):]
	outer := j.indentOf(in.StartOffset)
	indent = outer + j.unit()
	if len(all) > 0 {
		first := *all[0].before
		if !hasLine(first) && !hasLine(*end) {
			*end = rest
			return slices.Concat(kept, []byte(" ")), "", true
		}
		if hasLine(first) {
			indent = j.indentOf(in.StartOffset + len("{") + len(first))
		}
	}
	if *end = rest; !hasLine(rest) {
		*end = hujson.Extra(j.eol() + outer)
	}
	return slices.Concat(kept, []byte(j.eol()+indent)), indent, false
}

func hasLine(text []byte) bool { return bytes.IndexByte(text, '\n') >= 0 }

// cut removes a member of an object, or an item of an array. Comments before and after it stay.
func (j *jsonFile) cut(in *hujson.Value, i int) error {
	all, next := slots(in.Value)
	if i+1 < len(all) {
		next = all[i+1].before
		*next = slices.Concat(*all[i].before, bytes.TrimLeft(*next, blank))
	} else {
		*next = atEnd(*all[i].before, *next)
	}
	if i > 0 && i+1 == len(all) {
		last := all[i-1].value
		*next = slices.Concat(last.AfterExtra, *next)
		if last.AfterExtra = nil; all[i].value.AfterExtra != nil {
			last.AfterExtra = hujson.Extra{} // a trailing comma
		}
	}
	if len(all) == 1 && len(bytes.TrimLeft(*next, blank)) == 0 {
		*next = nil
	}
	switch in := in.Value.(type) {
	case *hujson.Object:
		in.Members = slices.Delete(in.Members, i, i+1)
	case *hujson.Array:
		in.Elements = slices.Delete(in.Elements, i, i+1)
	}
	return j.edited()
}

// atEnd joins the space and comments before and after the last slot, which is removed.
func atEnd(before, after hujson.Extra) hujson.Extra {
	if rest := bytes.TrimLeft(after, blank); len(rest) > 0 {
		return slices.Concat(before, rest)
	}
	if joined := slices.Concat(bytes.TrimRight(before, blank), after); joined.IsValid() {
		return joined
	}
	return slices.Concat(before, after) // a comment needs its line break
}

// edited updates the text after root has changed, and checks it.
func (j *jsonFile) edited() error { return j.replace(slices.Concat(j.mark, j.root.Pack())) }

// indentOf is the indentation of the line that an offset is on.
func (j *jsonFile) indentOf(at int) string {
	line := j.text[1+bytes.LastIndexByte(j.text[:at], '\n') : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// unit is what the text is indented by.
func (j *jsonFile) unit() string {
	if object, ok := j.root.Value.(*hujson.Object); ok && len(object.Members) > 0 {
		if indent := j.indentOf(object.Members[0].Name.StartOffset); indent != "" {
			return indent
		}
	}
	return "  "
}

// eol is how lines end in the text.
func (j *jsonFile) eol() string { return lineEnding(j.text) }

func lineEnding(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// value returns v for insertion at an indentation, on one line or with its members on separate lines.
func (j *jsonFile) value(v any, indent string, line bool) hujson.ValueTrimmed {
	parsed, err := hujson.Parse([]byte(j.render(v, indent, line)))
	if err != nil {
		panic(err) // render writes JSON
	}
	return parsed.Value
}

// render returns v as text.
func (j *jsonFile) render(v any, indent string, line bool) string {
	switch v := v.(type) {
	case string:
		return quoted(v)
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case []string:
		return list(v)
	case []fields:
		var items []string
		for _, item := range v {
			items = append(items, j.render(item, "", true))
		}
		return j.enclosed("[", items, "]", indent, line)
	}
	var members []string
	for _, f := range v.(fields) {
		members = append(members, quoted(f.name)+": "+j.render(f.value, indent+j.unit(), line))
	}
	return j.enclosed("{", members, "}", indent, line)
}

// enclosed joins members or items, on one line or each on its own.
func (j *jsonFile) enclosed(begin string, all []string, end, indent string, line bool) string {
	if line {
		return begin + strings.Join(all, ", ") + end
	}
	before := j.eol() + indent + j.unit()
	return begin + before + strings.Join(all, ","+before) + j.eol() + indent + end
}
