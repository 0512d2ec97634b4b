package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// isInstalled reports whether a peer is installed, and logs it if not.
func isInstalled(b *testing.B, name string) bool {
	b.Helper()
	if _, err := exec.LookPath(name); err != nil {
		b.Logf("%s is not installed: no figures to compare with", name)
		return false
	}
	return true
}

// benchmarkPM2 starts and stops processes with pm2, whose daemon is already running.
func benchmarkPM2(b *testing.B, n int) {
	if !isInstalled(b, "pm2") {
		return
	}
	home := b.TempDir()
	pm2 := func(args ...string) {
		b.Helper()
		cmd := exec.Command("pm2", args...)
		cmd.Env = append(os.Environ(), "PM2_HOME="+home)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("pm2 %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	pm2("ping")
	b.Cleanup(func() {
		pid, err := os.ReadFile(filepath.Join(home, "pm2.pid"))
		if err != nil {
			b.Error(err)
			return
		}
		endDaemon(b, func() { pm2("kill") }, string(pid))
	})
	var times runTimes
	for b.Loop() {
		mark := newSleep()
		var apps strings.Builder
		for i := range n {
			fmt.Fprintf(&apps, `{"name":"p%d","script":"/bin/sleep","args":"%s","interpreter":"none"},`, i, mark.seconds)
		}
		config := filepath.Join(b.TempDir(), "apps.json")
		writeFile(b, config, `{"apps":[`+strings.TrimSuffix(apps.String(), ",")+`]}`)
		began := time.Now()
		pm2("start", config)
		mark.awaitNamed(b, "/bin/sleep", n)
		times.started = append(times.started, time.Since(began))
		began = time.Now()
		pm2("stop", "all")
		mark.awaitNamed(b, "/bin/sleep", 0)
		times.stopped = append(times.stopped, time.Since(began))
		pm2("delete", "all")
	}
	times.report(b)
}

// benchmarkCompose starts process-compose without its screen, and stops it.
func benchmarkCompose(b *testing.B, n int) {
	if !isInstalled(b, "process-compose") {
		return
	}
	var times runTimes
	for b.Loop() {
		mark := newSleep()
		var config strings.Builder
		config.WriteString("version: \"0.5\"\nlog_level: error\nprocesses:\n")
		for i := range n {
			fmt.Fprintf(&config, "  p%d:\n    command: exec sleep %s\n    availability:\n      restart: always\n", i, mark.seconds)
		}
		path := filepath.Join(b.TempDir(), "process-compose.yaml")
		writeFile(b, path, config.String())
		cmd := exec.Command("process-compose", "-f", path, "-t=false", "--no-server", "up")
		began := time.Now()
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { // if the benchmark failed
			_ = cmd.Process.Signal(os.Interrupt)
			_ = cmd.Wait()
		})
		mark.await(b, n)
		times.started = append(times.started, time.Since(began))
		began = time.Now()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			b.Fatal(err)
		}
		mark.await(b, 0)
		times.stopped = append(times.stopped, time.Since(began))
		cmd.Wait()
	}
	times.report(b)
}

// benchmarkMprocs starts mprocs on a terminal, and makes it quit.
func benchmarkMprocs(b *testing.B, n int) {
	if !isInstalled(b, "mprocs") {
		return
	}
	var times runTimes
	for b.Loop() {
		mark := newSleep()
		var config strings.Builder
		config.WriteString("procs:\n")
		for i := range n {
			fmt.Fprintf(&config, "  p%d:\n    cmd: [\"sleep\", \"%s\"]\n", i, mark.seconds)
		}
		path := filepath.Join(b.TempDir(), "mprocs.yaml")
		writeFile(b, path, config.String())
		began := time.Now()
		screen, _ := openTerminal(b, exec.Command("mprocs", "--config", path))
		mark.await(b, n)
		times.started = append(times.started, time.Since(began))
		began = time.Now()
		if _, err := screen.WriteString("q"); err != nil {
			b.Fatal(err)
		}
		mark.await(b, 0)
		times.stopped = append(times.stopped, time.Since(began))
	}
	times.report(b)
}

func writeFile(b *testing.B, path, text string) {
	b.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}
