package api

import (
	"maps"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestOperationsHaveUniqueNamesAndOneSentence(t *testing.T) {
	name := regexp.MustCompile(`^(exec|[a-z]+\.[a-z]+(_[a-z]+)*)$`)
	seen := map[string]bool{}
	for _, e := range Operations() {
		if seen[e.Name] || !name.MatchString(e.Name) {
			t.Errorf("%q is there twice or no name for an operation", e.Name)
		}
		seen[e.Name] = true
		if !strings.HasSuffix(e.Doc, ".") || strings.Contains(e.Doc[:len(e.Doc)-1], ". ") || strings.ToUpper(e.Doc[:1]) != e.Doc[:1] {
			t.Errorf("%s: %q is not one sentence", e.Name, e.Doc)
		}
		if e.Effect != Read && e.Effect != Write && e.Effect != Destructive {
			t.Errorf("%s has effect %q", e.Name, e.Effect)
		}
	}
}

func TestRepeatsContainOnlyWriteOperations(t *testing.T) {
	unknown := maps.Clone(repeats)
	for _, e := range Operations() {
		if e.Effect != Read {
			delete(unknown, e.Name)
		}
	}
	if len(unknown) > 0 {
		t.Errorf("not write operations: %v", unknown)
	}
}

func TestEveryFieldOnTheWireHasASnakeCaseNameAndADescription(t *testing.T) {
	seen := map[reflect.Type]bool{}
	checkFields(t, reflect.TypeFor[Event](), seen)
	for _, e := range Operations() {
		checkFields(t, e.In, seen)
		checkFields(t, e.Out, seen)
	}
}

func checkFields(t *testing.T, typ reflect.Type, seen map[reflect.Type]bool) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[time.Time]() || seen[typ] {
		return
	}
	seen[typ] = true
	snake := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	// The schema package takes "word=" at the start for an option of its own.
	option := regexp.MustCompile(`^\w+=`)
	for _, f := range reflect.VisibleFields(typ) {
		if f.Anonymous || f.Tag.Get("json") == "-" { // the latter for clients alone
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		foreign := typ == reflect.TypeFor[SandboxFilesystem]() || typ == reflect.TypeFor[SandboxNetwork]()
		if doc := f.Tag.Get("jsonschema"); !snake.MatchString(name) && !foreign || doc == "" || option.MatchString(doc) {
			t.Errorf("%s.%s: JSON name %q, description %q", typ.Name(), f.Name, name, doc)
		}
		checkFields(t, f.Type, seen)
	}
}
