//go:build amd64 || arm64

package sandbox

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkTrue measures a program that does nothing, without a sandbox and in one.
func BenchmarkTrue(b *testing.B) {
	dir := b.TempDir()
	layer := Profile{Filesystem: Filesystem{AllowWrite: []string{dir}}, Network: &Network{}}
	secret := layer
	secret.Filesystem.DenyRead = []string{"/root/.ssh", "/etc/shadow"}
	for _, c := range []struct {
		name   string
		layers Layers
	}{{"plain", nil}, {"confined", Layers{layer}}, {"denyRead", Layers{secret}}, {"twoLayers", Layers{secret, layer}}} {
		b.Run(c.name, func(b *testing.B) {
			argv := []string{"/bin/true"}
			if c.layers != nil {
				argv = command(b, c.layers, argv)
			}
			for b.Loop() {
				cmd := exec.Command(argv[0], argv[1:]...)
				cmd.Env = Environ(nil, "", "")
				if output, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, output)
				}
			}
		})
	}
}

// command returns the command line of a confined program.
func command(tb testing.TB, l Layers, argv []string) []string {
	tb.Helper()
	data, err := json.Marshal(map[string]Layers{"layers": l})
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(tb.TempDir(), "sandbox.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		tb.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return Command(self, path, "", argv)
}

// BenchmarkConfinement measures the preparation of a confinement.
func BenchmarkConfinement(b *testing.B) {
	open := Profile{Filesystem: Filesystem{AllowWrite: []string{b.TempDir()}}, Network: &Network{}}
	home := open
	home.Filesystem.DenyRead = []string{"/root/.ssh"}
	for name, layers := range map[string]Layers{"allowWrite": {open}, "denyRead": {home}, "twoLayers": {home, open}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				c, err := layers.confinement("")
				if err != nil {
					b.Fatal(err)
				}
				c.close()
			}
		})
	}
}
