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

// Limits of a file: the number of nodes after resolving aliases, because aliases of aliases can
// make a small file huge, and the depth of nesting.
const (
	maxNodes = 100_000
	maxDepth = 64
)

// A reader builds a File from text. For an entry, and for what surrounds entries, it keeps only the first
// error and continues with zero values, because the entry or the file is rejected anyway.
//
// It walks the tree of nodes itself, because go-yaml's strict decoder loses what a file says: it
// rejects a key that overrides a merged one, or else accepts all duplicates and lets the later key
// count; it rejects a list after "<<"; it skips all keys of a mapping if one is a number; it reads 010
// and 1.10 into a string as 8 and 1.1; and its time is exponential for anchors that merge each other.
type reader struct {
	file       *File
	err        error             // the first error
	faults     map[string]*Error // why entries are left out
	getenv     func(string) string
	env        []Variable // shared by the whole project
	anchors    map[string]ast.Node
	budget     int
	expandBare bool // expand $NAME too
	verbatim   bool // expand nothing
}

// A field is one entry of a mapping.
type field struct {
	key  string
	at   Position // position of the key
	node ast.Node // resolved; never nil
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// readEntryOf reads an entry. A mistake in it concerns the entry alone.
func (r *reader) readEntryOf(name string, read func()) {
	outside := r.err
	r.err = nil
	read()
	if r.budget < 0 { // the file is too large
		return
	}
	if r.err != nil {
		r.addFault(name, r.err)
	}
	r.err = outside
}

// addFault leaves an entry out because of a mistake.
func (r *reader) addFault(name string, why error) {
	var e *Error
	if !errors.As(why, &e) {
		e = &Error{Path: r.file.Path, What: why.Error()}
	}
	if r.faults == nil {
		r.faults = map[string]*Error{}
	}
	if r.faults[name] == nil {
		r.faults[name] = e
	}
}

// addError records an error at a position and returns it, so that the caller can add a hint.
func (r *reader) addError(at Position, format string, args ...any) *Error {
	e := &Error{Path: r.file.Path, At: at, What: fmt.Sprintf(format, args...)}
	r.fail(e)
	return e
}

func (e *Error) hint(format string, args ...any) { e.Hint = fmt.Sprintf(format, args...) }

// addNotice adds a notice about an unused part of the file.
func (r *reader) addNotice(at Position, format string, args ...any) {
	r.file.Notices = append(r.file.Notices, fmt.Sprintf("line %d, column %d: ", at.Line, at.Column)+fmt.Sprintf(format, args...))
}

// readYAML reads a tandem.yaml or a process-compose file.
func (r *reader) readYAML(text []byte) {
	body := r.parseYAML(diag.TrimBOM(text))
	if r.err != nil {
		return
	}
	fields := r.fields(field{node: body, at: Position{1, 1}}, "the file")
	if r.isCompose(fields) {
		r.readCompose(fields)
	} else {
		r.readTandem(fields)
	}
}

// isCompose reports whether a file is process-compose's and not a tandem.yaml: by its name, or by
// keys unknown in tandem.yaml.
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

// parseYAML returns the only document of a text and records its anchors.
func (r *reader) parseYAML(text []byte) (body ast.Node) {
	defer func() {
		// The parser panics on some invalid input.
		if p := recover(); p != nil {
			r.addError(Position{}, "it is not valid YAML")
		}
	}()
	if at := tooDeep(text); at > 0 {
		r.addError(Position{at, 1}, "it nests too deep")
		return nil
	}
	parsed, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey()) // duplicates are found in fields, after merging
	if err != nil {
		r.addSyntaxError(err)
		return nil
	}
	for _, doc := range parsed.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			r.addError(positionOf(doc.Body), "a project file must be one YAML document; this one has more")
		}
		body = doc.Body
	}
	if body == nil {
		r.addError(Position{1, 1}, "it is empty").hint("name at least one session or process")
		return nil
	}
	r.anchors = map[string]ast.Node{}
	ast.Walk(r, body)
	return body
}

// Visit records anchors; it implements ast.Visitor.
func (r *reader) Visit(n ast.Node) ast.Visitor {
	if a, ok := n.(*ast.AnchorNode); ok && a.Name != nil {
		r.anchors[a.Name.GetToken().Value] = a.Value
	}
	return r
}

// addSyntaxError converts an error of the parser.
func (r *reader) addSyntaxError(err error) {
	var e yaml.Error
	switch {
	case !errors.As(err, &e) || e.GetToken() == nil:
		r.addError(Position{}, "%v", err)
	case strings.HasPrefix(e.GetMessage(), "found character '\t'"):
		r.addError(tokenPosition(e.GetToken()), "a tab cannot indent a line").hint("indent with spaces, not tabs")
	default:
		r.addError(tokenPosition(e.GetToken()), "%s", e.GetMessage())
	}
}

func tokenPosition(t *token.Token) Position {
	if t == nil || t.Position == nil {
		return Position{}
	}
	return Position{t.Position.Line, t.Position.Column}
}

// positionOf returns the position of a node; for a mapping, of its first key.
func positionOf(n ast.Node) Position {
	if n == nil {
		return Position{}
	}
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		return positionOf(m.Values[0].Key)
	}
	return tokenPosition(n.GetToken())
}

// tooDeep returns the first line with more than maxDepth levels of indentation or brackets, or 0.
// The parser would need gigabytes for 100,000 brackets.
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

// resolve follows aliases, anchors and tags. A missing value becomes null.
func (r *reader) resolve(n ast.Node) ast.Node {
	for {
		// The budget also ends the loop for an anchor with its own alias inside.
		if r.budget--; r.budget < 0 {
			r.addError(positionOf(n), "it is too large once its aliases are filled in").hint("does an anchor contain its own alias?")
			return nullNode()
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
				r.addError(positionOf(v), "no anchor &%s", name)
			}
			n = target
		case nil:
			return nullNode()
		default:
			return n
		}
	}
}

// nullNode returns a null without a position.
func nullNode() ast.Node { return ast.Null(&token.Token{Position: &token.Position{}}) }

// fields returns the entries of a mapping in order, followed by those merged with "<<" that the
// mapping does not have itself. An empty value is an empty mapping.
func (r *reader) fields(f field, what string) (own []field) {
	var merged []field
	lines := map[string]int{}
	for _, pair := range r.pairs(f, what) {
		if r.err != nil { // otherwise each level of an anchor merging itself visits all pairs
			break
		}
		at, value := positionOf(pair.Key), r.resolve(pair.Value)
		if pair.Key.IsMergeKey() {
			for _, part := range readList(r, field{"<<", at, value}, func(f field) []field { return r.fields(f, what) }) {
				merged = append(merged, part...)
			}
			continue
		}
		name, ok := scalarText(r.resolve(pair.Key))
		if before := lines[name]; before > 0 {
			r.addError(at, "the key %q already exists, on line %d", name, before)
		}
		lines[name] = at.Line
		if !ok {
			r.addError(at, "a key must be a word")
		}
		own = append(own, field{name, at, value})
	}
	for _, f := range merged {
		if lines[f.key] == 0 {
			lines[f.key] = f.at.Line
			own = append(own, f)
		}
	}
	return own
}

func (r *reader) pairs(f field, what string) []*ast.MappingValueNode {
	switch n := r.resolve(f.node).(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.NullNode:
	default:
		r.addError(f.at, "%s must hold keys with values", what)
	}
	return nil
}

func (f field) isList() bool {
	_, list := f.node.(*ast.SequenceNode)
	return list
}

// readItems applies read to the elements of a list.
func readItems[T any](r *reader, f field, read func(field) T) []T {
	list, ok := f.node.(*ast.SequenceNode)
	if !ok {
		r.addError(f.at, "%s must be a list", f.key)
		return nil
	}
	all := make([]T, len(list.Values))
	for i, n := range list.Values {
		value := r.resolve(n)
		at := positionOf(value)
		if at.Line == 0 {
			at = f.at
		}
		all[i] = read(field{f.key, at, value})
	}
	return all
}

// scalarText returns the text of a scalar node as spelled in the file. ok is false for lists and
// mappings.
func scalarText(n ast.Node) (string, bool) {
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

// readText returns a field's value as spelled in the file.
func (r *reader) readText(f field) string {
	s, ok := scalarText(f.node)
	if !ok {
		r.addError(f.at, "%s must be a word or a line of text", f.key)
	}
	if strings.ContainsRune(s, 0) {
		r.addError(f.at, "%s has a NUL character", f.key)
	}
	return s
}

// expandText returns a field's value with ${NAME} expanded.
func (r *reader) expandText(f field) string {
	s := r.readText(f)
	if r.verbatim {
		return s
	}
	s, err := expand(s, r.expandBare, r.lookup)
	if err != nil {
		r.addError(f.at, "%s: %v", f.key, err)
	}
	return s
}

// lookup returns a variable of the project, or else of the caller.
func (r *reader) lookup(name string) string {
	// Later settings override earlier ones.
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

// readList applies read to the elements of a list, or to a single value.
func readList[T any](r *reader, f field, read func(field) T) []T {
	if !f.isList() {
		return []T{read(f)}
	}
	return readItems(r, f, read)
}

func (r *reader) readBool(f field) bool {
	b, ok := f.node.(*ast.BoolNode)
	if !ok {
		r.addError(f.at, "%s must be true or false", f.key)
		return false
	}
	return b.Value
}

// readNumber reads a whole number between low and high, both inclusive. low must not be negative.
func (r *reader) readNumber(f field, low, high int) int {
	s := r.expandText(f)
	n, err := strconv.ParseUint(strings.ReplaceAll(s, "_", ""), 0, 32)
	if err != nil || n < uint64(low) || n > uint64(min(high, math.MaxInt32)) {
		r.addError(f.at, "%s must be a whole number from %d to %d", f.key, low, high)
	}
	return int(n)
}
