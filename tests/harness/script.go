package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"tandem/tests/places"
)

// Scripts runs the testscript files matching glob in parallel, with vars ("NAME=value") added to
// their environment.
func Scripts(t *testing.T, glob string, vars ...string) {
	files, err := filepath.Glob(glob)
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in %s: %v", glob, err)
	}
	testscript.Run(t, testscript.Params{
		Files:               files,
		RequireExplicitExec: true,
		Setup:               func(env *testscript.Env) error { return setUpScript(env, vars) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"dashboard":   scriptDashboard,
			"keys":        scriptKeys,
			"screen":      scriptScreen,
			"notice":      scriptNotice,
			"await":       scriptAwait,
			"mouse":       scriptMouse,
			"clipboard":   scriptClipboard,
			"resize":      scriptResize,
			"left":        scriptLeft,
			"crash":       scriptCrash,
			"eventually":  scriptEventually,
			"release":     scriptRelease,
			"stalesocket": scriptStaleSocket,
			"save":        scriptSave,
			"atmost":      scriptAtMost,
		},
	})
}

// setUpScript gives a script its own data directory, a plain shell and a set of terminals, and
// shuts everything down at the end.
func setUpScript(env *testscript.Env, vars []string) error {
	places.Take(env.T().(places.Test))
	data, err := os.MkdirTemp("", "td")
	if err != nil {
		return err
	}
	// Tips would change screens that scripts match.
	if err := HideTips(filepath.Join(data, "d")); err != nil {
		return err
	}
	terminals := map[string]*Terminal{}
	env.Values["terminals"] = terminals
	env.Values["pressed"] = new(int)
	env.Setenv(AsProgram, "1")
	env.Setenv("TANDEM_DATA_DIR", filepath.Join(data, "d"))
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(data, "config"))
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("SHELL", "/bin/sh")
	env.Setenv("ENV", "")
	env.Setenv("PS1", "ready> ")
	env.Setenv("TERM", "xterm-256color")
	env.Setenv("LANG", "C.UTF-8")
	env.Vars = append(env.Vars, vars...)
	env.Defer(func() {
		for _, t := range terminals {
			t.Close()
		}
		shutDown(env)
		env.Setenv("TANDEM_DATA_DIR", filepath.Join(env.WorkDir, "other")) // for scripts with two
		shutDown(env)
		os.RemoveAll(data)
	})
	return nil
}

// shutDown shuts down a script's engine, keeper and sessions.
func shutDown(env *testscript.Env) {
	if _, err := os.Stat(env.Getenv("TANDEM_DATA_DIR")); err != nil {
		return
	}
	cmd := exec.Command("/proc/self/exe", "shutdown", "--all", "--yes")
	cmd.Env = env.Vars
	if out, err := cmd.CombinedOutput(); err != nil {
		env.T().Log(fmt.Sprintf("shut down: %v: %s", err, out))
	}
}

// scriptEnviron returns the current environment of a script.
func scriptEnviron(ts *testscript.TestScript) []string {
	names := []string{AsProgram, "TANDEM_DATA_DIR", "XDG_CONFIG_HOME", "HOME", "SHELL", "ENV", "PS1",
		"TERM", "LANG", "PATH", "TMPDIR", "NO_COLOR", "EDITOR"}
	var vars []string
	for _, name := range names {
		if value := ts.Getenv(name); value != "" {
			vars = append(vars, name+"="+value)
		}
	}
	return vars
}
