package audit

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"tandem/engine/base/secrets"
	"tandem/engine/screen/vt/scan"
)

// These limit a line, in bytes. JSON may need six bytes for one, so together they keep a line below
// 128 KB.
const (
	maxText      = 2000     // of a text
	maxName      = 400      // of a name, such as an argument's or the actor's
	maxArguments = 12 << 10 // of all arguments, exceeded by at most one text
	valueCost    = 32       // counted for each value besides its text
	maxItems     = 100      // elements of a list or map

	// maxScanned is how much of a text is searched for secrets. Its last maxToken bytes are not
	// shown, because a secret may have been cut there and not be recognised.
	maxScanned = maxText + maxToken
	maxToken   = 256
)

// Arguments returns the arguments to be logged for an operation's input, or for a tool's decoded
// arguments. The keys are the names in JSON. Secrets are masked, long texts and lists shortened,
// and bytes replaced by their number. It costs the same for an input of any size.
//
// The tag `audit:"-"` leaves a field out. `audit:"typed"` marks input of a program. It is masked if
// hideTyped is set, because then the program is reading a secret. The error of such an operation
// must not quote its input.
func (*Log) Arguments(in any, hideTyped bool) map[string]any {
	r := reducer{left: maxArguments, hideTyped: hideTyped}
	m, _ := r.reduce(reflect.ValueOf(in)).(map[string]any)
	return m
}

// A reducer shortens one input.
type reducer struct {
	left      int // bytes that may be added
	hideTyped bool
}

// reduce returns a shortened copy of v, as JSON would decode it.
func (r *reducer) reduce(v reflect.Value) any {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	r.left -= valueCost
	switch v.Kind() {
	case reflect.Invalid:
		return nil
	case reflect.String:
		return r.reduceText(v.String())
	case reflect.Slice, reflect.Array:
		return r.reduceList(v)
	case reflect.Map:
		return r.reduceMap(v)
	case reflect.Struct:
		if at, ok := v.Interface().(time.Time); ok {
			return at
		}
		return r.reduceStruct(v)
	}
	return v.Interface()
}

func (r *reducer) reduceText(s string) string {
	if r.left <= 0 && s != "" {
		return fmt.Sprintf("… (%d bytes)", len(s))
	}
	r.left -= min(len(s), maxText)
	return shorten(s)
}

func (r *reducer) reduceList(v reflect.Value) any {
	switch v.Type().Elem().Kind() {
	case reflect.Uint8:
		return fmt.Sprintf("(%d bytes)", v.Len())
	case reflect.String:
		return r.reduceTexts(v)
	}
	list := make([]any, 0, min(v.Len(), maxItems))
	for i := range v.Len() {
		if len(list) == maxItems || r.left <= 0 {
			return append(list, lengthNote(v))
		}
		list = append(list, r.reduce(v.Index(i)))
	}
	return list
}

// reduceTexts shortens texts together, because one of a program's arguments may be a secret if the
// one before it says so.
func (r *reducer) reduceTexts(v reflect.Value) []string {
	list := make([]string, 0, min(v.Len(), maxItems))
	for i := range v.Len() {
		if len(list) == maxItems || r.left <= 0 {
			break
		}
		text := cut(v.Index(i).String(), maxScanned)
		r.left -= min(len(text), maxText) + valueCost
		list = append(list, text)
	}
	list = secrets.RedactArgv(list)
	for i, text := range list {
		list[i] = shortened(text, v.Index(i).Len())
	}
	if len(list) < v.Len() {
		list = append(list, lengthNote(v))
	}
	return list
}

func (r *reducer) reduceMap(v reflect.Value) map[string]any {
	m := make(map[string]any, min(v.Len(), maxItems))
	isSecret := false
	for entries := v.MapRange(); entries.Next(); {
		if len(m) == maxItems || r.left <= 0 {
			m["…"] = lengthNote(v)
			break
		}
		name := fmt.Sprint(entries.Key())
		isSecret = isSecret || namesSecret(name, entries.Value())
		r.add(m, name, entries.Value(), secrets.IsSecretName(name))
	}
	return maskValue(m, isSecret)
}

func (r *reducer) reduceStruct(v reflect.Value) map[string]any {
	m := make(map[string]any)
	isSecret := false
	for _, f := range fieldsOf(v.Type()) {
		value, err := v.FieldByIndexErr(f.index)
		if err != nil || f.omitZero && value.IsZero() {
			continue // err: in an embedded struct that is nil
		}
		if r.left <= 0 {
			m["…"] = "cut"
			break
		}
		isSecret = isSecret || namesSecret(f.name, value)
		r.add(m, f.name, value, f.secret || f.typed && r.hideTyped)
	}
	return maskValue(m, isSecret)
}

// add sets m[name], to a mask if hide is set.
func (r *reducer) add(m map[string]any, name string, value reflect.Value, hide bool) {
	name = cut(name, maxName)
	r.left -= len(name)
	if hide {
		r.left -= valueCost
		m[name] = secrets.Mask
		return
	}
	m[name] = r.reduce(value)
}

// namesSecret reports whether an argument is the name of a variable with a secret value, which is
// the argument "value" of the same call.
func namesSecret(name string, value reflect.Value) bool {
	if name != "key" && name != "name" {
		return false
	}
	for value.Kind() == reflect.Pointer || value.Kind() == reflect.Interface {
		value = value.Elem()
	}
	return value.Kind() == reflect.String && secrets.IsSecretName(cut(value.String(), maxScanned))
}

func maskValue(m map[string]any, isSecret bool) map[string]any {
	if _, ok := m["value"]; ok && isSecret {
		m["value"] = secrets.Mask
	}
	return m
}

// lengthNote replaces the elements left out of a list or map.
func lengthNote(v reflect.Value) string { return fmt.Sprintf("… (%d in all)", v.Len()) }

// shorten masks the secrets in a text and cuts it to maxText bytes.
func shorten(s string) string {
	return shortened(secrets.RedactLine(cut(s, maxScanned)), len(s))
}

// shortened cuts a text to maxText bytes and appends the size of the original if part of it is
// missing. The text is the original without secrets, cut to maxScanned bytes.
func shortened(text string, size int) string {
	if size <= maxScanned && len(text) <= maxText {
		return text
	}
	limit := maxText
	if size > maxScanned {
		limit = min(limit, max(len(text)-maxToken, 0))
	}
	return fmt.Sprintf("%s… (%d bytes)", cut(text, limit), size)
}

// cut returns the first limit bytes of s, without an incomplete character at the end.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return s[:scan.CompleteLen([]byte(s[:limit]))]
}

// A field is a field of an input.
type field struct {
	index    []int
	name     string
	omitZero bool
	secret   bool // its name suggests a secret
	typed    bool
}

var knownFields sync.Map // []field by reflect.Type

// fieldsOf returns the fields of a struct that belong in the log.
func fieldsOf(t reflect.Type) []field {
	if known, ok := knownFields.Load(t); ok {
		return known.([]field)
	}
	var list []field
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		note := f.Tag.Get("audit")
		embedded := f.Anonymous && name == "" // its fields are visible themselves
		if !f.IsExported() || embedded || name == "-" || note == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		typed := note == "typed"
		list = append(list, field{f.Index, name, strings.HasPrefix(options, "omit"), !typed && secrets.IsSecretName(name), typed})
	}
	knownFields.Store(t, list)
	return list
}
