package project

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tandem/persist/diag"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxNodes bounds how many nodes are looked at, so that aliases of aliases
// cannot make a small file a large one; maxDepth bounds how deep it nests.
const (
	maxNodes = 100_000
	maxDepth = 64
)

// A reader makes a File of a text. It keeps the first mistake and goes on with
// zero values, as what comes after it counts for nothing.
//
// It walks the tree of nodes itself, because go-yaml's decoder gives no positions
// of values, reads 010 into a string as 8, rejects a list after "<<", cannot let a
// key override a merged one without accepting duplicates, ignores a second document
// and takes exponential time for anchors that merge each other.
type reader struct {
	file    *File
	err     error // the first mistake
	getenv  func(string) string
	env     []Variable // of the whole project
	anchors map[string]ast.Node
	budget  int
	bare    bool // $NAME is filled in, too
	plain   bool // nothing is filled in
}

// A field is one entry of a mapping.
type field struct {
	key  string
	at   Position // of the key
	node ast.Node // resolved; never nil
}

// fail notes an error, if it is the first.
func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// wrong notes a mistake at a place.
func (r *reader) wrong(at Position, format string, args ...any) *Error {
	e := &Error{Path: r.file.Path, At: at, What: fmt.Sprintf(format, args...)}
	r.fail(e)
	return e
}

func (e *Error) hint(format string, args ...any) { e.Hint = fmt.Sprintf(format, args...) }

// notice tells of what is understood and not used.
func (r *reader) notice(at Position, format string, args ...any) {
	r.file.Notices = append(r.file.Notices, fmt.Sprintf("line %d, column %d: ", at.Line, at.Column)+fmt.Sprintf(format, args...))
}

// yaml reads a tandem.yaml or a file of process-compose.
func (r *reader) yaml(text []byte) {
	body := r.parse(diag.TrimBOM(text))
	if r.err != nil {
		return
	}
	fields := r.fields(field{node: body, at: Position{1, 1}}, "the file")
	if r.isCompose(fields) {
		r.compose(fields)
	} else {
		r.tandem(fields)
	}
}

// isCompose tells a file of process-compose from ours: by its name, or by keys
// that only it has.
func (r *reader) isCompose(fields []field) bool {
	base := filepath.Base(r.file.Path)
	if strings.HasPrefix(base, "process-compose") || slices.Contains(composeNames(), base) {
		return true
	}
	if strings.HasPrefix(base, "tandem.") {
		return false
	}
	for _, f := range fields {
		switch f.key {
		case "version", "environment", "log_location", "log_level", "is_strict", "extends", "shell", "vars", "ordered_shutdown":
			return true
		}
	}
	return false
}

// parse gives the one document of a text, and notes its anchors.
func (r *reader) parse(text []byte) (body ast.Node) {
	defer func() {
		if p := recover(); p != nil {
			r.wrong(Position{}, "it cannot be read as YAML")
		}
	}()
	if at := tooDeep(text); at > 0 {
		r.wrong(Position{at, 1}, "it nests too deep")
		return nil
	}
	parsed, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey()) // merged rejects them in what is read
	if err != nil {
		r.syntax(err)
		return nil
	}
	for _, doc := range parsed.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			r.wrong(positionOf(doc.Body), "a project file must be one YAML document; this has a second")
		}
		body = doc.Body
	}
	if body == nil {
		r.wrong(Position{1, 1}, "it is empty").hint("name at least one session or process")
		return nil
	}
	r.anchors = map[string]ast.Node{}
	ast.Walk(r, body)
	return body
}

// Visit notes anchors.
func (r *reader) Visit(n ast.Node) ast.Visitor {
	if a, ok := n.(*ast.AnchorNode); ok && a.Name != nil {
		r.anchors[a.Name.GetToken().Value] = a.Value
	}
	return r
}

// syntax notes a mistake that the parser has found.
func (r *reader) syntax(err error) {
	var e yaml.Error
	switch {
	case !errors.As(err, &e) || e.GetToken() == nil:
		r.wrong(Position{}, "%v", err)
	case strings.HasPrefix(e.GetMessage(), "found character '\t'"):
		r.wrong(placeOf(e.GetToken()), "a tab cannot indent a line").hint("indent with spaces, not tabs")
	default:
		r.wrong(placeOf(e.GetToken()), "%s", e.GetMessage())
	}
}

func placeOf(t *token.Token) Position {
	if t == nil || t.Position == nil {
		return Position{}
	}
	return Position{t.Position.Line, t.Position.Column}
}

// positionOf returns the position of a node: for a mapping, of its first key.
func positionOf(n ast.Node) Position {
	if n == nil {
		return Position{}
	}
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		return positionOf(m.Values[0].Key)
	}
	return placeOf(n.GetToken())
}

// tooDeep returns the line on which a text is indented or bracketed deeper than any
// project file is; 0 if there is none. The parser would take gigabytes for 100,000
// brackets.
func tooDeep(text []byte) int {
	line, depth, dashes := 1, 0, 0
	for i, c := range text {
		switch c {
		case '\n':
			line++
			dashes = 0
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(depth-1, 0)
		case ' ':
			if i > 0 && (text[i-1] == '-' || text[i-1] == '?') {
				dashes++
			}
		}
		if depth > maxDepth || dashes > maxDepth {
			return line
		}
	}
	return 0
}

// resolve follows aliases, anchors and tags. A missing value is null.
func (r *reader) resolve(n ast.Node) ast.Node {
	for {
		if r.budget--; r.budget < 0 {
			r.wrong(positionOf(n), "it is too large once its aliases are filled in").hint("does an anchor contain its own alias?")
			return nothing()
		}
		switch v := n.(type) {
		case *ast.AnchorNode:
			n = v.Value
		case *ast.TagNode:
			n = v.Value
		case *ast.AliasNode:
			name := v.Value.GetToken().Value
			target, ok := r.anchors[name]
			if !ok {
				r.wrong(positionOf(v), "no anchor &%s", name)
			}
			n = target
		case nil:
			return nothing()
		default:
			return n
		}
	}
}

// nothing returns a null that is nowhere in a file.
func nothing() ast.Node { return ast.Null(&token.Token{Position: &token.Position{}}) }

// fields returns the entries of a mapping in their order, followed by those that
// "<<" merges and the mapping does not have. An empty value is an empty mapping.
func (r *reader) fields(f field, what string) (own []field) {
	var merged []field
	lines := map[string]int{}
	for _, pair := range r.pairs(f, what) {
		if r.err != nil { // else every level of an anchor that merges itself visits all pairs
			break
		}
		at, value := positionOf(pair.Key), r.resolve(pair.Value)
		if pair.Key.IsMergeKey() {
			for _, part := range each(r, field{"<<", at, value}, func(f field) []field { return r.fields(f, what) }) {
				merged = addMissing(merged, part)
			}
			continue
		}
		name, ok := scalar(r.resolve(pair.Key))
		if before := lines[name]; before > 0 {
			r.wrong(at, "the key %q already exists, on line %d", name, before)
		}
		lines[name] = at.Line
		if !ok {
			r.wrong(at, "a key must be a word")
		}
		own = append(own, field{name, at, value})
	}
	return addMissing(own, merged)
}

func (r *reader) pairs(f field, what string) []*ast.MappingValueNode {
	switch n := r.resolve(f.node).(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.NullNode:
	default:
		r.wrong(f.at, "%s must hold keys with values", what)
	}
	return nil
}

func addMissing(fields, more []field) []field {
	known := make(map[string]bool, len(fields))
	for _, f := range fields {
		known[f.key] = true
	}
	for _, f := range more {
		if !known[f.key] {
			known[f.key] = true
			fields = append(fields, f)
		}
	}
	return fields
}

func (f field) isList() bool {
	_, list := f.node.(*ast.SequenceNode)
	return list
}

// items gives the elements of a list.
func (r *reader) items(f field) []field {
	list, ok := f.node.(*ast.SequenceNode)
	if !ok {
		r.wrong(f.at, "%s must be a list", f.key)
		return nil
	}
	all := make([]field, len(list.Values))
	for i, n := range list.Values {
		value := r.resolve(n)
		at := positionOf(value)
		if at.Line == 0 {
			at = f.at
		}
		all[i] = field{f.key, at, value}
	}
	return all
}

// scalar returns the text of a node that is one word or line, as it was written.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		if n.Value == nil {
			return "", true
		}
		return n.Value.Value, true
	case *ast.NullNode:
		return "", true
	case ast.ScalarNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// text is a field's value as it was written.
func (r *reader) text(f field) string {
	s, ok := scalar(f.node)
	if !ok {
		r.wrong(f.at, "%s must be a word or a line of text", f.key)
	}
	if strings.ContainsRune(s, 0) {
		r.wrong(f.at, "%s has a NUL character", f.key)
	}
	return s
}

// filled is text with ${NAME} filled in.
func (r *reader) filled(f field) string {
	s := r.text(f)
	if r.plain {
		return s
	}
	s, err := expand(s, r.bare, r.lookup)
	if err != nil {
		r.wrong(f.at, "%s: %v", f.key, err)
	}
	return s
}

// lookup is a variable of the project, or of the caller.
func (r *reader) lookup(name string) string {
	for i := len(r.env) - 1; i >= 0; i-- {
		if r.env[i].Name == name {
			return r.env[i].Value
		}
	}
	if r.getenv == nil {
		return ""
	}
	return r.getenv(name)
}

// each reads the elements of a list, or a single value.
func each[T any](r *reader, f field, read func(field) T) []T {
	items := []field{f}
	if f.isList() {
		items = r.items(f)
	}
	all := make([]T, len(items))
	for i, item := range items {
		all[i] = read(item)
	}
	return all
}

func (r *reader) boolean(f field) bool {
	b, ok := f.node.(*ast.BoolNode)
	if !ok {
		r.wrong(f.at, "%s must be true or false", f.key)
		return false
	}
	return b.Value
}

// number reads a whole number from least, which is not negative, to most.
func (r *reader) number(f field, least, most int) int {
	s := r.filled(f)
	n, err := strconv.ParseUint(strings.ReplaceAll(s, "_", ""), 0, 32)
	if err != nil || n < uint64(least) || n > uint64(min(most, math.MaxInt32)) {
		r.wrong(f.at, "%s must be a whole number from %d to %d", f.key, least, most)
	}
	return int(n)
}
