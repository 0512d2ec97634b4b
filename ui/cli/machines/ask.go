package machines

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tandem/engine/api"
	"tandem/engine/hosts/transport"
)

// A line that runs on another machine is followed by a mark with its status. ssh itself may
// not end then: a program that a start-up file left in the background holds its output open.
// So ask reads up to the mark, and ends ssh.

const (
	doneMark = probeMark + "done "
	// probeTimeout is how long a machine may take to say what it is.
	probeTimeout = 20 * time.Second
	// workTimeout is how long it may take to do something after the last of its input.
	workTimeout = 2 * time.Minute
	// maxNoise is how much a start-up file may print.
	maxNoise = 256 << 10
	// askGrace is how long ssh may take to exit.
	askGrace = 2 * time.Second
)

// errNothingRan is why a login ended without an answer.
var errNothingRan = api.Errorf(api.CodeUnavailable, "its shell ran nothing: `sh -c` has to work there").
	WithHint("a key with command=\"…\" in authorized_keys needs the full path: command=\"/home/me/.local/bin/tandem bridge\"")

// marked is a line of the Bourne shell, with its status printed behind the mark.
func marked(line string) string { return `(` + line + `); s=$?; echo; echo "` + doneMark + `$s"` }

// An answer is what a machine printed.
type answer struct {
	text  string
	hello *transport.Hello // of a bridge that answered in place of a shell
}

// ask runs a command that reaches a machine and prints a mark there, and returns what came
// before it. Without an input, it gets one that stays open and empty, as a link's does until
// the bridge answers. timeout is the time since the last of the input was taken.
func (v *Verbs) ask(ctx context.Context, cmd *exec.Cmd, in io.Reader, timeout time.Duration) (answer, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return answer{}, err
	}
	defer r.Close()
	late := time.AfterFunc(timeout, func() { r.SetReadDeadline(time.Now()) })
	defer late.Stop()
	defer context.AfterFunc(ctx, func() { r.SetReadDeadline(time.Now()) })()
	if in == nil {
		input, hold, err := os.Pipe()
		if err != nil {
			w.Close()
			return answer{}, err
		}
		defer input.Close()
		defer hold.Close()
		cmd.Stdin = input
	} else {
		cmd.Stdin = &reported{in, func() { late.Reset(timeout) }}
	}
	if cmd.Stdout = w; cmd.Stderr == nil {
		cmd.Stderr = v.Out.Stderr
	}
	cmd.WaitDelay = askGrace
	err = cmd.Start()
	w.Close()
	if err != nil {
		return answer{}, err
	}
	got, status, last, err := readAnswer(r)
	_ = cmd.Process.Signal(syscall.SIGTERM)
	ended := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return got, ctx.Err()
	case os.IsTimeout(err):
		return got, tooLate(timeout, last)
	case err == io.EOF && ended != nil:
		return got, fmt.Errorf("%w (%v)", errNothingRan, ended)
	case err == io.EOF:
		return got, errNothingRan
	case err != nil:
		return got, err
	case status != 0:
		return got, fmt.Errorf("exit status %d", status)
	}
	return got, nil
}

// readAnswer reads up to a mark or a bridge's first line. last is when something came last.
func readAnswer(r io.Reader) (got answer, status int, last time.Time, err error) {
	var text strings.Builder
	for lines := bufio.NewReader(io.LimitReader(r, 2*maxNoise)); ; { // noise may be one endless line
		piece, err := lines.ReadString('\n')
		line := strings.TrimSpace(piece)
		if len(piece) > 0 {
			last = time.Now()
		}
		if hello, ok := transport.HelloIn(line); ok {
			got.hello = &hello
			return got, 0, last, nil
		}
		if rest, ok := strings.CutPrefix(line, doneMark); ok && err == nil {
			status, err = strconv.Atoi(rest)
			return got, status, last, err
		}
		text.WriteString(piece)
		got.text = text.String()
		switch {
		case text.Len() > maxNoise:
			return got, 0, last, api.Errorf(api.CodeUnavailable, "a start-up file of the login shell there keeps printing").WithHint(hintStartUp)
		case err != nil:
			return got, 0, last, err
		}
	}
}

const hintStartUp = "look at .bashrc, .profile, config.fish and the like there; `ssh HOST true` must print nothing and end by itself"

// tooLate is why no mark came in time, when something came last then.
func tooLate(timeout time.Duration, last time.Time) error {
	why := "waits for input, or for something else"
	if time.Since(last) < timeout/2 {
		why = "keeps printing"
	}
	return api.Errorf(api.CodeUnavailable, "no answer within %v: a start-up file of the login shell there %s", timeout, why).WithHint(hintStartUp)
}

// A reported reader calls taken after each read.
type reported struct {
	io.Reader
	taken func()
}

func (r *reported) Read(p []byte) (int, error) {
	defer r.taken()
	return r.Reader.Read(p)
}
