package store

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestPrivateRecordIsSavedWithoutContent(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var r Record
	n := 0
	fill(reflect.ValueOf(&r).Elem(), &n)
	r.ID, r.Private = "0123456789ab", true
	if err := s.Save(r); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(s.Dir(r.ID), recordName))
	if err != nil {
		t.Fatal(err)
	}
	var saved map[string]any
	if err := json.Unmarshal(text, &saved); err != nil {
		t.Fatal(err)
	}
	want := strings.Fields("actor argv asked auto_restarts cgroup cols created_at cwd desired ended_by error_log_start failures former from id identity " +
		"keyboard kind log_limit name never_started next_start open private restart_id restarts revision rows runs schema started_at state stop_signal stop_timeout_ms tty unsure was_ready")
	if got := slices.Sorted(maps.Keys(saved)); !slices.Equal(got, want) {
		t.Errorf("saved fields\n%q, want\n%q", got, want)
	}
	if saved["argv"] != nil || saved["cwd"] != "" {
		t.Errorf("saved the command %v in %v", saved["argv"], saved["cwd"])
	}
	back, err := s.LoadRecord(r.ID)
	if err != nil || !back.Private || *back.Identity != *r.Identity || back.Cols != r.Cols || back.Name != r.Name {
		t.Errorf("loaded %+v, %v", back, err)
	}
}
