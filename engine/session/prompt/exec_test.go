package prompt

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/engine/system/pty"
)

var onceNonce = regexp.MustCompile(`aid=([0-9a-f]{32})`)

// answerOnce returns what a shell without marks prints for lines with a one-time nonce: their echo, the
// marks and the output between them.
func answerOnce(typed, output string, code string) string {
	nonce := onceNonce.FindStringSubmatch(typed)[1]
	return strings.ReplaceAll(typed, "\r", "\r\n") + "\x1b]133;C;aid=" + nonce + "\a" + output + "\x1b]133;D;" + code + ";aid=" + nonce + "\a$ "
}

func TestExecTypesToTheProgramReadingTheTerminal(t *testing.T) {
	code := func(n int) *int { return &n }
	childShell := pty.Look{Reads: true, PID: childPID, Polls: true}
	for name, c := range map[string]struct {
		o       screenOptions
		printed string
		look    pty.Look
		in      api.SessionExecInput
		answer  func(s *screen, typed string)
		want    api.SessionExecOutput
		err     string // in the error and its hint
		code    api.Code
	}{
		"a shell with marks": {
			o: screenOptions{kind: Bash}, printed: marked, in: api.SessionExecInput{Command: "ls"},
			answer: func(s *screen, typed string) {
				s.print("ls\r\n\x1b]633;E;ls;n\a" + starts + "\x1b[1mfile\x1b[m\r\n" + exits0 + marked)
			},
			want: api.SessionExecOutput{Output: "file\n", ExitCode: code(0), Method: "marks"},
		},
		"a shell that marks no starts": {
			o: screenOptions{kind: POSIX}, printed: noStart, in: api.SessionExecInput{Command: "ls\n"},
			answer: func(s *screen, typed string) { s.print("ls\r\nfile\r\n" + exits0 + noStart) },
			want:   api.SessionExecOutput{Output: "file\n", ExitCode: code(0), Method: "marks"},
		},
		"a shell without marks": {
			o: screenOptions{kind: None, shell: []string{"ksh"}}, printed: "$ ", look: shellWait, in: api.SessionExecInput{Command: "ls"},
			answer: func(s *screen, typed string) { s.print(answerOnce(typed, "file\r\n", "3")) },
			want:   api.SessionExecOutput{Output: "file\n", ExitCode: code(3), Method: "marker"},
		},
		"a shell in the shell": {
			o: screenOptions{kind: Bash, child: []string{"sh"}}, printed: marked + starts + "$ ", look: childShell, in: api.SessionExecInput{Command: "a\nb"},
			answer: func(s *screen, typed string) { s.print(answerOnce(typed, "out\r\n", "0")) },
			want:   api.SessionExecOutput{Output: "out\n", ExitCode: code(0), Method: "marker"},
		},
		"a remote shell": {
			o: screenOptions{kind: Bash, child: []string{"ssh", "host"}}, printed: marked + starts + "far$ ", look: childShell, in: api.SessionExecInput{Command: "ls"},
			answer: func(s *screen, typed string) { s.print(answerOnce(typed, "far\r\n", "0")) },
			want:   api.SessionExecOutput{Output: "far\n", ExitCode: code(0), Method: "marker"},
		},
		"a program with a prompt": {
			o: screenOptions{kind: Bash, child: []string{"psql"}}, printed: marked + starts + "db=# ", look: readsLine, in: api.SessionExecInput{Command: "select 1;"},
			answer: func(s *screen, typed string) { s.print("select 1;\r\n 1\r\ndb=# ") },
			want:   api.SessionExecOutput{Output: " 1\n", Method: "none", Waits: "input", Question: "db=#"},
		},
		"a command that asks": {
			o: screenOptions{kind: Bash}, printed: marked, in: api.SessionExecInput{Command: "login"},
			answer: func(s *screen, typed string) {
				s.print("login\r\n" + starts + "hello\r\nName: ")
				s.programs.set(readsLine)
			},
			want: api.SessionExecOutput{Output: "hello\n", Method: "none", Waits: "input", Question: "Name:"},
		},
		"a command that asks in a shell that marks no starts": {
			o: screenOptions{kind: POSIX}, printed: noStart, in: api.SessionExecInput{Command: "login"},
			answer: func(s *screen, typed string) {
				s.print("login\r\nhello\r\nName: ")
				s.programs.set(readsLine)
			},
			want: api.SessionExecOutput{Output: "hello\n", Method: "none", Waits: "input", Question: "Name:"},
		},
		"a command that asks in a shell without marks": {
			o: screenOptions{kind: None, shell: []string{"ksh"}}, printed: "$ ", look: shellWait, in: api.SessionExecInput{Command: "login"},
			answer: func(s *screen, typed string) {
				answer, _, _ := strings.Cut(answerOnce(typed, "hello\r\nName: ", "0"), "\x1b]133;D")
				s.print(answer)
				s.programs.set(readsLine)
			},
			want: api.SessionExecOutput{Output: "hello\n", Method: "none", Waits: "input", Question: "Name:"},
		},
		"a builtin that starts to ask": {
			o: screenOptions{kind: Bash}, printed: marked, in: api.SessionExecInput{Command: "echo one\nread -p 'Name? ' x"},
			answer: func(s *screen, typed string) {
				s.print("read\r\n" + starts + "one\r\nName? ")
				s.programs.set(pty.Look{Reads: true, Own: true, PID: shellPID, Canonical: true})
			},
			want: api.SessionExecOutput{Output: "one\n", Method: "none", Waits: "input", Question: "Name?"},
		},
		"a builtin that starts to ask for a secret": {
			o: screenOptions{kind: Bash}, printed: marked, in: api.SessionExecInput{Command: "read -s -p 'Password: ' x"},
			answer: func(s *screen, typed string) {
				s.print("read\r\n" + starts + "Password: ")
				s.programs.set(pty.Look{Reads: true, Own: true, Hidden: true, PID: shellPID, Canonical: true})
			},
			want: api.SessionExecOutput{Method: "none", Waits: "secret", Question: "Password:"},
		},
		"the answer to a command": {
			o: screenOptions{kind: Bash, child: []string{"login"}}, printed: marked + starts + "Name: ", look: readsLine, in: api.SessionExecInput{Command: "anna"},
			answer: func(s *screen, typed string) {
				s.print("anna\r\ngot anna\r\n\x1b]133;D;3;aid=n\a" + marked)
				s.programs.set(shellWait)
			},
			want: api.SessionExecOutput{Output: "got anna\n", ExitCode: code(3), Method: "marks"},
		},
		"the answer to a script that a shell became": {
			o: screenOptions{kind: None, shell: []string{"sh", "/home/asks"}}, printed: "Cost in $ ", look: pty.Look{Reads: true, Own: true, PID: shellPID, Canonical: true}, in: api.SessionExecInput{Command: "12"},
			answer: func(s *screen, typed string) {
				s.print("12\r\ngot 12\r\n")
				s.code = code(0)
				close(s.over)
			},
			want: api.SessionExecOutput{Output: "got 12\n", ExitCode: code(0), Method: "exit"},
		},
		"several lines for a program with a prompt": {
			o: screenOptions{kind: Bash, child: []string{"psql"}}, printed: marked + starts + "db=# ", look: readsLine, in: api.SessionExecInput{Command: "a !! $x 'b\ntwo"},
			answer: func(s *screen, typed string) { s.print("a !! $x 'b\r\ngot a\r\ndb=# two\r\ngot two\r\ndb=# ") },
			want:   api.SessionExecOutput{Output: "got a\ndb=# two\ngot two\n", Method: "none", Waits: "input", Question: "db=#"},
		},
		"a program that asks for the rest": {
			o: screenOptions{kind: Bash, child: []string{"psql"}}, printed: marked + starts + "db=# ", look: readsLine, in: api.SessionExecInput{Command: "for x:"},
			answer: func(s *screen, typed string) { s.print("for x:\r\n...> ") },
			want:   api.SessionExecOutput{Method: "none", Waits: "input", Question: "...>"},
		},
		"a command that asks for a secret": {
			o: screenOptions{kind: Bash}, printed: marked, in: api.SessionExecInput{Command: "login"},
			answer: func(s *screen, typed string) {
				s.print("login\r\n" + starts + "Password: ")
				s.programs.set(pty.Look{Reads: true, Hidden: true, PID: childPID})
			},
			want: api.SessionExecOutput{Method: "none", Waits: "secret", Question: "Password:"},
		},
		"a command that takes too long": {
			o: screenOptions{kind: Bash}, printed: marked, in: api.SessionExecInput{Command: "make", TimeoutMS: 5000},
			answer: func(s *screen, typed string) { s.print("make\r\n" + starts + "so far\r\n") },
			want:   api.SessionExecOutput{Output: "so far\n", Method: "none", TimedOut: true},
		},
		"a command that ends the session": {
			o: screenOptions{kind: Bash}, printed: marked, in: api.SessionExecInput{Command: "exit 7"},
			answer: func(s *screen, typed string) {
				s.print("exit 7\r\n" + starts + "bye\r\n")
				s.code = code(7)
				close(s.over)
			},
			want: api.SessionExecOutput{Output: "bye\n", ExitCode: code(7), Method: "exit"},
		},
		"a long output": {
			o: screenOptions{kind: Bash}, printed: marked, in: api.SessionExecInput{Command: "seq", MaxOutput: 4},
			answer: func(s *screen, typed string) { s.print("seq\r\n" + starts + "ääää\r\n" + exits0 + marked) },
			want:   api.SessionExecOutput{Output: "ä\n", ExitCode: code(0), Method: "marks", Dropped: 5},
		},
		"output that fakes the end": {
			o: screenOptions{kind: Bash}, printed: marked, in: api.SessionExecInput{Command: "evil"},
			answer: func(s *screen, typed string) {
				s.print("evil\r\n" + starts + "\x1b]133;D;0;aid=x\a\x1b]133;D;0\a\x1b]133;A\ax" + "\x1b]133;D;1;aid=n\a" + marked)
			},
			want: api.SessionExecOutput{Output: "x", ExitCode: code(1), Method: "marks"},
		},
		"an incomplete command": {
			o: screenOptions{kind: Bash}, printed: marked, in: api.SessionExecInput{Command: "echo '"},
			answer: func(s *screen, typed string) {
				if typed == "\x03" {
					s.print("^C\r\n" + marked)
					return
				}
				s.print("echo '\r\n\x1b]133;P;k=s;aid=n\a> ")
				s.programs.set(shellWait)
			},
			code: api.CodeInvalid, err: "the command is incomplete: the shell waited for the rest; close every quote",
		},
		"an incomplete command without marks": {
			o: screenOptions{kind: None, shell: []string{"ksh"}}, printed: "$ ", look: shellWait, in: api.SessionExecInput{Command: "echo '"},
			answer: func(s *screen, typed string) { s.print("> ") },
			code:   api.CodeInvalid, err: "it is incomplete or has a syntax error; session.screen shows",
		},
		"a shell that lost its marks": {
			o: screenOptions{kind: Bash}, printed: marked, in: api.SessionExecInput{Command: "exec sh"},
			answer: func(s *screen, typed string) {
				s.print("exec sh\r\n" + starts + "out\r\nsh$ ")
				s.programs.set(shellWait)
			},
			want: api.SessionExecOutput{Output: "out\n", Method: "none"},
		},
		"a running program":                    {o: screenOptions{kind: Bash}, printed: marked + "\x1b]633;E;make \\x1b[1m;n\a" + starts, in: api.SessionExecInput{Command: "ls"}, code: api.CodeConflict, err: `it is running "make \x1b[1m"; wait for the prompt`},
		"a secret is read":                     {o: screenOptions{kind: Bash}, printed: marked + starts + "Password: ", look: pty.Look{Reads: true, Hidden: true, PID: childPID}, in: api.SessionExecInput{Command: "ls"}, code: api.CodeConflict, err: "it is waiting for a secret"},
		"a full screen":                        {o: screenOptions{kind: Bash}, printed: marked + starts + "\x1b[?1049h", look: readsLine, in: api.SessionExecInput{Command: "ls"}, code: api.CodeConflict, err: "its shell is not at the prompt"},
		"a builtin that asks":                  {o: screenOptions{kind: Bash}, printed: marked + "\x1b]633;E;read x;n\a" + starts + "Name: ", look: pty.Look{Reads: true, Own: true, PID: shellPID, Canonical: true}, in: api.SessionExecInput{Command: "ls"}, code: api.CodeConflict, err: "it is running read x"},
		"no prompt at all":                     {o: screenOptions{kind: Bash}, printed: "starting", in: api.SessionExecInput{Command: "ls"}, code: api.CodeConflict, err: "its shell is not at the prompt"},
		"several lines for Tandem's own shell": {o: screenOptions{kind: Tandem}, printed: marked, in: api.SessionExecInput{Command: "a\nb"}, code: api.CodeInvalid, err: "its shell accepts one line at a time"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScreen(t, c.o)
				s.print(c.printed)
				s.programs.set(c.look)
				time.Sleep(time.Minute)
				if c.answer != nil {
					s.answer = func(typed string) { c.answer(s, typed) }
				}
				if err := CheckExec(&c.in, true); err != nil {
					t.Fatal(err)
				}
				out, err := s.shell.Exec(t.Context(), c.in, "web")
				if c.code != "" {
					if e := api.AsError(err); err == nil || e.Code != c.code || !strings.Contains(e.Message+"; "+e.Hint, c.err) {
						t.Errorf("%+v, %v, want %s with %q", out, err, c.code, c.err)
					}
					return
				}
				same := (out.ExitCode == nil) == (c.want.ExitCode == nil) && (out.ExitCode == nil || *out.ExitCode == *c.want.ExitCode)
				if err != nil || !same || out.Output != c.want.Output || out.Method != c.want.Method || out.Waits != c.want.Waits ||
					out.Question != c.want.Question || out.TimedOut != c.want.TimedOut || out.Dropped != c.want.Dropped || out.Alive == (c.want.Method == "exit") {
					t.Errorf("%+v, %v, typed %q", out, err, s.typed)
				}
			})
		})
	}
}

// Like the question of Python's input, this one is asked by the program of the session itself.
func TestExecAnswersAQuestionOfPythonOnly(t *testing.T) {
	for kind, want := range map[Kind]string{Python: "", POSIX: "answer what is running with session.write"} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen(t, screenOptions{kind: kind, shell: []string{string(kind)}})
			s.print(noStart)
			time.Sleep(time.Minute)
			s.shell.NoteInput([]byte("x = input('name? ')\r"), false)
			s.print("x = input('name? ')\r\nname? ")
			s.programs.set(pty.Look{Reads: true, Own: true, PID: shellPID, Canonical: true})
			time.Sleep(time.Minute)
			if need := s.shell.UpdateNeed(); need != NeedInput || s.shell.Need() != NeedInput {
				t.Errorf("%s waits for %q", kind, need)
			}
			s.answer = func(typed string) { s.print("Bob\r\n" + exits0 + noStart) }
			in := api.SessionExecInput{Command: "Bob"}
			if err := CheckExec(&in, true); err != nil {
				t.Fatal(err)
			}
			out, err := s.shell.Exec(t.Context(), in, "web")
			if want != "" {
				if e := api.AsError(err); err == nil || !strings.Contains(e.Hint, want) || len(s.typed) > 0 {
					t.Errorf("%s: %+v, %v, typed %q", kind, out, err, s.typed)
				}
				return
			}
			if err != nil || strings.Join(s.typed, "") != "Bob\r" || out.ExitCode == nil || *out.ExitCode != 0 || out.Output != "" {
				t.Errorf("%s: %+v, %v, typed %q", kind, out, err, s.typed)
			}
		})
	}
}

// Listings agree with the result of exec at once, although they poll only once a second.
func TestNeedAgreesWithTheLastExec(t *testing.T) {
	for _, hidden := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen(t, screenOptions{kind: Python, shell: []string{"python3"}})
			s.print(noStart)
			time.Sleep(time.Minute)
			s.answer = func(typed string) {
				s.print(strings.TrimSuffix(typed, "\r") + "\r\nname? ")
				s.programs.set(pty.Look{Reads: true, Own: true, PID: shellPID, Canonical: true, Hidden: hidden})
			}
			in := api.SessionExecInput{Command: "x = input('name? ')"}
			if err := CheckExec(&in, true); err != nil {
				t.Fatal(err)
			}
			out, err := s.shell.Exec(t.Context(), in, "web")
			if err != nil || out.Waits == "" || string(s.shell.Need()) != out.Waits {
				t.Errorf("%+v, %v; the session waits for %q", out, err, s.shell.Need())
			}
		})
	}
}

func TestExecRejectsASecondCallAndKeepsPartialInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(t, screenOptions{kind: Bash})
		s.print(marked)
		time.Sleep(time.Minute)
		in := api.SessionExecInput{Command: "make"}
		if err := CheckExec(&in, true); err != nil {
			t.Fatal(err)
		}
		run := func(ctx context.Context) <-chan error {
			answer := make(chan error, 1)
			go func() {
				_, err := s.shell.Exec(ctx, in, "web")
				answer <- err
			}()
			synctest.Wait()
			return answer
		}
		s.answer = func(string) { s.print("make\r\n" + starts) }
		ctx, cancel := context.WithCancel(t.Context())
		first := run(ctx)
		if err := <-run(t.Context()); !errors.Is(err, api.CodeConflict) || !strings.Contains(err.Error(), "another command line is running") {
			t.Errorf("the second: %v", err)
		}
		cancel()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		// The user types at the next prompt.
		s.print(exits0 + marked)
		s.shell.NoteInput([]byte("half"), false)
		s.print("half")
		time.Sleep(time.Minute)
		if err := <-run(t.Context()); !errors.Is(err, api.CodeConflict) || !strings.Contains(err.Error(), "something is already typed") {
			t.Errorf("behind partial input: %v", err)
		}
		s.print("\b\b\b\b\x1b[K")
		s.answer = func(string) { s.print("make\r\n" + starts + exits0 + marked) }
		if err := <-run(t.Context()); err != nil {
			t.Errorf("after the line is cleared: %v", err)
		}
		s.answer = func(string) {}
		last := run(t.Context())
		time.Sleep(time.Second) // it has typed
		close(s.over)
		if err := <-last; err != nil {
			t.Errorf("the session ends meanwhile: %v", err)
		}
	})
}

func TestExecTypesOnlyAtAnEmptyPrompt(t *testing.T) {
	const typed = "something is already typed"
	for name, c := range map[string]struct {
		before, input, after string // printed, then typed, then printed
		late                 string // printed after a delay
		delay                time.Duration
		pending              bool   // the shell has not acted on the interrupt
		err                  string // "" if the command runs
	}{
		"partial input":               {before: marked, input: "half", after: "half", err: typed},
		"a late echo":                 {before: marked, input: "half", late: "half", delay: pollerQuiet, err: typed},
		"a redrawn prompt":            {before: marked, input: "half", after: "half\r" + marked + "\r" + marked + "half", err: typed},
		"typed before the prompt":     {before: marked + starts, input: "make\rhalf", after: exits0 + marked + "half", err: typed},
		"echoed after the prompt":     {before: marked + starts, input: "half", after: exits0 + marked, late: "half", delay: repeatQuiet, err: typed},
		"taken by the program":        {before: marked + starts, input: "q", after: exits0 + marked},
		"interrupted":                 {before: marked, input: "half\x03", after: "^C\r\n" + marked},
		"an interrupt without effect": {before: marked, input: "half\x03", after: "\x1b[?2004h", pending: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScreen(t, screenOptions{kind: Zsh, shell: []string{"zsh"}})
				s.programs.set(shellWait)
				s.print(c.before)
				time.Sleep(time.Minute)
				s.shell.NoteInput([]byte(c.input), strings.HasSuffix(c.input, "\x03"))
				if c.after != "" {
					s.print(c.after)
				}
				if c.late != "" {
					time.AfterFunc(c.delay-time.Millisecond, func() { s.print(c.late) })
				}
				s.answer = func(typed string) {
					switch {
					case typed == "\x03", c.pending: // drops the line
						c.pending = false
						s.print("\r\n" + marked)
					default:
						s.print("ls\r\n" + starts + "file\r\n" + exits0 + marked)
					}
				}
				in := api.SessionExecInput{Command: "ls"}
				if err := CheckExec(&in, true); err != nil {
					t.Fatal(err)
				}
				out, err := s.shell.Exec(t.Context(), in, "web")
				if c.err == "" && (err != nil || out.Output != "file\n") || c.err != "" && (!errors.Is(err, api.CodeConflict) || !strings.Contains(err.Error(), c.err)) {
					t.Errorf("%+v, %v, typed %q", out, err, s.typed)
				}
			})
		})
	}
}

func TestExecAfterAnIncompleteCommandFindsAClearedLine(t *testing.T) {
	for name, c := range map[string]struct {
		printed string // the prompts so far
		more    string // printed after an incomplete command
	}{
		"a shell with marks":             {printed: marked, more: "echo '\r\n\x1b]133;P;k=s;aid=n\a> "},
		"a shell that marks its prompts": {printed: marked + starts + marked, more: "echo '\r\n> "},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScreen(t, screenOptions{kind: Bash, shell: []string{"bash"}})
				s.print(c.printed)
				time.Sleep(time.Minute)
				s.answer = func(typed string) {
					if typed != "\x03" {
						s.print(c.more)
						s.programs.set(shellWait)
						return
					}
					// A busy machine runs the shell late.
					time.AfterFunc(interruptGrace-time.Millisecond, func() { s.print("^C\r\n" + c.printed) })
				}
				exec := func(command string) (api.SessionExecOutput, error) {
					in := api.SessionExecInput{Command: command}
					if err := CheckExec(&in, true); err != nil {
						t.Fatal(err)
					}
					return s.shell.Exec(t.Context(), in, "web")
				}
				if out, err := exec("echo '"); !errors.Is(err, api.CodeInvalid) {
					t.Errorf("incomplete: %+v, %v", out, err)
				}
				s.answer = func(typed string) {
					if onceNonce.MatchString(typed) {
						s.print(answerOnce(typed, "file\r\n", "0") + marked)
					} else {
						s.print("ls\r\n" + starts + "file\r\n" + exits0 + marked)
					}
				}
				if out, err := exec("ls"); err != nil || out.Output != "file\n" {
					t.Errorf("the next: %+v, %v", out, err)
				}
			})
		})
	}
}

func TestRecentOutputIsPlainTextWithoutThePrompt(t *testing.T) {
	const pager = "less\r\n\x1b[?1049hone\r\na line of the pager\r:\x1b[?1049l\r$ "
	for name, c := range map[string]struct {
		printed string
		since   int64 // offset in printed; negative from its end
		limit   int
		want    string
		dropped int64
	}{
		"all":                        {"one\r\n\x1b[1mtwo\x1b[m\r\n", 0, 100, "one\ntwo\n", 0},
		"the last bytes":             {"one\r\ntwo\r\n", -5, 100, "two\n", 0},
		"more than there is":         {"one\r\n", -1000, 100, "one\n", 0},
		"the middle of a line":       {"abc\r\ndef\r\n", 6, 100, "ef\n", 0},
		"a limit":                    {"one\r\ntwo\r\n", 0, 4, "two\n", 4},
		"no half characters":         {"ääää", 0, 3, "ä", 5},
		"a free prompt":              {"out\r\n" + marked, 0, 100, "out\n", 0},
		"a prompt before":            {marked + "x", 0, 100, "$ x", 0},
		"a full screen that is left": {"before\x1b[?1049lafter\r\n", 3, 100, "after\n", 0},
		"behind a pager":             {pager + "echo typed\r\ntyped\r\n", int64(len(pager)), 100, "echo typed\ntyped\n", 0},
		"an old alternate screen":    {"one\r\ntwo\x1b[?47l\r$ ls\r\n", 17, 100, "ls\n", 0},
		"beyond the end":             {"one", 50, 100, "", 0},
	} {
		s := newScreen(t, screenOptions{kind: Bash})
		s.print(c.printed)
		if strings.HasSuffix(c.printed, "x") {
			s.shell.NoteInput([]byte("x"), false)
		}
		text, next, dropped, err := s.shell.PlainSince(c.since, c.limit)
		if err != nil || text != c.want || dropped != c.dropped || next != s.End() {
			t.Errorf("%s: %q, next %d, dropped %d, %v", name, text, next, dropped, err)
		}
	}
}
