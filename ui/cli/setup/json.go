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

// maxDepth limits the nesting of JSON values: hujson recurses for each level.
const maxDepth = 100_000

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

// setText parses text and makes it the file's content. If it is invalid, the content stays.
func (j *jsonFile) setText(text []byte) error {
	body := bytes.TrimPrefix(text, []byte("\ufeff"))
	root, err := parseJSON(body, j.strict)
	if err == nil {
		j.byteOrderMark, j.text, j.root = text[:len(text)-len(body)], body, root
	}
	return err
}

// parseJSON parses text, which may end in a line comment. Text without a value counts as an empty object.
func parseJSON(text []byte, strict bool) (hujson.Value, error) {
	// Check the depth first: a stack overflow in hujson's recursion cannot be recovered from.
	if i := findTooDeep(text); i >= 0 {
		return hujson.Value{}, errorAt(text, i, "values are nested too deep")
	}
	root, err := hujson.Parse(text)
	if err != nil {
		root, err = parseLenient(text, err)
	}
	switch {
	case err != nil:
		return root, convertParseError(err)
	case strict && !root.IsStandard():
		var syntax *json.SyntaxError
		if errors.As(json.Unmarshal(text, new(any)), &syntax) {
			return root, errorAt(text, int(syntax.Offset)-1, "this file cannot have comments or trailing commas")
		}
	}
	return root, nil
}

// parseLenient parses two forms rejected by hujson but accepted by clients: text ending in a line
// comment, and text without a value. For all others it returns err, hujson's error.
func parseLenient(text []byte, err error) (hujson.Value, error) {
	lines := append(slices.Clone(text), '\n')
	root, parseErr := hujson.Parse(lines)
	switch {
	case parseErr == nil:
		root.AfterExtra = bytes.TrimSuffix(root.AfterExtra, []byte("\n"))
		return root, nil
	case !hujson.Extra(lines).IsValid():
		return root, err
	}
	eol := lineEnding(text)
	root = hujson.Value{Value: &hujson.Object{}, AfterExtra: hujson.Extra(eol)}
	if len(bytes.Trim(text, whitespace)) > 0 {
		root.BeforeExtra = slices.Concat(bytes.TrimRight(text, whitespace), []byte(eol))
	}
	return root, nil
}

// findTooDeep returns the offset of the first bracket nested deeper than maxDepth, or -1. Brackets in
// strings count too, for simplicity: real settings never have as many.
func findTooDeep(text []byte) int {
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

// walkPath follows path through objects. It returns the last object reached, the index in path of the
// name looked up there, and the index of the member with that name, or -1.
func (j *jsonFile) walkPath(path []string) (in *hujson.Value, depth, i int, err error) {
	in = &j.root
	for depth = range path {
		object, ok := in.Value.(*hujson.Object)
		if !ok {
			where := "the settings"
			if depth > 0 {
				where = strings.Join(path[:depth], ".")
			}
			return nil, 0, -1, errorAt(j.text, in.StartOffset, "%s: must be an object", where)
		}
		// Backward, because the last of several members with the same name counts.
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

// findValue returns the value at path, or nil if there is none.
func (j *jsonFile) findValue(path []string) (*hujson.Value, error) {
	in, _, i, err := j.walkPath(path)
	if err != nil || i < 0 {
		return nil, err
	}
	return &in.Value.(*hujson.Object).Members[i].Value, nil
}

func (j *jsonFile) get(path []string) (any, bool, error) {
	v, err := j.findValue(path)
	if err != nil || v == nil {
		return nil, false, err
	}
	return decodeJSON(*v), true, nil
}

func (j *jsonFile) set(path []string, v any) error {
	in, depth, i, err := j.walkPath(path)
	if err != nil {
		return err
	}
	if i < 0 {
		// Create the missing objects on the path together with the value.
		return j.appendSlot(in, path[depth], nestValue(path[depth+1:], v))
	}
	have := &in.Value.(*hujson.Object).Members[i].Value
	// An equal value stays as written, with its comments and formatting.
	if reflect.DeepEqual(decodeJSON(*have), genericValue(v)) {
		return nil
	}
	have.Value = j.buildValue(v, j.indentAt(have.StartOffset), false)
	return j.reparse()
}

// addItem appends an item to the array at path, and creates the array if it is missing.
func (j *jsonFile) addItem(path []string, item fields) error {
	in, err := j.findArray(path)
	switch {
	case err != nil:
		return err
	case in == nil:
		return j.set(path, []fields{item})
	}
	return j.appendSlot(in, "", item)
}

func (j *jsonFile) remove(path []string) error {
	in, _, i, err := j.walkPath(path)
	if err != nil || i < 0 {
		return err
	}
	return j.removeSlot(in, i)
}

// removeItem removes item i of the array at path, or the whole array if that is its only item.
func (j *jsonFile) removeItem(path []string, i int) error {
	in, err := j.findArray(path)
	if err != nil || in == nil {
		return err
	}
	if len(in.Value.(*hujson.Array).Elements) == 1 {
		return j.remove(path)
	}
	return j.removeSlot(in, i)
}

// findArray returns the array at path, or nil if there is none.
func (j *jsonFile) findArray(path []string) (*hujson.Value, error) {
	v, err := j.findValue(path)
	if err != nil || v == nil {
		return nil, err
	}
	if _, ok := v.Value.(*hujson.Array); !ok {
		return nil, errorAt(j.text, v.StartOffset, "%s: must be an array", strings.Join(path, "."))
	}
	return v, nil
}

// A slot is a member of an object or an item of an array. before points to the space and comments
// preceding it.
type slot struct {
	before *hujson.Extra
	value  *hujson.Value
}

// slotsOf returns the slots of an object or an array, and the space and comments after the last slot.
func slotsOf(v hujson.ValueTrimmed) (all []slot, end *hujson.Extra) {
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

// appendSlot appends a member with a name to an object, or an item to an array. name is unused for
// an array.
func (j *jsonFile) appendSlot(in *hujson.Value, name string, v any) error {
	before, indent, oneLine := j.makeRoom(in)
	added := hujson.Value{BeforeExtra: before}
	if all, _ := slotsOf(in.Value); len(all) > 0 && all[len(all)-1].value.AfterExtra != nil {
		added.AfterExtra = hujson.Extra{} // a trailing comma
	}
	switch in := in.Value.(type) {
	case *hujson.Object:
		key := hujson.Value{BeforeExtra: before, Value: hujson.String(name)}
		added.BeforeExtra, added.Value = hujson.Extra(" "), j.buildValue(v, indent, oneLine)
		in.Members = append(in.Members, hujson.ObjectMember{Name: key, Value: added})
	case *hujson.Array:
		added.Value = j.buildValue(v, indent, true)
		in.Elements = append(in.Elements, added)
	}
	return j.reparse()
}

// makeRoom prepares the end of an object or an array for a new slot after the last comment. It returns
// the space and comments before the slot, its indentation, and whether it continues the same line.
func (j *jsonFile) makeRoom(in *hujson.Value) (before hujson.Extra, indent string, sameLine bool) {
	all, end := slotsOf(in.Value)
	comments := bytes.TrimRight(*end, whitespace)
	space := (*end)[len(comments):]
	outer := j.indentAt(in.StartOffset)
	indent = outer + j.indentUnit()
	// Follow the existing slots: continue their line if they share one, else use their indentation.
	if len(all) > 0 {
		first := *all[0].before
		if !hasNewline(first) && !hasNewline(*end) {
			*end = space
			return slices.Concat(comments, []byte(" ")), "", true
		}
		if hasNewline(first) {
			indent = j.indentAt(in.StartOffset + len("{") + len(first))
		}
	}
	if *end = space; !hasNewline(space) {
		*end = hujson.Extra(j.eol() + outer)
	}
	return slices.Concat(comments, []byte(j.eol()+indent)), indent, false
}

func hasNewline(text []byte) bool { return bytes.IndexByte(text, '\n') >= 0 }

// removeSlot removes slot i of an object or an array, and keeps the comments before and after it.
func (j *jsonFile) removeSlot(in *hujson.Value, i int) error {
	all, next := slotsOf(in.Value)
	if i+1 < len(all) {
		next = all[i+1].before
		*next = slices.Concat(*all[i].before, bytes.TrimLeft(*next, whitespace))
	} else {
		*next = joinAtEnd(*all[i].before, *next)
	}
	// The slot before it becomes the last. Its comma stays only if the removed slot had a trailing one, and
	// the comments before that comma move to the end.
	if i > 0 && i+1 == len(all) {
		last := all[i-1].value
		*next = slices.Concat(last.AfterExtra, *next)
		if last.AfterExtra = nil; all[i].value.AfterExtra != nil {
			last.AfterExtra = hujson.Extra{} // a trailing comma
		}
	}
	if len(all) == 1 && len(bytes.TrimLeft(*next, whitespace)) == 0 {
		*next = nil
	}
	switch in := in.Value.(type) {
	case *hujson.Object:
		in.Members = slices.Delete(in.Members, i, i+1)
	case *hujson.Array:
		in.Elements = slices.Delete(in.Elements, i, i+1)
	}
	return j.reparse()
}

// joinAtEnd joins the space and comments before and after the last slot, for removing it.
func joinAtEnd(before, after hujson.Extra) hujson.Extra {
	if rest := bytes.TrimLeft(after, whitespace); len(rest) > 0 {
		return slices.Concat(before, rest)
	}
	if joined := slices.Concat(bytes.TrimRight(before, whitespace), after); joined.IsValid() {
		return joined
	}
	return slices.Concat(before, after) // before ends in a line comment, which needs its line break
}

// reparse updates the text after a change of root. Parsing it again checks the edit and corrects the
// offsets in root.
func (j *jsonFile) reparse() error { return j.setText(slices.Concat(j.byteOrderMark, j.root.Pack())) }

// indentAt returns the indentation of the line at an offset, at most up to that offset.
func (j *jsonFile) indentAt(at int) string {
	line := j.text[1+bytes.LastIndexByte(j.text[:at], '\n') : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// indentUnit returns the indentation of one level: that of the first member, or two spaces.
func (j *jsonFile) indentUnit() string {
	if object, ok := j.root.Value.(*hujson.Object); ok && len(object.Members) > 0 {
		if indent := j.indentAt(object.Members[0].Name.StartOffset); indent != "" {
			return indent
		}
	}
	return "  "
}

func (j *jsonFile) eol() string { return lineEnding(j.text) }

func lineEnding(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// buildValue returns v for insertion at an indentation, on one line or with its members on separate lines.
func (j *jsonFile) buildValue(v any, indent string, oneLine bool) hujson.ValueTrimmed {
	parsed, err := hujson.Parse([]byte(j.renderValue(v, indent, oneLine)))
	if err != nil {
		panic(err) // renderValue returns valid JSON
	}
	return parsed.Value
}

// renderValue returns v as JSON. indent is the indentation of the line with its first bracket.
func (j *jsonFile) renderValue(v any, indent string, oneLine bool) string {
	switch v := v.(type) {
	case string:
		return quoteString(v)
	case int:
		return strconv.Itoa(v)
	case []string:
		return formatList(v)
	case []fields:
		var items []string
		for _, item := range v {
			items = append(items, j.renderValue(item, "", true))
		}
		return j.encloseItems("[", items, "]", indent, oneLine)
	}
	var members []string
	for _, f := range v.(fields) {
		members = append(members, quoteString(f.name)+": "+j.renderValue(f.value, indent+j.indentUnit(), oneLine))
	}
	return j.encloseItems("{", members, "}", indent, oneLine)
}

// encloseItems joins members or items between brackets, on one line or each on its own.
func (j *jsonFile) encloseItems(begin string, items []string, end, indent string, oneLine bool) string {
	if oneLine {
		return begin + strings.Join(items, ", ") + end
	}
	before := j.eol() + indent + j.indentUnit()
	return begin + before + strings.Join(items, ","+before) + j.eol() + indent + end
}
