package sockets

import (
	"strings"
	"testing"

	"tandem/engine/base/unixsocket"
)

func TestSocketsAreInTheDataFolderIfTheyFit(t *testing.T) {
	dir := "/" + strings.Repeat("d", unixsocket.MaxPath-len("/")-len("/keeper.sock"))
	engine, keeper := Paths(dir + "/")
	if engine != dir+"/tandem.sock" || keeper != dir+"/keeper.sock" {
		t.Errorf("Paths = %s, %s", engine, keeper)
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
			engine, keeper := Paths(dir)
			for _, s := range []string{engine, keeper} {
				if seen[s] || len(s) > unixsocket.MaxPath || !strings.HasPrefix(s, tc.want) {
					t.Errorf("%+v: socket %s is shared, too long, or not under %s", tc, s, tc.want)
				}
				seen[s] = true
			}
			if again, _ := Paths(dir); again != engine {
				t.Errorf("%+v: Paths gives %s, then %s", tc, engine, again)
			}
		}
	}
}
