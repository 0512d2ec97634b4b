package files

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/tests/wait"
)

func TestReadRegularRefusesOtherFiles(t *testing.T) {
	g := newConfinedTree(t)
	g.addFile("dir/file", "text")
	g.addFile("dir/large", "123456789")
	g.addLink("dir/file", "link")
	g.addLink("dir", "folder")
	g.addLink("../root-outside/secret", "out")
	if err := unix.Mkfifo(g.root+"/pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"dir/file", "folder/file"} {
		if data, info, err := g.ReadRegular(path, 8); err != nil || string(data) != "text" || info.Size() != 4 {
			t.Errorf("%s: %q, %v", path, data, err)
		}
	}
	for path, want := range map[string]Reason{
		"link": NotFile, "out": NotFile, "pipe": NotFile, "dir": IsDir, "dir/large": TooLarge,
		"missing": NotFound, "/dev/null": Denied, g.outside + "/secret": Denied,
	} {
		if data, _, err := g.ReadRegular(path, 8); !errors.Is(err, want) || len(data) > 0 {
			t.Errorf("%s: %q, %v", path, data, err)
		}
	}
	if got := g.Newest(g.root + "/*/*"); got == "" {
		t.Error("Newest found no file")
	}
	for _, pattern := range []string{g.outside + "/*", g.root + "/li*", g.root + "/pip*", "["} {
		if got := g.Newest(pattern); got != "" {
			t.Errorf("%s gave %s", pattern, got)
		}
	}
}

// A pipe and a link to a denied file take turns in place of the file.
func TestReadRegularResistsSwappedFiles(t *testing.T) {
	g := newConfinedTree(t)
	g.addFile("file", "inside")
	g.addLink(g.outside+"/secret", "trap")
	if err := unix.Mkfifo(g.root+"/pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"trap", "pipe"} {
		stop := g.startSwapping("file", other)
		for range 300 {
			if data, _, err := g.ReadRegular("file", 100); err == nil && string(data) != "inside" {
				t.Errorf("read %q", data)
			}
		}
		stop()
		os.Remove(g.root + "/file")
		g.addFile("file", "inside")
	}
}

// Opening a named pipe blocks until it has a writer. Here a pipe keeps replacing a directory in the
// path.
func TestNewestDoesNotBlockOnAPipe(t *testing.T) {
	g := newConfinedTree(t)
	g.addFile("dir/file", "text")
	if err := unix.Mkfifo(g.root+"/pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	stop := g.startSwapping("dir", "pipe")
	defer stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range 3000 {
			(&Tree{}).Newest(g.root + "/dir/*")
		}
	}()
	wait.Receive(t, "Newest, which must not block on a pipe without a writer", ended)
}
