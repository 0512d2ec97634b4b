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
	"tandem/engine/remote/hosts/transport"
)

// A line run on another machine prints a mark with its exit status at the end. The output may stay
// open after that, because a program left in the background by a start-up file holds it. So ask
// reads up to the mark and then stops ssh.

const (
	doneMark = probeMark + "done "
	// probeTimeout is how long a machine may take to answer a probe.
	probeTimeout = 20 * time.Second
	// workTimeout is how long a machine may take for a task after reading the last input.
	workTimeout = 2 * time.Minute
	// maxNoise is the maximum output of start-up files, in bytes.
	maxNoise = 256 << 10
	// askGrace is how long ssh may take to exit.
	askGrace = 2 * time.Second
)

// errNothingRan is the error for a login without an answer.
var errNothingRan = api.Errorf(api.CodeUnavailable, "its shell ran nothing: `sh -c` must work there").
	WithHint("a key with command=\"…\" in authorized_keys needs the full path: command=\"/home/me/.local/bin/tandem bridge\"")

// withMark appends a command to line, a line of the Bourne shell, that prints the mark with its
// status.
func withMark(line string) string { return `(` + line + `); s=$?; echo; echo "` + doneMark + `$s"` }

// An answer is a machine's output for a line.
type answer struct {
	text  string
	hello *transport.Hello // sent by a bridge instead of a shell's answer
}

// ask runs a transport command and returns the output before the mark. Without in, the command's
// input stays open and empty, as a link's does until the bridge answers. timeout counts from the
// last read of the input.
func (v *Commands) ask(ctx context.Context, cmd *exec.Cmd, in io.Reader, timeout time.Duration) (answer, error) {
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
		cmd.Stdin = &notifyReader{in, func() { late.Reset(timeout) }}
	}
	if cmd.Stdout = w; cmd.Stderr == nil {
		cmd.Stderr = v.f.Out.Stderr
	}
	cmd.WaitDelay = askGrace
	err = cmd.Start()
	// The command must hold the last writing end, so that its exit ends the output.
	w.Close()
	if err != nil {
		return answer{}, err
	}
	got, status, last, err := readAnswer(r)
	// ssh may wait for a background program on the far side, so stop it.
	_ = cmd.Process.Signal(syscall.SIGTERM)
	ended := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return got, ctx.Err()
	case os.IsTimeout(err):
		return got, timeoutError(timeout, last)
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

// readAnswer reads up to a mark or a bridge's first line. last is the time of the last output.
func readAnswer(r io.Reader) (got answer, status int, last time.Time, err error) {
	var text strings.Builder
	for lines := bufio.NewReader(io.LimitReader(r, 2*maxNoise)); ; { // a single line may be endless
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

const hintStartUp = "check .bashrc, .profile, config.fish and the like there; `ssh HOST true` must print nothing and exit by itself"

// timeoutError returns the error for a missing mark. last is the time of the last output.
func timeoutError(timeout time.Duration, last time.Time) error {
	why := "waits for input, or for something else"
	if time.Since(last) < timeout/2 {
		why = "keeps printing"
	}
	return api.Errorf(api.CodeUnavailable, "no answer within %v: a start-up file of the login shell there %s", timeout, why).WithHint(hintStartUp)
}

// A notifyReader calls afterRead after each read.
type notifyReader struct {
	io.Reader
	afterRead func()
}

func (r *notifyReader) Read(p []byte) (int, error) {
	defer r.afterRead()
	return r.Reader.Read(p)
}
