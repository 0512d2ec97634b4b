package prompt

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
	"tandem/keys"
)

// A fakeTerminal is a shell's terminal without a PTY. A function answers what is typed.
type fakeTerminal struct {
	shell  *Shell
	answer func(t *fakeTerminal, typed string)

	mu  sync.Mutex
	log []byte
}

func newFakeTerminal(answer func(*fakeTerminal, string)) (*fakeTerminal, *[]Command) {
	var ran []Command
	t := &fakeTerminal{answer: answer}
	t.shell = New(Options{Terminal: t, Nonce: "n", Kind: Bash, Changed: func() {}, Ran: func(c Command) { ran = append(ran, c) }})
	return t, &ran
}

// print shows output of the shell. A mark is written as <A>.
func (t *fakeTerminal) print(text string) {
	for text != "" {
		before, rest, found := strings.Cut(text, "<")
		t.mu.Lock()
		t.log = append(t.log, before...)
		end := int64(len(t.log))
		t.mu.Unlock()
		t.shell.NoteOutput()
		if text = ""; found {
			e := vt.PromptEvent{Mark: rest[0], Options: "aid=n"}
			switch e.Mark {
			case 'D':
				e.Exit = new(int)
			case 'E':
				e.Options, e.Line, _ = strings.Cut(rest[2:strings.IndexByte(rest, '>')], " ")
			}
			t.shell.NoteMark(e, Spot{Offset: end, Cols: 80, Rows: 24})
			_, text, _ = strings.Cut(rest, ">")
		}
	}
}

func (t *fakeTerminal) Start() int64 { return 0 }

func (t *fakeTerminal) End() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return int64(len(t.log))
}

func (t *fakeTerminal) ReadAt(p []byte, off int64) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return copy(p, t.log[off:]), nil
}

func (t *fakeTerminal) IsReady(context.Context) error                 { return nil }
func (t *fakeTerminal) Log() Log                                      { return t }
func (t *fakeTerminal) Shown() int64                                  { return t.End() }
func (t *fakeTerminal) Size() (cols, rows int)                        { return 80, 24 }
func (t *fakeTerminal) CWD() string                                   { return "/home" }
func (t *fakeTerminal) Modes() vt.Modes                               { return vt.Modes{Modes: keys.Modes{BracketedPaste: true}} }
func (t *fakeTerminal) Cursor(context.Context) (styled.Cursor, error) { return styled.Cursor{}, nil }
func (t *fakeTerminal) ExitCode() *int                                { return nil }
func (t *fakeTerminal) NoteUse()                                      {}

func (t *fakeTerminal) Rows(context.Context) ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Split(string(t.log), "\r\n"), nil
}

func (t *fakeTerminal) TypeInto(_ context.Context, p []byte) error {
	t.shell.NoteInput(p, false)
	t.answer(t, string(p))
	return nil
}

func execInput(command string) api.SessionExecInput {
	in := api.SessionExecInput{ID: "a", Command: command}
	if err := CheckExec(&in, true); err != nil {
		panic(err)
	}
	return in
}

func TestExecRunsOneCommandBetweenTwoPrompts(t *testing.T) {
	term, ran := newFakeTerminal(func(f *fakeTerminal, typed string) {
		if !strings.Contains(typed, "ls -l") {
			t.Errorf("typed %q", typed)
		}
		f.print("ls -l\r\n<E n ls -l><C>a file\r\n<D><A>$ <B>")
	})
	term.print("<A>$ <B>")
	if need := term.shell.Need(); need != NeedPrompt {
		t.Errorf("it waits for %q", need)
	}
	out, err := term.shell.Exec(t.Context(), execInput("ls -l"), "a")
	if err != nil || out.Output != "a file\n" || out.ExitCode == nil || *out.ExitCode != 0 || out.CWD != "/home" || out.Method != "marks" {
		t.Errorf("%+v, %v", out, err)
	}
	if len(*ran) != 1 || (*ran)[0].Line != "ls -l" || (*ran)[0].CWD != "/home" {
		t.Errorf("ran %+v", *ran)
	}
}

func TestExecRefusesWhileAProgramRuns(t *testing.T) {
	term, _ := newFakeTerminal(func(_ *fakeTerminal, typed string) { t.Errorf("typed %q", typed) })
	term.print("<A>$ <B>make\r\n<E n make><C>")
	_, err := term.shell.Exec(t.Context(), execInput("ls"), "a")
	if !errors.Is(err, api.CodeConflict) || !strings.Contains(err.Error(), "it is running make") {
		t.Error(err)
	}
	if need := term.shell.Need(); need != NeedNothing {
		t.Errorf("it waits for %q", need)
	}
}

func TestAwaitReturnsTheFirstConditionMet(t *testing.T) {
	term, _ := newFakeTerminal(nil)
	term.print("<A>$ <B>make\r\n<E n make><C>")
	w, err := NewConditions(api.SessionWaitInput{Output: "do+ne", Screen: "never"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	waited := make(chan api.SessionWaitOutput)
	go func() {
		out, err := term.shell.Await(t.Context(), w)
		if err != nil {
			t.Error(err)
		}
		waited <- out
	}()
	for {
		term.print("\x1b[1mdone\x1b[m.\r\n")
		select {
		case out := <-waited:
			if out.Met != "output" || out.Text != "done" {
				t.Errorf("%+v", out)
			}
			return
		default:
		}
	}
}

// A busy machine echoes what is typed at a prompt late.
func TestPromptIsNotSettledBeforeInputIsEchoed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term, _ := newFakeTerminal(func(*fakeTerminal, string) {})
		term.print("<A>$ <B>")
		time.Sleep(time.Minute)
		if err := term.TypeInto(t.Context(), []byte("half")); err != nil {
			t.Fatal(err)
		}
		w, err := NewConditions(api.SessionWaitInput{Settled: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		waited := make(chan string, 1)
		go func() {
			out, err := term.shell.Await(t.Context(), w)
			if err != nil {
				t.Error(err)
			}
			waited <- out.Met
		}()
		time.Sleep(pollerQuiet / 2)
		synctest.Wait()
		if len(waited) > 0 {
			t.Errorf("%s before the echo", <-waited)
			return
		}
		term.print("half")
		if met := <-waited; met != "settled" {
			t.Errorf("met is %q", met)
		}
	})
}
