package api

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/base/unixsocket"
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

func TestSocketsAreInTheDataFolderIfTheyFit(t *testing.T) {
	dir := "/" + strings.Repeat("d", unixsocket.MaxPath-len("/")-len("/keeper.sock"))
	engine, keeper := Sockets(dir + "/")
	if engine != dir+"/tandem.sock" || keeper != dir+"/keeper.sock" {
		t.Errorf("Sockets = %s, %s", engine, keeper)
	}
}

func TestSocketsOfLongDataFoldersAreOutsideAndDistinct(t *testing.T) {
	long := "/" + strings.Repeat("d", unixsocket.MaxPath)
	for _, tc := range []struct{ runtime, tmp, want string }{
		{"/run/user/1000", "/tmp", "/run/user/1000/tandem/"},
		{"", "/var/tmp", "/var/tmp/tandem-"},
		{"relative", "/var/tmp", "/var/tmp/tandem-"},
		{long, "/var/tmp", "/var/tmp/tandem-"},
		{long, long, "/tmp/tandem-"},
	} {
		t.Setenv("XDG_RUNTIME_DIR", tc.runtime)
		t.Setenv("TMPDIR", tc.tmp)
		seen := map[string]bool{}
		for _, dir := range []string{long, long + "2"} {
			engine, keeper := Sockets(dir)
			for _, s := range []string{engine, keeper} {
				if seen[s] || len(s) > unixsocket.MaxPath || !strings.HasPrefix(s, tc.want) {
					t.Errorf("%+v: socket %s is shared, too long, or not under %s", tc, s, tc.want)
				}
				seen[s] = true
			}
			if again, _ := Sockets(dir); again != engine {
				t.Errorf("%+v: Sockets gives %s, then %s", tc, engine, again)
			}
		}
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
