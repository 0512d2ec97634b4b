package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

const stream = `{"Action":"build-output","ImportPath":"tandem/d","Output":"d.go:1: broken\n"}
{"Action":"output","Package":"tandem/a","Test":"TestSSH","Output":"    a_test.go:5: needs sshd: apt-get install openssh-server\n"}
{"Action":"skip","Package":"tandem/a","Test":"TestSSH","Elapsed":0.1}
{"Action":"output","Package":"tandem/a","Output":"some noise\n"}
{"Action":"output","Package":"tandem/a","Output":"ok  \ttandem/a\t1.0s\n"}
{"Action":"pass","Package":"tandem/a","Elapsed":1}
{"Action":"output","Package":"tandem/b","Test":"TestSlow","Output":"    b_test.go:9: wrong\n"}
{"Action":"fail","Package":"tandem/b","Test":"TestSlow","Elapsed":2.5}
{"Action":"output","Package":"tandem/b","Output":"FAIL\ttandem/b\t3.0s\n"}
{"Action":"fail","Package":"tandem/b","Elapsed":3}
{"Action":"output","Package":"tandem/c","Test":"TestLater","Output":"=== RUN   TestLater\n"}
{"Action":"output","Package":"tandem/c","Test":"TestLater","Output":"=== PAUSE TestLater\n"}
{"Action":"output","Package":"tandem/c","Test":"TestHanging","Output":"panic: test timed out after 10m0s\n"}
{"Action":"output","Package":"tandem/c","Output":"FAIL\ttandem/c\t600.0s\n"}
{"Action":"fail","Package":"tandem/c","Elapsed":600}
`

func TestReportPrintsResultsSlowestAndSkipped(t *testing.T) {
	var out strings.Builder
	s := newSummary(&out)
	if err := s.readEvents(strings.NewReader(stream)); err != nil {
		t.Fatal(err)
	}
	s.printReport(4*time.Second, 2*time.Second)
	const want = `d.go:1: broken
ok  	tandem/a	1.0s
    b_test.go:9: wrong
FAIL	tandem/b	3.0s
panic: test timed out after 10m0s
FAIL	tandem/c	600.0s

4s, 2s of processor time

slowest packages
   600.0 s  tandem/c
     3.0 s  tandem/b
     1.0 s  tandem/a

slowest tests
     2.5 s  tandem/b TestSlow
     0.1 s  tandem/a TestSSH

skipped
       1 tests: needs sshd: apt-get install openssh-server
`
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}

func TestReportNamesProcessesAndFilesLeftBehind(t *testing.T) {
	cmd := exec.Command("sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & until grep -q sleep /proc/$!/cmdline; do :; done; exit 3")
	f, err := adopt(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := f.wait(); status != 3 {
		t.Errorf("status %d, want 3", status)
	}
	left := f.leftovers(0)
	for _, pid := range descendants(os.Getpid()) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
	if len(left) != 1 || !strings.Contains(left[0], "sleep 1000") {
		t.Errorf("left behind: %q, want the sleep", left)
	}
	if left := f.leftovers(time.Minute); left != nil {
		t.Errorf("left after the kill: %q", left)
	}
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/socket", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if found := filesIn(dir); len(found) != 1 || found[0] != "file "+dir+"/socket" {
		t.Errorf("files left behind: %q", found)
	}
}
