package toolkit

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"
)

// InputSchema returns the JSON schema (draft 2020-12) of a tool's arguments. The SDK's inference has
// unions with null and neither limits, defaults nor choices, and takes three times as long at the
// start of every server (1.8 ms instead of 0.6 for the native tools).
func InputSchema(t reflect.Type) json.RawMessage { return json.RawMessage(schemaOf(t, "")) }

// Schema returns the schema of a tool's arguments. The argument for the machine comes last and
// undocumented, because every tool has it and the server's instructions explain it.
func (t Tool) Schema() json.RawMessage { return InputSchema(t.inputType()) }

// inputType returns the type of a call's arguments.
func (t Tool) inputType() reflect.Type {
	if !t.Hosted {
		return t.In
	}
	// The fields of embedded structs are visible themselves, and StructOf takes no unexported ones.
	fields := slices.DeleteFunc(reflect.VisibleFields(t.In), func(f reflect.StructField) bool { return f.Anonymous || !f.IsExported() })
	return reflect.StructOf(append(fields, reflect.StructField{
		Name: "Machine", Type: reflect.TypeFor[string](), Tag: `json:"` + HostArgument + `,omitempty"`,
	}))
}

// schemaOf returns a type's schema, without unions of types: null values are omitted instead. tag
// has a field's doc, enum, default, min and max. The enum of a list applies to its elements.
func schemaOf(t reflect.Type, tag reflect.StructTag) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	kind, enum := schemaType(t), tag.Get("enum")
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, `"`+name+`":`+value)
		}
	}
	if kind != "" {
		add("type", quoteJSON(kind))
	}
	switch {
	case kind == "array":
		add("items", schemaOf(t.Elem(), reflect.StructTag(`enum:"`+enum+`"`)))
		enum = ""
	case kind != "object", t == reflect.TypeFor[Env](): // Env also accepts numbers and booleans
	case t.Kind() == reflect.Struct:
		properties, required := schemaMembers(t)
		add("properties", properties)
		add("required", required)
	case schemaType(t.Elem()) != "":
		add("additionalProperties", schemaOf(t.Elem(), ""))
	}
	if doc := tag.Get("doc"); doc != "" {
		add("description", quoteJSON(doc))
	}
	if enum != "" {
		add("enum", quoteJSON(strings.Split(enum, ",")))
	}
	value := tag.Get("default")
	if kind == "string" && value != "" {
		value = quoteJSON(value)
	}
	add("default", value)
	add("minimum", tag.Get("min"))
	add("maximum", tag.Get("max"))
	return "{" + strings.Join(parts, ",") + "}"
}

// schemaMembers returns the properties of an object and the list of required ones, or "" for none.
func schemaMembers(t reflect.Type) (properties, required string) {
	var members, names []string
	for _, m := range membersOf(t) {
		if m.hidden {
			continue
		}
		members = append(members, quoteJSON(m.name)+":"+schemaOf(m.Type, m.Tag))
		if m.required {
			names = append(names, m.name)
		}
	}
	if len(members) > 0 {
		properties = "{" + strings.Join(members, ",") + "}"
	}
	if len(names) > 0 {
		required = quoteJSON(names)
	}
	return properties, required
}

// schemaType returns the schema name of a type, or "" for any.
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

// quoteJSON encodes a string or a list of strings.
func quoteJSON(v any) string {
	b, _ := json.Marshal(v) // strings cannot fail
	return string(b)
}
