package config

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"tandem/persist/datadir"
)

func TestRecentKeepsChoicesForNextDashboard(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	names, keep := Recent(dir)
	if names != nil {
		t.Errorf("a new data folder has %q", names)
	}
	keep([]string{"action pane.zoom", "session s1"})
	if names, _ = Recent(dir); !slices.Equal(names, []string{"action pane.zoom", "session s1"}) {
		t.Errorf("kept are %q", names)
	}
	if err := os.WriteFile(filepath.Join(dir, datadir.Recent), []byte(`["half`), 0o600); err != nil {
		t.Fatal(err)
	}
	if names, _ = Recent(dir); names != nil {
		t.Errorf("of a damaged file there are %q", names)
	}
}

func TestRecentKeepsChoicesOfOtherDashboards(t *testing.T) {
	dir := t.TempDir()
	_, first := Recent(dir)
	_, second := Recent(dir)
	first([]string{"a"})
	second([]string{"b"})
	first([]string{"c", "a"})
	if names, _ := Recent(dir); !slices.Equal(names, []string{"c", "b", "a"}) {
		t.Errorf("kept are %q", names)
	}
	for i := range 40 {
		second([]string{strconv.Itoa(i)})
	}
	if names, _ := Recent(dir); len(names) != 30 || names[0] != "39" {
		t.Errorf("kept are %d, first %q", len(names), names[0])
	}
}

func TestRecentIsSafeForConcurrentDashboards(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 20 {
		_, keep := Recent(dir)
		all.Go(func() { keep([]string{strconv.Itoa(i)}) })
	}
	all.Wait()
	if names, _ := Recent(dir); len(names) != 20 {
		t.Errorf("of 20 choices %d are kept: %q", len(names), names)
	}
}

func TestTipsCountsStartsOfAllDashboards(t *testing.T) {
	dir := t.TempDir()
	_, hideFirst := Tips(true, dir)
	Tips(true, dir)
	hideFirst()
	if text, err := os.ReadFile(filepath.Join(dir, datadir.Tips)); err != nil || string(text) != "{\"starts\":2,\"hidden\":true}\n" {
		t.Errorf("kept is %q, %v", text, err)
	}
}
