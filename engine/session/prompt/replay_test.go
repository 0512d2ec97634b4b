package prompt

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const (
	answerTime = time.Millisecond       // of a replayed shell
	settleTime = 100 * time.Millisecond // before each input of a test
	startTime  = 210 * time.Millisecond // of a shell
)

// A player replays a recording: it prints what the shell printed after the input of each step.
type player struct {
	t        *testing.T
	session  *session
	programs *fakePrograms
	rest     recording
	inputs   chan recorded // what the session typed or did
	now      observation
}

// replay runs a test with its recording of a shell of a kind.
func replay(t *testing.T, kind Kind, test func(s *session)) {
	t.Helper()
	r := readRecording(t, kind)
	synctest.Test(t, func(t *testing.T) {
		p := &player{t: t, rest: r, programs: &fakePrograms{}, inputs: make(chan recorded, 1000)}
		s := &session{t: t, home: recordingDir, player: p, gone: make(chan struct{})}
		if kind != None {
			s.nonce = "n"
		}
		s.screen = makeScreen(t, Options{PID: shellPID, Nonce: s.nonce, Kind: kind}, p.programs)
		s.connect()
		p.session = s
		go p.play()
		test(s)
		p.settle()
		p.checkEnd()
	})
}

// settle waits until the shell has answered earlier input.
func (p *player) settle() {
	time.Sleep(settleTime)
	synctest.Wait()
}

// play plays the recording until its end, or until the input differs from the recorded input.
func (p *player) play() {
	time.Sleep(startTime)
	for len(p.rest) > 0 {
		line := p.rest[0]
		switch line.verb {
		case "out":
			p.session.print(line.words[0])
		case "type", "do":
			p.observe(p.now)
			if !p.awaitInput(line) {
				return
			}
			p.observe(observation{shell: p.now.shell, marked: p.now.marked, signals: p.now.signals})
			time.Sleep(answerTime)
		case "exit":
			p.session.exit(exitCode(line))
		default:
			p.now.apply(line)
		}
		p.rest = p.rest[1:]
		p.answerQueries()
	}
	p.observe(p.now)
}

// awaitInput waits for an input. It reports whether the input is the recorded one.
func (p *player) awaitInput(want recorded) bool {
	var got string
	for want.words[0] != got {
		select {
		case in := <-p.inputs:
			got += in.words[0]
			if in.verb != want.verb || !strings.HasPrefix(want.words[0], got) {
				p.t.Errorf("the shell gets %s %q where the recording has\n%s %q", in.verb, got, want.verb, want.words[0])
				return false
			}
		case <-p.t.Context().Done():
			return false
		}
	}
	return true
}

// observe sets what the system reports. It reports a program that does not wait for input as busy.
func (p *player) observe(o observation) {
	f := p.programs
	f.mu.Lock()
	defer f.mu.Unlock()
	f.look, f.argv, f.env, f.signals = o.look, map[int][]string{shellPID: o.shell, childPID: o.child}, "HOME=/\x00", o.signals
	if o.look.PID == 0 {
		f.look.PID = shellPID
	}
	if o.marked {
		f.env += NonceVariable + "=n\x00"
	}
}

// answerQueries types the terminal's answers to queries.
func (p *player) answerQueries() {
	if text := p.session.takeReplies(); text != "" {
		p.inputs <- recorded{"type", []string{text}}
	}
}

// checkEnd fails the test if the recording has more input.
func (p *player) checkEnd() {
	for _, line := range p.rest {
		if line.verb == "type" || line.verb == "do" {
			p.t.Errorf("the test ended where the recording has %s %q", line.verb, line.words[0])
			return
		}
	}
}

// exitCode returns the exit status in a line of a recording; nil if a signal killed the process.
func exitCode(line recorded) *int {
	if len(line.words) == 0 {
		return nil
	}
	n, err := strconv.Atoi(line.words[0])
	if err != nil {
		return nil
	}
	return &n
}
