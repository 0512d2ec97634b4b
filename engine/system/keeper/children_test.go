package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/tests/wait"
)

func TestMasterReadsAndWritesItsTerminal(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	c := r.dial()
	child, master := r.start(c, r.ttySpec("a", "stty size; tty; read x; echo got-$x-$A"))
	if !child.TTY || child.PID <= 0 || child.StartTime == 0 || child.BootID == "" {
		t.Errorf("incomplete child %+v", child)
	}
	if got := r.readUntil(master, "/dev/pts/"); !strings.Contains(got, "30 100") {
		t.Errorf("terminal shows %q, want its size", got)
	}
	if _, err := io.WriteString(master, "hello\n"); err != nil {
		t.Fatal(err)
	}
	r.readUntil(master, "got-hello-b")
	if got := r.ended(c); got.ID != "a" || got.Exit == nil || got.Exit.Code == nil || *got.Exit.Code != 0 {
		t.Errorf("exit %+v, want code 0", got.Exit)
	}
}

func TestMasterSupportsDeadlinesAndClose(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	c := r.dial()
	_, master := r.start(c, r.ttySpec("a", "exec sleep 1000"))
	master.SetReadDeadline(time.Now())
	if _, err := master.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read gives %v, want deadline exceeded", err)
	}
	master.SetReadDeadline(time.Time{})
	ended := make(chan error)
	go func() {
		_, err := master.Read(make([]byte, 1))
		ended <- err
	}()
	master.Close()
	if err := <-ended; !errors.Is(err, os.ErrClosed) {
		t.Errorf("read gives %v, want closed", err)
	}
	again, err := c.Master(r.ctx(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	again.SetReadDeadline(time.Now())
	if _, err := again.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read of second master gives %v, want deadline exceeded", err)
	}
}

func TestChildWithoutTerminalAppendsToFiles(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	c := r.dial()
	s := r.spec("a", "cat; echo out; echo err >&2; pwd; exit 3")
	s.Stderr = filepath.Join(s.Dir, "stderr.log")
	if err := os.WriteFile(s.Stdout, []byte("before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	child, master := r.start(c, s)
	if master != nil || child.TTY {
		t.Error("child has a terminal")
	}
	if got := r.ended(c); got.Exit.Code == nil || *got.Exit.Code != 3 {
		t.Errorf("exit %v, want code 3", got.Exit)
	}
	out, _ := os.ReadFile(s.Stdout)
	if want := "before\nout\n" + r.dir + "\n"; string(out) != want {
		t.Errorf("stdout %q, want %q", out, want)
	}
	errs, _ := os.ReadFile(s.Stderr)
	if string(errs) != "err\n" {
		t.Errorf("stderr %q", errs)
	}
}

func TestStartRejectsConfinement(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	c := r.dial()
	s := r.spec("confined", "true")
	s.Confinement = &struct{}{}
	if _, _, err := c.Start(r.ctx(), s); err == nil || !strings.Contains(err.Error(), "does not confine") {
		t.Errorf("Start gave %v", err)
	}
}

func TestExitIsWrittenBeforeItIsReported(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	c := r.dial()
	for script, want := range map[string]Exit{
		"exit 7":     {Code: new(7)},
		"kill -9 $$": {Signal: "SIGKILL"},
		"kill $$":    {Signal: "SIGTERM"},
	} {
		s := r.spec("id", script)
		os.Remove(filepath.Join(s.Dir, "exit.json"))
		child, _ := r.start(c, s)
		told := r.ended(c)
		body, err := os.ReadFile(filepath.Join(s.Dir, "exit.json"))
		if err != nil {
			t.Fatal(err)
		}
		var onDisk exitFile
		if err := json.Unmarshal(body, &onDisk); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, told.Exit); diff != "" {
			t.Errorf("%s: told: %s", script, diff)
		}
		if diff := cmp.Diff(want, onDisk.Exit); diff != "" {
			t.Errorf("%s: on disk: %s", script, diff)
		}
		if onDisk.Identity != child.identity() || onDisk.Schema != 1 || onDisk.ExitedAt.IsZero() {
			t.Errorf("%s: on disk: %s", script, body)
		}
	}
}

func TestExitIsReportedWithoutItsDirectory(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	c := r.dial()
	s := r.spec("a", "exit 5")
	s.Stdout, s.Stderr = "", ""
	os.RemoveAll(s.Dir)
	r.start(c, s)
	if got := r.ended(c); got.Exit.Code == nil || *got.Exit.Code != 5 {
		t.Errorf("exit %v, want code 5", got.Exit)
	}
}

func TestStartReportsTheCause(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	c := r.dial()
	script := filepath.Join(r.dir, "script")
	os.WriteFile(script, []byte("#!/no/such/interpreter\n"), 0o700)
	plain := filepath.Join(r.dir, "plain")
	os.WriteFile(plain, []byte("echo hi\n"), 0o600)
	for name, test := range map[string]struct {
		change func(*Spec)
		want   string
	}{
		"unknown command":     {func(s *Spec) { s.Argv = []string{"foo"} }, `start "foo": executable not found in PATH`},
		"empty PATH":          {func(s *Spec) { s.Env = []string{"PATH=/nowhere"} }, `start "sh": executable not found in PATH`},
		"missing file":        {func(s *Spec) { s.Argv = []string{"/no/such"} }, `start "/no/such": no such file or directory`},
		"not executable":      {func(s *Spec) { s.Argv = []string{plain} }, `start "` + plain + `": permission denied`},
		"a folder":            {func(s *Spec) { s.Argv = []string{r.dir} }, "is a directory"},
		"missing interpreter": {func(s *Spec) { s.Argv = []string{script} }, "exists, but its interpreter does not"},
		"missing cwd":         {func(s *Spec) { s.CWD = "/no/such" }, `start "sh": working directory /no/such: no such file or directory`},
		"cwd is a file":       {func(s *Spec) { s.CWD = plain }, "not a directory"},
		"no command":          {func(s *Spec) { s.Argv = nil }, "no command given"},
		"no id":               {func(s *Spec) { s.ID = "" }, "no id given"},
		"relative folder":     {func(s *Spec) { s.Dir = "x" }, "is not an absolute path"},
		"NUL in argument":     {func(s *Spec) { s.Argv = []string{"sh", "a\x00b"} }, "argument holds a NUL byte"},
		"NUL in environment":  {func(s *Spec) { s.Env = append(s.Env, "X=\x00") }, `environment variable "X" holds a NUL byte`},
		"output in no folder": {func(s *Spec) { s.Stdout = "/no/such/log" }, "open output /no/such/log: no such file"},
	} {
		for _, tty := range []bool{false, true} {
			s := r.spec("a", "exit 0")
			s.TTY = tty && s.Stdout == ""
			test.change(&s)
			_, _, err := c.Start(r.ctx(), s)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v, want %s", name, err, test.want)
			}
			reason := NotStartable
			if slices.Contains([]string{"unknown command", "empty PATH", "missing file", "missing interpreter"}, name) {
				reason = ProgramNotFound
			}
			if !errors.Is(err, reason) {
				t.Errorf("%s: the reason is not %s", name, reason)
			}
		}
	}
	if list, err := c.List(r.ctx()); err != nil || len(list) != 0 {
		t.Errorf("%d children after failed starts, %v", len(list), err)
	}
}

func TestStartLooksUpCommandsLikeAShell(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	c := r.dial()
	os.WriteFile(filepath.Join(r.dir, "noshebang"), []byte("exit 9\n"), 0o700)
	for name, change := range map[string]func(*Spec){
		"from the working directory": func(s *Spec) { s.Argv = []string{"./noshebang"} },
		"in the PATH given":          func(s *Spec) { s.Argv, s.Env = []string{"noshebang"}, []string{"PATH=/nowhere:" + r.dir} },
		"in a relative PATH":         func(s *Spec) { s.Argv, s.Env = []string{"noshebang"}, []string{"PATH=."} },
	} {
		s := r.spec("a", "")
		change(&s)
		r.start(c, s)
		if got := r.ended(c); got.Exit.Code == nil || *got.Exit.Code != 9 {
			t.Errorf("%s: exit %v, want code 9", name, got.Exit)
		}
	}
}

func TestStartPassesEnvironmentLargerThanAPacket(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	c := r.dial()
	s := r.spec("a", `echo ${#V1} ${#V9}`)
	for i := range 10 {
		s.Env = append(s.Env, "V"+string(rune('0'+i))+"="+strings.Repeat("x", 100_000))
	}
	r.start(c, s)
	if got := r.ended(c); got.Exit.Code == nil || *got.Exit.Code != 0 {
		t.Fatalf("exit %v, want code 0", got.Exit)
	}
	if out, _ := os.ReadFile(s.Stdout); string(out) != "100000 100000\n" {
		t.Errorf("child printed %q", out)
	}
}

func TestOnlyExitedChildCanBeForgotten(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	c := r.dial()
	a, _ := r.start(c, r.ttySpec("a", "exec sleep 1000"))
	r.start(c, r.ttySpec("b", "echo last words; exit 1"))
	r.ended(c)
	list, err := c.List(r.ctx())
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].ID != "a" || list[0].Exit != nil || list[1].Exit == nil {
		t.Errorf("list %+v", list)
	}
	if err := c.Forget(r.ctx(), "a"); err == nil || !strings.Contains(err.Error(), "has not ended") {
		t.Errorf("forget of a living child: %v", err)
	}
	if _, _, err := c.Start(r.ctx(), r.spec("a", "exit")); err == nil || !strings.Contains(err.Error(), "has not ended") {
		t.Errorf("second child with the id of a living one: %v", err)
	}
	master, err := c.Master(r.ctx(), "b")
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	r.readUntil(master, "last words")
	if err := c.Forget(r.ctx(), "b"); err != nil {
		t.Error(err)
	}
	if _, err := c.Master(r.ctx(), "b"); err == nil {
		t.Error("a forgotten child has a master")
	}
	syscall.Kill(a.PID, syscall.SIGKILL)
	if got := r.ended(c); got.Exit.Signal != "SIGKILL" {
		t.Errorf("exit %v, want SIGKILL", got.Exit)
	}
}

func TestForgetClosesTheTerminal(t *testing.T) {
	r := newRig(t)
	k := r.keeper("").mustBeReady()
	c := r.dial()
	run := func(id string) {
		r.start(c, r.ttySpec(id, "exit 0"))
		r.ended(c)
	}
	run("a")
	before := len(descriptors(t, k.cmd.Process.Pid))
	run("a") // in place of the one that ended
	run("b")
	if err := c.Forget(r.ctx(), "b"); err != nil {
		t.Fatal(err)
	}
	if after := len(descriptors(t, k.cmd.Process.Pid)); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func TestSimultaneousExitsAreEachReportedOnce(t *testing.T) {
	const starters, each = 6, 20
	r := newRig(t)
	r.keeper("").mustBeReady()
	c := r.dial()
	dir := r.spec("all", "").Dir
	var group sync.WaitGroup
	for i := range starters {
		group.Go(func() {
			for j := range each {
				code := strconv.Itoa((i*each + j) % 256)
				s := Spec{ID: fmt.Sprint(i, "-", j), Dir: dir, Argv: []string{"/bin/sh", "-c", "exit " + code}, TTY: j%2 == 0}
				_, master, err := c.Start(t.Context(), s)
				if err != nil {
					t.Error(err)
				}
				if master != nil {
					master.Close()
				}
			}
		})
	}
	seen := map[string]bool{}
	for range starters * each {
		got := r.ended(c)
		var i, j int
		fmt.Sscanf(got.ID, "%d-%d", &i, &j)
		if want := (i*each + j) % 256; seen[got.ID] || got.Exit.Code == nil || *got.Exit.Code != want {
			t.Errorf("exit of %s: %v, want %d once", got.ID, got.Exit, want)
		}
		seen[got.ID] = true
	}
	group.Wait()
}

func TestLookPathKeepsDotsAfterLinks(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"real/sub", "bin"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("real/sub", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(dir, "real", "prog")
	for _, path := range []string{want, filepath.Join(dir, "prog")} {
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, cwd, path string }{
		{"../prog", dir + "/link", "/bin"}, {"link/../prog", dir, "/bin"}, {dir + "/link/../prog", "/", "/bin"},
		{"prog", dir, "/none:link/.."}, {"prog", dir, dir + "/link/.."}, {"prog", dir + "/real", ""}, {"prog", dir + "/real", "bin::" + dir},
	} {
		got, err := LookPath(c.name, c.cwd, []string{"PATH=" + c.path})
		if err == nil {
			got, err = filepath.EvalSymlinks(got)
		}
		if real, _ := filepath.EvalSymlinks(want); err != nil && c.path != "" || err == nil && got != real {
			t.Errorf("%s in %s with %q: %s, %v", c.name, c.cwd, c.path, got, err)
		}
	}
}

func TestTransientExitIsWrittenUnlessForgotten(t *testing.T) {
	r := newRig(t)
	k := r.keeper("").mustBeReady()
	c := r.dial()
	specs := map[string]Spec{}
	for _, id := range []string{"written", "forgotten", "last"} {
		s := r.spec(id, "exit 7")
		s.Transient = true
		r.start(c, s)
		if told := r.ended(c); told.Exit.Code == nil || *told.Exit.Code != 7 {
			t.Errorf("%s: told %v", id, told.Exit)
		}
		specs[id] = s
	}
	exits := func() (found []string) {
		for _, id := range []string{"forgotten", "last", "written"} {
			if _, err := os.Stat(filepath.Join(specs[id].Dir, "exit.json")); err == nil {
				found = append(found, id)
			}
		}
		return found
	}
	if err := c.Forget(r.ctx(), "forgotten"); err != nil {
		t.Fatal(err)
	}
	c.Close()
	want := []string{"last", "written"}
	wait.Poll(t, "the exits, as the engine is gone", func() ([]string, bool) {
		found := exits()
		return found, slices.Equal(found, want)
	})
	k.kill()
	if found := exits(); !slices.Equal(found, want) {
		t.Errorf("exit.json of %v, want %v", found, want)
	}
}
