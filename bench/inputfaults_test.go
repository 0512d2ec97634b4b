package bench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/keys"
	"tandem/tests/seed"
)

// An inputFault is a client in which someone types while the engine is killed, or the client stopped
// and continued. The program writes what it gets to a file.
type inputFault struct {
	*echoTerminal
	p       program
	file    string // the program's input
	notices string // the client's notices
	engine  *client.Client
	random  *rand.Rand
	sum     tally

	upgrades bool // the engine is upgraded instead, and even a reported loss counts
}

func openInputFault(b *testing.B, upgrades bool, program string, args ...string) *inputFault {
	b.Helper()
	dir := b.TempDir()
	f := &inputFault{p: build(b), file: filepath.Join(dir, "input"), notices: filepath.Join(dir, "notices"), random: seed.Rand(b), upgrades: upgrades}
	f.p.env = append(f.p.env, "TANDEM_NOTICES="+f.notices)
	f.p.run(b, "new", "--name", "typed", "--", "sh", "-c", "stty raw -echo; printf '\033[?2004hgo'; "+program+" >"+f.file)
	f.engine = connect(b, f.p)
	f.echoTerminal = openPeer(b, "input", f.p.command(args...), pty.Winsize{Cols: 120, Rows: 36}, "go")
	go func() {
		for range f.chunks {
		}
	}()
	return f
}

// strike injects a fault.
func (f *inputFault) strike(b *testing.B) {
	f.sum.times++
	if f.upgrades {
		if _, err := api.EngineStop.Call(b.Context(), f.engine, api.EngineStopInput{Restart: true}); err != nil && !errors.Is(err, api.CodeUnavailable) {
			b.Error(err)
		}
		return
	}
	if f.random.IntN(2) == 0 {
		unix.Kill(load{p: f.p}.info(b).EnginePID, unix.SIGKILL)
		return
	}
	f.cmd.Process.Signal(unix.SIGSTOP)
	time.Sleep(time.Duration(f.random.IntN(100)) * time.Millisecond)
	f.cmd.Process.Signal(unix.SIGCONT)
}

// got returns the program's input so far.
func (f *inputFault) got(b *testing.B) string {
	text, err := os.ReadFile(f.file)
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

var missingKeys = regexp.MustCompile(`(one|up to \d+) keys? may be missing|\(up to (\d+) characters\)`)

// reported returns how many keys the client has reported as possibly missing.
func (f *inputFault) reported(b *testing.B) (n int) {
	text, err := os.ReadFile(f.notices)
	if err != nil && !os.IsNotExist(err) {
		b.Fatal(err)
	}
	for _, m := range missingKeys.FindAllStringSubmatch(string(text), -1) {
		count, err := strconv.Atoi(strings.TrimPrefix(m[1], "up to ") + m[2])
		if err != nil {
			count = 1
		}
		n += count
	}
	return n
}

// settle waits until the program has all of what was typed, as far as it will come, and counts what is
// lost without a report or doubled.
func (f *inputFault) settle(b *testing.B, typed string) {
	got, still := "", time.Now()
	for time.Since(still) < 10*time.Second {
		now := f.got(b)
		if now == typed {
			return
		}
		if now != got {
			got, still = now, time.Now()
		}
		time.Sleep(10 * time.Millisecond)
	}
	missing, isPart := compareInput(typed, got)
	if !isPart {
		f.sum.doubled++
		b.Logf("round %d: typed %q, got %q", f.sum.times, tailOf(typed), tailOf(got))
	}
	if reported := f.reported(b); missing > reported || f.upgrades {
		if f.upgrades {
			reported = 0
		}
		f.sum.lost += missing - reported
		b.Logf("round %d: %d keys are missing, %d are reported", f.sum.times, missing, reported)
	}
}

func tailOf(s string) string { return s[max(0, len(s)-300):] }

// compareInput returns how many bytes of typed are not in got. isPart is false if got has others, or
// in another order.
func compareInput(typed, got string) (missing int, isPart bool) {
	for i := range len(typed) {
		if got != "" && typed[i] == got[0] {
			got = got[1:]
		} else {
			missing++
		}
	}
	return missing, got == ""
}

// keysThroughFaults types a key each millisecond, every sixth enter, through faults.
func keysThroughFaults(b *testing.B, upgrades bool, rounds int, client ...string) tally {
	f := openInputFault(b, upgrades, "exec cat", client...)
	var typed strings.Builder
	count := 0
	for range rounds {
		struck := make(chan struct{})
		at := time.Now().Add(time.Duration(50+f.random.IntN(100)) * time.Millisecond)
		go func() {
			defer close(struck)
			time.Sleep(time.Until(at))
			f.strike(b)
		}()
		for range 50 {
			line := fmt.Sprintf("%05d\r", count)
			count++
			for _, key := range line {
				f.send(b, string(key))
				time.Sleep(time.Millisecond)
			}
			typed.WriteString(line)
		}
		<-struck
	}
	f.settle(b, typed.String())
	return f.sum
}

// keysAmongSessions types a key each millisecond while sessions start and exit. With zoom, the pane is
// zoomed and back all the time.
func keysAmongSessions(b *testing.B, sessions int, zoom bool) tally {
	f := openInputFault(b, false, "exec cat")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range sessions {
			if f.p.command("new", "--", "sleep", "0.1").Run() == nil {
				f.sum.times++
			}
		}
	}()
	var typed strings.Builder
	for count := 0; ; count++ {
		if zoom && count%10 == 0 {
			f.send(b, "\x02z")
		}
		for _, key := range fmt.Sprintf("%09d\r", count) {
			f.send(b, string(key))
			typed.WriteRune(key)
			time.Sleep(time.Millisecond)
		}
		select {
		case <-ended:
			if typed.Len() >= 100*sessions {
				f.settle(b, typed.String())
				f.sum.note = fmt.Sprintf("%d keys", typed.Len())
				return f.sum
			}
		default:
		}
	}
}

// reportsSoon waits a moment for a report.
func (f *inputFault) reportsSoon(b *testing.B) bool {
	for limit := time.Now().Add(5 * time.Second); time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
		if f.reported(b) > 0 {
			return true
		}
	}
	return false
}

// pastesThroughFaults pastes a long text into a program that reads slowly, through faults. What is
// typed afterwards must not be a part of the paste.
func pastesThroughFaults(b *testing.B, upgrades bool, rounds int, client ...string) tally {
	f := openInputFault(b, upgrades, "while dd bs=4k count=1 status=none; do sleep 0.002; done", client...)
	for range rounds {
		before := len(f.got(b))
		text := strings.Repeat(fmt.Sprintf("line %04d\r", f.sum.times), 10_000)
		struck := make(chan struct{})
		go func() {
			defer close(struck)
			time.Sleep(time.Duration(f.random.IntN(60)) * time.Millisecond)
			f.strike(b)
		}()
		f.send(b, keys.PasteStart+text+keys.PasteEnd)
		<-struck
		end := fmt.Sprintf("end %d\r", f.sum.times)
		f.send(b, end)
		var got string
		for limit := time.Now().Add(30 * time.Second); !strings.HasSuffix(got, end) && time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
			got = f.got(b)[before:]
		}
		paste, after, closed := strings.Cut(got, keys.PasteEnd)
		_, isPart := compareInput(text, strings.TrimPrefix(paste, keys.PasteStart))
		switch {
		case !closed || after != end:
			f.sum.wrong++
			b.Logf("round %d: behind the paste, %q; all ends with %q", f.sum.times, tailOf(after), tailOf(got))
		case !isPart:
			f.sum.doubled++
		case len(paste) < len(keys.PasteStart+text) && (f.upgrades || !f.reportsSoon(b)):
			f.sum.lost++
			b.Logf("round %d: %d of %d bytes, and nothing is reported", f.sum.times, len(paste), len(keys.PasteStart+text))
		}
		if err := os.Truncate(f.notices, 0); err != nil && !os.IsNotExist(err) {
			b.Fatal(err)
		}
	}
	return f.sum
}
