package api

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDataDirFollowsTheEnvironment(t *testing.T) {
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ own, xdg, home, want string }{
		{"/data/here", "/state", "/home/ann", "/data/here"},
		{"here/", "/state", "/home/ann", filepath.Join(cwd, "here")},
		{"", "/state", "/home/ann", "/state/tandem"},
		{"", "state", "/home/ann", "/home/ann/.local/state/tandem"},
		{"", "", "/home/ann", "/home/ann/.local/state/tandem"},
	} {
		t.Setenv("TANDEM_DATA_DIR", tc.own)
		t.Setenv("XDG_STATE_HOME", tc.xdg)
		t.Setenv("HOME", tc.home)
		if got, err := DataDir(); err != nil || got != tc.want {
			t.Errorf("%+v: DataDir = %q, %v", tc, got, err)
		}
	}
	t.Setenv("HOME", "")
	var e *Error
	if _, err := DataDir(); !errors.As(err, &e) || e.Hint == "" {
		t.Errorf("without a home, DataDir = %v, want an error with a hint", err)
	}
}

func TestSocketFolderOutsideTheDataFolderIsClosedToPrograms(t *testing.T) {
	const runtime = "/run/user/1"
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	for dir, want := range map[string]int{"/tmp/short": 1, "/tmp/" + strings.Repeat("long", 30): 2} {
		closed := ClosedFolders(dir, "")
		if len(closed) != want || want == 2 && closed[1] != runtime+"/tandem" {
			t.Errorf("%s: closed are %q", dir, closed)
		}
	}
}
