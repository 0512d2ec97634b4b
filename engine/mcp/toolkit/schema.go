package toolkit

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"
)

// InputSchema is the JSON schema (draft 2020-12) of a tool's arguments.
func InputSchema(t reflect.Type) json.RawMessage { return appendSchema(nil, t, "", "") }

// Schema is that of a tool's arguments, with the machine behind them. Of that the
// server's instructions tell: it is in each tool.
func (t Tool) Schema() json.RawMessage { return InputSchema(t.taken()) }

// taken is the type of what a call of a tool may have.
func (t Tool) taken() reflect.Type {
	if !t.Hosted {
		return t.In
	}
	fields := slices.DeleteFunc(reflect.VisibleFields(t.In), func(f reflect.StructField) bool { return f.Anonymous || !f.IsExported() })
	return reflect.StructOf(append(fields, reflect.StructField{
		Name: "Machine", Type: reflect.TypeFor[string](), Tag: `json:"` + HostArgument + `,omitempty"`,
	}))
}

// appendSchema describes a type without unions of types: what may be null is
// left out when it is. Extra is what else to say of it, as members of a JSON
// object, and items what else to say of an array's elements.
func appendSchema(b []byte, t reflect.Type, extra, items string) []byte {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	b = append(b, '{')
	switch kind := schemaType(t); kind {
	case "":
		return append(append(b, strings.TrimPrefix(extra, ",")...), '}')
	case "array":
		b = append(b, `"type":"array","items":`...)
		b = appendSchema(b, t.Elem(), items, "")
	case "object":
		b = append(b, `"type":"object"`...)
		b = appendObject(b, t)
	default:
		b = append(append(append(b, `"type":"`...), kind...), '"')
	}
	return append(append(b, extra...), '}')
}

// schemaType is the name of a type in a schema; "" for any.
func schemaType(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time](), t == reflect.TypeFor[[]byte](), t == reflect.TypeFor[Cursor]():
		return "string"
	case t == reflect.TypeFor[json.RawMessage]():
		return ""
	}
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint32, reflect.Uint64:
		return "integer"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Map, reflect.Struct:
		return "object"
	}
	return ""
}

// appendObject describes what is in an object.
func appendObject(b []byte, t reflect.Type) []byte {
	if t.Kind() == reflect.Map && (schemaType(t.Elem()) == "" || t == reflect.TypeFor[Env]()) {
		return b // anything may be in it; Env takes numbers and booleans too
	}
	if t.Kind() == reflect.Map {
		b = append(b, `,"additionalProperties":`...)
		return appendSchema(b, t.Elem(), "", "")
	}
	var required []string
	if t.NumField() == 0 {
		return b
	}
	b = append(b, `,"properties":{`...)
	first := true
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || f.Tag.Get("schema") == "-" {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(append(b, quoted(name)...), ':')
		extra, items := described(f)
		b = appendSchema(b, f.Type, extra, items)
		if !strings.Contains(options, "omit") {
			required = append(required, name)
		}
	}
	b = append(b, '}')
	if len(required) > 0 {
		b = append(append(b, `,"required":`...), quoted(required)...)
	}
	return b
}

// described is what a field's tags say of it: doc, enum, default, min and max. The enum of an
// array holds for its elements.
func described(f reflect.StructField) (s, items string) {
	if doc := f.Tag.Get("doc"); doc != "" {
		s += `,"description":` + string(quoted(doc))
	}
	if enum := f.Tag.Get("enum"); enum != "" {
		choices := `,"enum":` + string(quoted(strings.Split(enum, ",")))
		if f.Type.Kind() == reflect.Slice {
			items = choices
		} else {
			s += choices
		}
	}
	if value := f.Tag.Get("default"); value != "" && f.Type.Kind() == reflect.String {
		s += `,"default":` + string(quoted(value))
	} else if value != "" {
		s += `,"default":` + value
	}
	for _, limit := range [][2]string{{"min", "minimum"}, {"max", "maximum"}} {
		if value := f.Tag.Get(limit[0]); value != "" {
			s += `,"` + limit[1] + `":` + value
		}
	}
	return s, items
}

// quoted is a string or list of strings in JSON.
func quoted(v any) []byte {
	b, _ := json.Marshal(v) // strings always can
	return b
}
