package setup

import (
	"bytes"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A jsonFile is the text of settings in JSON that is edited in place.
type jsonFile struct {
	text   []byte
	root   *value // nil: there is nothing but space and comments
	strict bool
}

func openJSON(text []byte, strict bool) (*jsonFile, error) {
	j := &jsonFile{strict: strict}
	return j, j.replace(text)
}

func (j *jsonFile) bytes() []byte { return j.text }

// replace goes on with another text.
func (j *jsonFile) replace(text []byte) error {
	root, err := scan(text, j.strict)
	if err == nil {
		j.text, j.root = text, root
	}
	return err
}

// splice puts a text where the bytes from one offset to another are.
func (j *jsonFile) splice(from, to int, with string) error {
	return j.replace(slices.Concat(j.text[:from], []byte(with), j.text[to:]))
}

// walk goes down a path as far as there are objects. It gives the last one, how
// many names lead to it, and the member there that the path goes on with, if any.
func (j *jsonFile) walk(path []string) (in *value, depth int, m *member, err error) {
	in = j.root
	for depth = range path {
		if !in.object {
			where := "the settings"
			if depth > 0 {
				where = strings.Join(path[:depth], ".")
			}
			return nil, 0, nil, mistakeAt(j.text, in.from, "%s: want an object", where)
		}
		if m = in.find(path[depth]); m == nil || depth == len(path)-1 {
			break
		}
		in = m.value
	}
	return in, depth, m, nil
}

func (j *jsonFile) get(path []string) (any, bool, error) {
	if j.root == nil {
		return nil, false, nil
	}
	_, _, m, err := j.walk(path)
	if err != nil || m == nil {
		return nil, false, err
	}
	return m.value.decoded, true, nil
}

func (j *jsonFile) set(path []string, v any) error {
	if j.root == nil {
		return j.begin(wrapped(path, v))
	}
	in, depth, m, err := j.walk(path)
	switch {
	case err != nil:
		return err
	case m == nil:
		return j.insert(in, path[depth], wrapped(path[depth+1:], v))
	case reflect.DeepEqual(m.value.decoded, decoded(v)):
		return nil
	}
	at := j.indentOf(m.from)
	return j.splice(m.value.from, m.value.to, j.render(v, at, false))
}

// begin writes the first value into a text that has none.
func (j *jsonFile) begin(v any) error {
	before := j.text
	if len(bytes.TrimSpace(before)) == 0 {
		before = nil
	} else if !bytes.HasSuffix(before, []byte("\n")) {
		before = append(slices.Clone(before), j.eol()...)
	}
	return j.replace(slices.Concat(before, []byte(j.render(v, "", false)+j.eol())))
}

// insert adds a member to the end of an object.
func (j *jsonFile) insert(in *value, name string, v any) error {
	if len(in.members) == 0 {
		return j.insertFirst(in, name, v)
	}
	last := in.members[len(in.members)-1].value.to
	if !bytes.Contains(j.text[in.from:last], []byte("\n")) {
		return j.splice(last, last, ", "+quoted(name)+": "+j.render(v, "", true))
	}
	indent := j.indentOf(in.members[0].from)
	return j.insertLine(last, j.eol()+indent+quoted(name)+": "+j.render(v, indent, false))
}

// insertLine adds a line behind the last member or item, which ends at an offset.
func (j *jsonFile) insertLine(last int, line string) error {
	if comma := j.commaAfter(last); comma >= 0 {
		at := j.lineEnd(comma + 1)
		return j.splice(at, at, line+",")
	}
	at := j.lineEnd(last)
	return j.splice(last, at, ","+string(j.text[last:at])+line)
}

// insertFirst adds a member to an object that has none.
func (j *jsonFile) insertFirst(in *value, name string, v any) error {
	outer := j.indentOf(in.from)
	indent := outer + j.unit()
	inside := j.text[in.from+1 : in.to-1]
	kept := len(bytes.TrimRight(inside, " \t\r\n")) // comments
	line := j.eol() + indent + quoted(name) + ": " + j.render(v, indent, false)
	if !bytes.Contains(inside[kept:], []byte("\n")) {
		return j.splice(in.from+1+kept, in.to-1, line+j.eol()+outer)
	}
	return j.splice(in.from+1+kept, in.from+1+kept, line)
}

// remove takes out a member, with its line where it has one to itself.
func (j *jsonFile) remove(path []string) error {
	if j.root == nil {
		return nil
	}
	in, depth, m, err := j.walk(path)
	if err != nil || m == nil {
		return err
	}
	previous := -1
	if i := slices.IndexFunc(in.members, func(other member) bool { return other.from == m.from }); i > 0 {
		previous = in.members[i-1].value.to
	}
	if err := j.cut(in, m.from, m.value.to, previous); err != nil {
		return err
	}
	return j.close(path[:depth])
}

// cut takes out a member or an item, with its line where it has one to itself. The one
// before it ends at previous, -1 if it is the first.
func (j *jsonFile) cut(in *value, begins, ends, previous int) error {
	from, to := j.lineStart(begins), ends
	comma := j.commaAfter(to)
	if comma >= 0 {
		to = comma + 1
	}
	if comma < 0 && previous >= 0 {
		before := j.commaAfter(previous)
		between := j.text[before+1 : from]
		return j.splice(before, to, strings.TrimRight(string(between), " \t\r\n"))
	}
	switch end := j.lineEnd(to); {
	case end > to: // its comment keeps the line
		from, to = begins, to+len(j.text[to:end])-len(bytes.TrimLeft(j.text[to:end], " \t"))
	case from < begins:
		from = max(len(bytes.TrimRight(j.text[:from], "\r\n")), in.from+1)
	}
	return j.splice(from, to, "")
}

// add puts an item at the end of the array that a path leads to, and makes the array if
// there is none.
func (j *jsonFile) add(path []string, item fields) error {
	in, err := j.list(path)
	switch {
	case err != nil:
		return err
	case in == nil:
		return j.set(path, []fields{item})
	case len(in.items) == 0:
		outer := j.indentOf(in.from)
		kept := in.from + 1 + len(bytes.TrimRight(j.text[in.from+1:in.to-1], " \t\r\n")) // comments
		return j.splice(kept, in.to-1, j.eol()+outer+j.unit()+j.render(item, "", true)+j.eol()+outer)
	}
	last := in.items[len(in.items)-1].to
	if !bytes.Contains(j.text[in.from:last], []byte("\n")) {
		return j.splice(last, last, ", "+j.render(item, "", true))
	}
	return j.insertLine(last, j.eol()+j.indentOf(in.items[0].from)+j.render(item, "", true))
}

// drop takes an item out of the array that a path leads to, and the array with its last.
func (j *jsonFile) drop(path []string, i int) error {
	in, err := j.list(path)
	if err != nil || in == nil {
		return err
	}
	if len(in.items) == 1 {
		return j.remove(path)
	}
	previous := -1
	if i > 0 {
		previous = in.items[i-1].to
	}
	return j.cut(in, in.items[i].from, in.items[i].to, previous)
}

// list is the array that a path leads to; nil if there is none.
func (j *jsonFile) list(path []string) (*value, error) {
	if j.root == nil {
		return nil, nil
	}
	_, depth, m, err := j.walk(path)
	switch {
	case err != nil || m == nil || depth < len(path)-1:
		return nil, err
	case !m.value.array:
		return nil, mistakeAt(j.text, m.value.from, "%s: want an array", strings.Join(path, "."))
	}
	return m.value, nil
}

// close writes an object that nothing is left in as {}.
func (j *jsonFile) close(path []string) error {
	in := j.root
	for _, name := range path {
		in = in.find(name).value
	}
	if len(bytes.TrimSpace(j.text[in.from+1:in.to-1])) > 0 {
		return nil
	}
	return j.splice(in.from, in.to, "{}")
}

// commaAfter is where the comma behind a value is that ends at an offset; -1 if
// there is none.
func (j *jsonFile) commaAfter(at int) int {
	s := scanner{text: j.text, at: at}
	if s.space() != nil || s.at == len(j.text) || j.text[s.at] != ',' {
		return -1
	}
	return s.at
}

// lineEnd is where the comments end that follow an offset on its line; the
// offset itself if none do.
func (j *jsonFile) lineEnd(at int) int {
	for i := at; i < len(j.text); i++ {
		if j.text[i] == ' ' || j.text[i] == '\t' {
			continue
		}
		n := comment(j.text[i:])
		if n == 0 || bytes.Contains(j.text[i:i+n], []byte("\n")) {
			break
		}
		i += n - 1
		at = i + 1
	}
	return at
}

// lineStart is where the line begins that an offset is the first character of;
// the offset itself if it is not.
func (j *jsonFile) lineStart(at int) int {
	start := 1 + bytes.LastIndexByte(j.text[:at], '\n')
	if len(bytes.TrimLeft(j.text[start:at], " \t")) > 0 {
		return at
	}
	return start
}

// indentOf is the indentation of the line that an offset is on.
func (j *jsonFile) indentOf(at int) string {
	line := j.text[1+bytes.LastIndexByte(j.text[:at], '\n') : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// unit is what the text is indented by.
func (j *jsonFile) unit() string {
	if j.root != nil && len(j.root.members) > 0 {
		if indent := j.indentOf(j.root.members[0].from); indent != "" {
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

// render is a value as text, on one line or with its members on lines of their
// own.
func (j *jsonFile) render(v any, indent string, line bool) string {
	switch v := v.(type) {
	case string:
		return quoted(v)
	case bool:
		if v {
			return "true"
		}
		return "false"
	case int:
		return strconv.Itoa(v)
	case []string:
		return list(v)
	case []fields:
		return j.renderItems(v, indent, line)
	}
	inner, before, after, sep := indent+j.unit(), j.eol()+indent+j.unit(), j.eol()+indent, ","
	if line {
		before, after, sep = "", "", ", "
	}
	var members []string
	for _, f := range v.(fields) {
		members = append(members, before+quoted(f.name)+": "+j.render(f.value, inner, line))
	}
	return "{" + strings.Join(members, sep) + after + "}"
}

// renderItems is an array of objects, each on one line.
func (j *jsonFile) renderItems(items []fields, indent string, line bool) string {
	before, after, sep := j.eol()+indent+j.unit(), j.eol()+indent, ","
	if line {
		before, after, sep = "", "", ", "
	}
	var all []string
	for _, item := range items {
		all = append(all, before+j.render(item, "", true))
	}
	return "[" + strings.Join(all, sep) + after + "]"
}
