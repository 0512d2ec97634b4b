package store

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the record in testdata anew")

// Other versions of the engine read the same file, so the names, their order and their form must
// not change.
func TestRecordFormatIsUnchanged(t *testing.T) {
	var r Record
	n := 0
	fill(reflect.ValueOf(&r).Elem(), &n)
	r.Schema = SchemaVersion
	got, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "record.json")
	if *update {
		if err := os.WriteFile(path, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(bytes.TrimRight(want, "\n")), string(got)); diff != "" {
		t.Error(diff)
	}
	var back Record
	if err := json.Unmarshal(want, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, back); diff != "" {
		t.Error(diff)
	}
}

func TestPolicyUnlessStoppedOfEarlierReleasesIsReadAsAlways(t *testing.T) {
	r, err := decodeRecord([]byte(`{"schema": 1, "id": "a", "restart": {"policy": "unless-stopped"}}`), "a")
	if err != nil || r.Restart.Policy != "always" {
		t.Errorf("%+v, %v", r.Restart, err)
	}
}

// fill sets everything in v, each to something else.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(int64(1e9+*n), 0).UTC()))
			return
		}
		*n-- // a group counts for nothing, so that fields may be grouped
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(fmt.Sprint("name", *n)), reflect.ValueOf(fmt.Sprint("value", *n)))
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	default:
		v.SetInt(int64(*n))
	}
}
