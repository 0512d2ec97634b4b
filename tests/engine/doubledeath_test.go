package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
	"tandem/tests/needs"
	"tandem/tests/seed"
	"tandem/tests/wait"
)

// startKinds holds the operations that start a process under an id chosen by the client.
var startKinds = map[string]func(ctx context.Context, c api.Engine, id string, command []string) error{
	"exec": func(ctx context.Context, c api.Engine, id string, command []string) error {
		_, err := api.Exec.Call(ctx, c, api.ExecInput{ID: id, Command: command})
		return err
	},
	"process.start": func(ctx context.Context, c api.Engine, id string, command []string) error {
		_, err := api.ProcessStart.Call(ctx, c, api.ProcessStartInput{ID: id, Command: command})
		return err
	},
	"session.start": func(ctx context.Context, c api.Engine, id string, command []string) error {
		_, err := api.SessionStart.Call(ctx, c, api.SessionStartInput{ID: id, Command: command})
		return err
	},
}

// killBothDuringStarts starts short commands with one operation, and kills keeper and engine 3 to
// 30 ms after each call. It fails if a command ran twice or contradicts the answer.
func killBothDuringStarts(t testing.TB, kind string, rounds int) {
	m, random := startMachine(t), seed.Rand(t)
	conn, err := retry.Connect(t.Context(), func(ctx context.Context) (*client.Client, error) { return client.Activate(ctx, m.options()) })
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answers := make([]error, rounds)
	mark := func(i int) string { return filepath.Join(m.dir, fmt.Sprintf("ran%d", i)) }
	for i := range rounds {
		before := m.info()
		command := sh(fmt.Sprintf("echo x >> %s; sleep 0.0%d", mark(i), random.IntN(6)))
		var calls sync.WaitGroup
		calls.Go(func() {
			answers[i] = startKinds[kind](context.Background(), conn, api.NewID(), command)
		})
		time.Sleep(3*time.Millisecond + time.Duration(random.IntN(27_000))*time.Microsecond) // at any point of a start
		for _, pid := range []int{before.KeeperPID, before.EnginePID} {
			if err := unix.Kill(pid, unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		calls.Wait()
		m.activate()
	}
	ran, notRun, unsure := 0, 0, 0
	for i, answer := range answers {
		if answer == nil && kind != "session.start" { // the program may still be about to write; a session's may get SIGHUP first
			wait.File(m, mark(i))
		}
		text, _ := os.ReadFile(mark(i))
		times := strings.Count(string(text), "x")
		switch {
		case times > 1:
			t.Errorf("ran %d times, answered %v", times, answer)
		case errors.Is(answer, api.CodeUnsure) && strings.Contains(answer.Error(), "may have been started as "):
			unsure++
		case answer == nil:
			ran++
		case errors.Is(answer, api.CodeUnavailable):
			notRun++
			if times != 0 {
				t.Errorf("ran, but answered %v", answer)
			}
		default:
			t.Errorf("ran %d times, answered %v", times, answer)
		}
	}
	t.Logf("%s: of %d commands %d ran, %d did not, %d may have run", kind, rounds, ran, notRun, unsure)
}

func TestCommandRunsAtMostOnceIfEngineAndKeeperAreKilled(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	for kind := range startKinds {
		t.Run(kind, func(t *testing.T) { killBothDuringStarts(t, kind, 15) })
	}
}

// BenchmarkDoubleDeaths kills engine and keeper 200 times. Run it with go test -run '^$' -bench
// DoubleDeaths -benchtime 1x ./tests/engine.
func BenchmarkDoubleDeaths(b *testing.B) {
	for kind := range startKinds {
		b.Run(kind, func(b *testing.B) {
			for b.Loop() {
				killBothDuringStarts(b, kind, 200)
			}
		})
	}
}
