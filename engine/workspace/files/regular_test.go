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

// A pipe or a link to a denied file is swapped with the file.
func TestReadRegularResistsSwappedFiles(t *testing.T) {
	for name, addTrap := range map[string]func(g *testTree) error{
		"link": func(g *testTree) error { return os.Symlink(g.outside+"/secret", g.root+"/trap") },
		"pipe": func(g *testTree) error { return unix.Mkfifo(g.root+"/trap", 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			g := newConfinedTree(t)
			g.addBeside("root-outside/marker", "")
			if err := addTrap(g); err != nil {
				t.Fatal(err)
			}
			s := newSwapper(g, g.outside, func() { g.addFile("door", "inside") })
			s.try("read", func() bool {
				data, _, err := g.ReadRegular("door", 100)
				return err == nil && string(data) != "inside"
			})
		})
	}
}

// Opening a named pipe blocks until it has a writer. Here a pipe is swapped with a directory in the
// path.
func TestNewestDoesNotBlockOnAPipe(t *testing.T) {
	g := newConfinedTree(t)
	g.addBeside("root-outside/marker", "")
	if err := unix.Mkfifo(g.root+"/trap", 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSwapper(g, g.outside, g.addDoor)
	s.try("newest", func() bool {
		newest := make(chan string)
		go func() { newest <- g.Newest(g.root + "/door/*") }()
		wait.Receive(t, "Newest, which must not block on a pipe without a writer", newest)
		return false
	})
}
