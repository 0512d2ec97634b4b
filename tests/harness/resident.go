package harness

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"tandem/ui/cli/role"
)

// roleResident is the argument that makes the program a resident.
const roleResident = "test-resident"

// A Resident is a process that runs command lines of tandem one after another. Starting the program
// takes longer than most commands, so a test with many command lines runs them in one process.
// Commands that replace their process, such as attach, cannot run in it.
type Resident struct {
	testing.TB
	requests *gob.Encoder
	results  *gob.Decoder
}

// A residentResult is the output and exit status of a command.
type residentResult struct {
	Stdout, Stderr string
	Status         int
}

// StartResident starts a resident with an environment and a working directory. It exits at the end of
// the test, before cleanups registered earlier run.
func StartResident(t testing.TB, env []string, dir string) *Resident {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", roleResident)
	cmd.Env, cmd.Dir, cmd.Stderr = env, dir, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("resident: %v", err)
		}
	})
	return &Resident{t, gob.NewEncoder(in), gob.NewDecoder(out)}
}

// Run runs tandem and returns its output and exit status.
func (r *Resident) Run(args ...string) (stdout, stderr string, status int) {
	r.Helper()
	var result residentResult
	err := r.requests.Encode(args)
	if err == nil {
		err = r.results.Decode(&result)
	}
	if err != nil {
		r.Fatalf("tandem %q: the resident exited: %v", args, err)
	}
	return result.Stdout, result.Stderr, result.Status
}

// runResident runs the role of a resident and returns its exit status.
func runResident() int {
	if err := serveResident(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// serveResident runs the command lines read from standard input until its end.
func serveResident() error {
	requests, results := gob.NewDecoder(os.Stdin), gob.NewEncoder(os.Stdout)
	stdin, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	os.Stdin = stdin
	for {
		var args []string
		if err := requests.Decode(&args); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		result, err := runInside(args)
		if err != nil {
			return err
		}
		if err := results.Encode(result); err != nil {
			return err
		}
	}
}

// runInside runs tandem in this process, with files as its standard output and standard error.
func runInside(args []string) (result residentResult, err error) {
	stdout, stderr := os.Stdout, os.Stderr
	defer func() { os.Stdout, os.Stderr = stdout, stderr }()
	for _, stream := range []**os.File{&os.Stdout, &os.Stderr} {
		if *stream, err = os.CreateTemp("", "td"); err != nil {
			return result, err
		}
		defer (*stream).Close()
		if err := os.Remove((*stream).Name()); err != nil {
			return result, err
		}
	}
	result.Status = role.Run(append([]string{os.Args[0]}, args...), role.Build{Version: versionOfExecutable()})
	if result.Stdout, err = readStart(os.Stdout); err != nil {
		return result, err
	}
	result.Stderr, err = readStart(os.Stderr)
	return result, err
}

// readStart returns what was written to a file.
func readStart(f *os.File) (string, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	text, err := io.ReadAll(f)
	return string(text), err
}
