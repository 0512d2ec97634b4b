package api

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
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

func TestEveryOperationHasACompleteRow(t *testing.T) {
	for _, e := range slices.Concat(Operations(), Streams()) {
		if e.Access == "" {
			t.Errorf("%s does not say how it limits agents", e.Name)
		}
		if stream := !slices.ContainsFunc(Operations(), func(o Entry) bool { return o.Name == e.Name }); stream {
			continue
		}
		if (e.Effect == Read) != (e.repeat == "") {
			t.Errorf("%s has effect %s and repeat %q", e.Name, e.Effect, e.repeat)
		}
	}
}

// others are fields that are named like an id, a path or a command, but are none.
var others = map[string]string{
	"process.restart.After.ID": "already known", "process.start.After.ID": "already known",
	"layout.change.Changes.ID": "only drawn", "layout.change.Changes.Nodes.ID": "only drawn",
	"layout.put.Layout.Tabs.Nodes.ID": "only drawn", "layout.put.Layout.Float.Nodes.ID": "only drawn",
	"history.add.Command": "not run", "history.remove.Command": "not run",
	"session.text.To": "a place", "files.set.Target": "not followed", "session.find.Text": "only compared",
	"agent.report.Text": "only shown", "worktree.remove.Path": "for the user only", "session.find.Pattern.Text": "only compared",
	"history.remove.IDs": "of commands", "history.save.IDs": "of commands",
	"policy.check.Paths": "only judged", "policy.check.Command": "only judged", "policy.check.Argv": "only judged",
	"policy.check.Subjects.Command": "only judged", "policy.check.Subjects.Argv": "only judged", "policy.check.Subjects.Paths": "only judged",
	"commands.add.Commands": "not run", "commands.replace.Commands": "not run",
	"files.write.Text": "content", "output.search.Text": "only compared", "output.search.Command": "only compared", "output.search.Cursor.ID": "for the user only",
}

func TestRowsReadEveryIDPathAndCommandOfTheInput(t *testing.T) {
	named := regexp.MustCompile(`^(ID|IDs|Process|CWDOf|Path|Paths|To|Command|Argv|Text|Paste)$`)
	for _, e := range slices.Concat(Operations(), Streams()) {
		for place, fill := range stringFields(e.In, e.Name) {
			name := place[strings.LastIndex(place, ".")+1:]
			if !named.MatchString(name) || others[place] != "" {
				continue
			}
			in := reflect.New(e.In)
			fill(in.Elem(), "marker")
			read := fmt.Sprint(e.Subject(in.Interface()))
			for _, id := range e.RoutingIDs(in.Interface()) {
				read += *id
			}
			if !strings.Contains(read, "marker") {
				t.Errorf("the row of %s does not read %s", e.Name, place)
			}
		}
	}
}

// stringFields returns functions that set a string in a value of a type. There is one for each
// string, by the names of its fields.
func stringFields(t reflect.Type, prefix string) map[string]func(reflect.Value, string) {
	all := map[string]func(reflect.Value, string){}
	for i := range t.NumField() {
		f := t.Field(i)
		place := prefix + "." + f.Name
		if f.Anonymous {
			place = prefix
		}
		get := func(v reflect.Value) reflect.Value { return v.Field(i) }
		typ := f.Type
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			outer, kind, elem := get, typ.Kind(), typ.Elem()
			get = func(v reflect.Value) reflect.Value {
				field := outer(v)
				if kind == reflect.Slice {
					if field.Len() == 0 {
						field.Set(reflect.MakeSlice(field.Type(), 1, 1))
					}
					return field.Index(0)
				}
				if field.IsNil() {
					field.Set(reflect.New(elem))
				}
				return field.Elem()
			}
			typ = elem
		}
		switch {
		case typ.Kind() == reflect.String:
			all[place] = func(v reflect.Value, s string) { get(v).SetString(s) }
		case typ.Kind() == reflect.Struct && typ != reflect.TypeFor[time.Time]() && typ != t:
			for name, fill := range stringFields(typ, place) {
				all[name] = func(v reflect.Value, s string) { fill(get(v), s) }
			}
		}
	}
	return all
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
	// The schema package takes "word=" at the start of a description for an option.
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

func TestUnknownInputOfAnOlderEngineIsAnError(t *testing.T) {
	older := EngineOperationsOutput{Operations: []OperationFields{{Name: "session.start", Input: []string{"command"}}}}
	if err := older.CheckInput("session.start", "command"); err != nil {
		t.Error(err)
	}
	for operation, field := range map[string]string{"session.start": "private", "process.start": "command"} {
		if err := older.CheckInput(operation, field); !errors.Is(err, CodeNotSupported) {
			t.Errorf("%s of %s: %v", field, operation, err)
		}
	}
}
