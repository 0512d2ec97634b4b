package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// machines is the number of machines, and verbs the number of runs of each command.
const machines, verbs = 20, 20

// BenchmarkMachines measures with twenty machines: the time from a key to its echo from one of
// them in the dashboard, and the time of a command there. It does so first with all machines
// running, then with the engine of another one stopped.
func BenchmarkMachines(b *testing.B) {
	for _, stopped := range []bool{false, true} {
		name := "all"
		if stopped {
			name = "one-stopped"
		}
		b.Run(name+"/key", func(b *testing.B) {
			p := startMachines(b, stopped)
			p.run(b, "--host", "m1", "new", "--name", "near", "--size", "80x24", "--", "sh", "-c", echoer)
			screen, chunks := openTerminal(b, p.command())
			await(b, chunks, []byte("ready>"))
			for _, keys := range []string{"\x02s", "/", "near\r", "G", "\r"} {
				await(b, chunks, nil)
				if _, err := screen.WriteString(keys); err != nil {
					b.Fatal(err)
				}
			}
			await(b, chunks, []byte("go"))
			await(b, chunks, nil)
			e := echoTerminal{screen: screen, chunks: chunks}
			for b.Loop() {
				e.press(b, turns*keystrokes)
			}
			printEchoes(b, "a key to its echo", []*echoTerminal{&e})
		})
		b.Run(name+"/verb", func(b *testing.B) {
			p := startMachines(b, stopped)
			for b.Loop() {
				var times []time.Duration
				for range verbs {
					began := time.Now()
					p.run(b, "--host", "m1", "ps")
					times = append(times, time.Since(began))
				}
				reportMedian(b, times, "ms-median")
			}
		})
	}
}

// startMachines returns a tandem connected to engines on this host. stopped stops the engine of
// the last one afterwards.
func startMachines(b *testing.B, stopped bool) program {
	b.Helper()
	p := build(b)
	dir := p.dir
	var conf strings.Builder
	for i := 1; i <= machines; i++ {
		remote := p
		data := fmt.Sprintf("%s/m%d", dir, i)
		fmt.Fprintf(&conf, "[machines.m%d]\ntransport = [%q, \"bridge\"]\nenv = { TANDEM_DATA_DIR = %q, XDG_CONFIG_HOME = %q }\n", i, p.path, data, dir)
		remote.env = append(p.env[:len(p.env):len(p.env)], "TANDEM_DATA_DIR="+data)
		b.Cleanup(func() { _ = remote.command("shutdown", "--all", "--yes").Run() })
	}
	folder := filepath.Join(dir, "config", "tandem")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "config.toml"), []byte(conf.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = p.command("shutdown", "--all", "--yes").Run() }) // first, or it would start the others again
	p.run(b, "exec", "--all-hosts", "--", "true")
	if !stopped {
		return p
	}
	last := fmt.Sprintf("m%d", machines)
	var remote info
	if err := json.Unmarshal([]byte(p.run(b, "--host", last, "info", "--json")), &remote); err != nil {
		b.Fatal(err)
	}
	if err := syscall.Kill(remote.EnginePID, syscall.SIGSTOP); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = syscall.Kill(remote.EnginePID, syscall.SIGCONT) })
	return p
}
