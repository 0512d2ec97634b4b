package persist

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

// The test binary is also the processes that tests start: roleVar says which.
const (
	roleVar    = "TANDEM_PERSIST_TEST_ROLE"
	roleWait   = "wait"   // lives until its standard input ends
	roleWriter = "writer" // floods the log at pathVar
	roleSaver  = "saver"  // saves into the data folder at pathVar

	roleAppender = "appender" // appends limitVar bytes of lines to the file at pathVar

	pathVar  = "TANDEM_PERSIST_TEST_PATH"
	limitVar = "TANDEM_PERSIST_TEST_LIMIT"
)

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(roleVar) {
	case "":
		goleak.VerifyTestMain(m)
	case roleWait:
		_, err = io.Copy(io.Discard, os.Stdin)
	case roleWriter:
		err = runWriter()
	case roleSaver:
		err = runSaver()
	case roleAppender:
		err = runAppender()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A child is the test binary in another role.
type child struct {
	cmd *exec.Cmd
	in  io.Closer
	out io.Reader
}

// startChild starts a child with more environment, and ends it with the test.
func startChild(t testing.TB, role string, env ...string) child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), roleVar+"="+role), env...)
	cmd.Stderr = os.Stderr
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
		if cmd.ProcessState == nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	return child{cmd, in, out}
}

// ack tells the parent of a child that everything up to n is done.
func ack(n int64) error {
	_, err := os.Stdout.Write(binary.LittleEndian.AppendUint64(nil, uint64(n)))
	return err
}

// killAfter kills a child after so many acks and returns the last one it gave.
func (c child) killAfter(t testing.TB, acks int) int64 {
	t.Helper()
	last := int64(0)
	for n := 0; ; n++ {
		if n == acks {
			if err := c.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		var b [8]byte
		if _, err := io.ReadFull(c.out, b[:]); err != nil {
			break
		}
		last = int64(binary.LittleEndian.Uint64(b[:]))
	}
	if err := c.cmd.Wait(); err == nil || c.cmd.ProcessState.Exited() {
		t.Fatalf("the child was not killed but ended: %v", err)
	}
	return last
}

// runWriter appends numbered lines to a log until it is killed, and acks its
// end after each commit.
func runWriter() error {
	limit, err := strconv.ParseInt(os.Getenv(limitVar), 10, 64)
	if err != nil {
		return err
	}
	l, err := OpenLog(os.Getenv(pathVar), LogOptions{Limit: limit})
	if err != nil {
		return err
	}
	for {
		s, err := l.Space(1)
		if err != nil {
			return err
		}
		n := min(len(s), int(1+l.End()%5000))
		fillLines(s[:n], l.End())
		l.Commit(n)
		if err := ack(l.End()); err != nil {
			return err
		}
	}
}

// runAppender appends numbered lines to a plain file as fast as it can.
func runAppender() error {
	total, err := strconv.ParseInt(os.Getenv(limitVar), 10, 64)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(os.Getenv(pathVar), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := make([]byte, 1<<20)
	for at := int64(0); at < total; at += int64(len(lines)) {
		fillLines(lines, at)
		for rest := lines; len(rest) > 0; {
			n, err := f.Write(rest[:min(len(rest), 4096-len(rest)%64)])
			if err != nil {
				return err
			}
			rest = rest[n:]
		}
	}
	return nil
}

// lineLen is the length of the lines that fillLines makes.
const lineLen = 16

// fillLines fills b with what a log of numbered lines has at offset off.
func fillLines(b []byte, off int64) {
	var line [lineLen]byte
	line[lineLen-1] = '\n'
	for len(b) > 0 {
		number := off / lineLen
		for i := lineLen - 2; i >= 0; i-- {
			line[i] = byte('0' + number%10)
			number /= 10
		}
		n := copy(b, line[off%lineLen:])
		b, off = b[n:], off+int64(n)
	}
}

// runSaver saves everything there is about one process again and again, with
// growing numbers in it, and acks each number.
func runSaver() error {
	s, err := Open(os.Getenv(pathVar))
	if err != nil {
		return err
	}
	resizes, err := s.ReadResizes("p")
	if err != nil {
		return err
	}
	n := int64(1)
	if len(resizes) > 0 {
		n = resizes[len(resizes)-1].Offset + 1
	}
	for ; ; n++ {
		save := s.Update
		if n%16 == 0 {
			save = s.Save
		}
		// The numbers have fewer digits and more, and the rest shows a torn record.
		if err := save(Record{ID: "p", Cols: int(n), Argv: []string{fmt.Sprint(n)}}); err != nil {
			return err
		}
		if err := s.AppendResize("p", Resize{n, 80, 24}); err != nil {
			return err
		}
		if err := s.SaveCheckpoint("p", Checkpoint{n, 80, 24, make([]byte, 10_000)}); err != nil {
			return err
		}
		if err := ack(n); err != nil {
			return err
		}
	}
}
