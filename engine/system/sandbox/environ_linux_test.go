//go:build amd64 || arm64

package sandbox

import (
	"strings"
	"testing"
)

// The launch stage's environment hides the process's variables from the dynamic linker and Go's
// runtime.
func TestLaunchStageIgnoresVariablesOfTheProcess(t *testing.T) {
	env := []string{"LD_PRELOAD=/x.so", "GLIBC_TUNABLES=glibc.malloc.check=3", "GODEBUG=x=1", "PATH=/p", "TANDEM_DATA_DIR=/d", "TANDEM_SANDBOX_PROXY=http://u:p@h:1", "odd"}
	for _, pair := range Environ(env, "/data", "") {
		if pair != "TANDEM_DATA_DIR=/data" && !strings.HasPrefix(pair, ChildPrefix) {
			t.Errorf("it is given %s", pair)
		}
	}
	own, passed := splitEnviron(Environ(env, "/data", "http://u:p@h:2"))
	if strings.Join(passed, " ") != strings.Join(env, " ") || strings.Join(own, " ") != "TANDEM_DATA_DIR=/data TANDEM_SANDBOX_PROXY=http://u:p@h:2" {
		t.Errorf("it has %q and passes on %q", own, passed)
	}
}

func TestLaunchPassesTheEnvironmentToTheProcess(t *testing.T) {
	r := newRig(t)
	r.env = []string{"LD_PRELOAD=/missing.so", "GLIBC_TUNABLES=", "ODD=a=\xff\n b"}
	r.expect("/missing.so", "env", "LD_PRELOAD")
	r.expect("a=\xff\n b", "env", "ODD")
	r.expect("", "env", dataVariable)
	r.expect("", "env", ChildPrefix+"ODD")
}

// The process's own PATH counts, not that of its starter.
func TestProgramIsFoundInItsOwnPath(t *testing.T) {
	t.Setenv("PATH", "") // findProgram sets it
	r := newRig(t)
	r.put("open/program")
	if got, err := findProgram("program", []string{"PATH=" + r.at("open")}); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("what cannot be executed gave %s, %v", got, err)
	}
	if got, err := findProgram("sh", []string{"A=B", "PATH=/usr/bin:/bin"}); err != nil || !strings.HasSuffix(got, "/bin/sh") {
		t.Errorf("sh gave %s, %v", got, err)
	}
	if got, err := findProgram("sh", []string{"PATH=" + r.at("open")}); err == nil {
		t.Errorf("a program that is not in PATH gave %s", got)
	}
}

func TestLaunchRejectsLinkerVariablesIfDynamicallyLinked(t *testing.T) {
	for own, want := range map[string]string{
		"LD_PRELOAD=":      "LD_PRELOAD is set",
		"LD_AUDIT=/x":      "LD_AUDIT is set",
		"GLIBC_TUNABLES=x": "GLIBC_TUNABLES is set",
		"LDFLAGS=x":        "",
		"PATH=LD_PRELOAD=": "",
	} {
		err := checkLoader([]string{"A=B", own}, true)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s gave %v", own, err)
		}
		if err := checkLoader([]string{own}, false); err != nil {
			t.Errorf("%s gave %v to a static program", own, err)
		}
	}
	r := newRig(t)
	r.own = []string{"LD_LIBRARY_PATH=/missing"}
	if isDynamic() {
		r.wantNoLaunch("LD_LIBRARY_PATH is set")
	} else {
		r.expect("content", "read", r.at("open/file"))
	}
}
