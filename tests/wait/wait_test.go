package wait

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A recorder is the test of a wait that fails.
type recorder struct {
	testing.TB
	message string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestTimeoutNamesTheWaitAndItsLastState(t *testing.T) {
	silent := func(ctx context.Context) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			if yield(0, nil) {
				<-ctx.Done()
				yield(0, ctx.Err())
			}
		}
	}
	look := func() (string, bool) { return "three of four", false }
	for name, wait := range map[string]func(testing.TB){
		"receive": func(t testing.TB) { Receive(t, "the fourth", make(chan int)) },
		"watch":   func(t testing.TB) { Watch(t, "the fourth", silent, look) },
		"poll":    func(t testing.TB) { Poll(t, "the fourth", look) },
	} {
		synctest.Test(t, func(t *testing.T) {
			r, began := &recorder{TB: t}, time.Now()
			done := make(chan struct{})
			go func() {
				defer close(done)
				wait(r)
			}()
			<-done
			if waited := time.Since(began); waited < Timeout || waited > Timeout+time.Second {
				t.Errorf("%s: gave up after %v", name, waited)
			}
			want := "timed out waiting for the fourth"
			if name != "receive" {
				want += "; last state:\nthree of four"
			}
			if r.message != want {
				t.Errorf("%s: %q, want %q", name, r.message, want)
			}
		})
	}
}

// An engine may be replaced between two looks.
func TestWatchContinuesAfterTheStreamEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		streams, looks := 0, 0
		watch := func(context.Context) iter.Seq2[int, error] {
			return func(yield func(int, error) bool) {
				if streams++; streams == 2 {
					yield(0, errors.New("no engine yet"))
					return
				}
				for range 2 {
					if !yield(0, nil) {
						return
					}
				}
				yield(0, errors.New("the engine is replaced"))
			}
		}
		got := Watch(t, "the third look", watch, func() (int, bool) { looks++; return looks, looks == 3 })
		if got != 3 || streams != 3 {
			t.Errorf("%d after %d streams", got, streams)
		}
	})
}

func TestExitAndKillReturnOnceTheProcessHasExited(t *testing.T) {
	for name, end := range map[string]func(*exec.Cmd){
		"exit": func(cmd *exec.Cmd) { cmd.Process.Kill(); Exit(t, cmd.Process.Pid) },
		"kill": func(cmd *exec.Cmd) { Kill(t, cmd.Process.Pid) },
	} {
		cmd := exec.Command("sleep", "1000")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		end(cmd)
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
		if err != nil || !strings.Contains(string(stat), ") Z ") { // not collected yet
			t.Errorf("%s: %s, %v", name, stat, err)
		}
		cmd.Wait()
		Exit(t, cmd.Process.Pid) // already collected
	}
}
