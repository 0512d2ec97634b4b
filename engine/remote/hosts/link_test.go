package hosts

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/engine/remote/hosts/transport"
)

// impatience replaces the usual waiting times for a command that asks a question and does not exit.
const impatience = 20 * time.Millisecond

// newHosts returns machines whose commands are shell lines, and a function returning the states
// reported so far.
func newHosts(t *testing.T, lines map[string]string) (*Hosts, func() []api.Machine) {
	t.Helper()
	var mu sync.Mutex
	var told []api.Machine
	h := &Hosts{DataDir: t.TempDir(), Origin: "me@here", Environ: os.Environ(), Log: slog.New(slog.DiscardHandler), Tell: func(m api.Machine) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, m)
	}}
	ctx, cancel := context.WithCancel(context.Background())
	h.Start(ctx)
	t.Cleanup(func() { cancel(); h.Close() })
	var machines []transport.Machine
	for name, line := range lines {
		machines = append(machines, transport.Machine{Name: name, Transport: []string{"sh", "-c", line}})
	}
	h.Set(machines)
	return h, func() []api.Machine {
		mu.Lock()
		defer mu.Unlock()
		return told
	}
}

func TestConnectReportsWhyBridgeIsSilent(t *testing.T) {
	h, _ := newHosts(t, map[string]string{"reads": "echo Welcome; read x; read y", "prints": "while :; do echo banner; sleep 0.01; done"})
	h.DialTimeout, h.HangupGrace = 10*impatience, impatience
	for name, want := range map[string]string{"reads": "no answer within 200ms: Welcome", "prints": "no answer within 200ms: banner"} {
		if m, err := h.Connect(t.Context(), api.MachineConnectInput{Name: name}); err != nil || m.State != api.MachineAway || !strings.HasPrefix(m.Error, want) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
	if text := (&silentError{dialTimeout, true}).Error(); !strings.Contains(text, "start-up file") {
		t.Error(text)
	}
}

func TestPromptingMachineNeedsYouAndWaitsForConnect(t *testing.T) {
	file := filepath.Join(t.TempDir(), "attempts")
	h, told := newHosts(t, map[string]string{"asks": "echo x >> " + file + "; printf 'Password: '; exec sleep 1000"})
	h.QuestionWait, h.HangupGrace = impatience, impatience
	if _, _, err := h.Open(t.Context(), api.OpenOptions{Machine: "asks"}); !errors.Is(err, api.CodeUnavailable) || !strings.Contains(err.Error(), "it needs you: Password:") {
		t.Errorf("Open = %v", err)
	}
	h.Open(t.Context(), api.OpenOptions{Machine: "asks"})
	if m, err := h.Connect(t.Context(), api.MachineConnectInput{Name: "asks"}); err != nil || m.State != api.MachineNeedsYou {
		t.Errorf("Connect = %+v, %v", m, err)
	}
	if text, _ := os.ReadFile(file); string(text) != "x\nx\n" {
		t.Errorf("%d attempts, want one and the one that was asked for", strings.Count(string(text), "x"))
	}
	if events := told(); len(events) == 0 || events[0].State != api.MachineNeedsYou {
		t.Errorf("told of %+v", events)
	}
}

func TestUnresponsiveCommandIsKilledWithItsLink(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	h := &Hosts{DataDir: t.TempDir(), Origin: "me@here", Environ: os.Environ(), Log: slog.New(slog.DiscardHandler), Tell: func(api.Machine) {},
		QuestionWait: impatience, HangupGrace: impatience}
	ctx, stop := context.WithCancel(t.Context())
	h.Start(ctx)
	h.Set([]transport.Machine{{Name: "asks", Transport: []string{"sh", "-c", "echo $$ > " + file + "; printf 'Password: '; exec sleep 1000"}}})
	h.Open(t.Context(), api.OpenOptions{Machine: "asks"})
	stop()
	h.Close()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile("/proc/" + strings.TrimSpace(string(text)) + "/stat")
	if err == nil && !strings.Contains(string(status), ") Z ") {
		t.Errorf("it lives on: %s", status)
	}
}

func TestOfflineMachineDelaysNoOther(t *testing.T) {
	h, _ := newHosts(t, map[string]string{"gone": "echo no route to host >&2; exit 255"})
	list := h.List(t.Context(), time.Minute).Machines
	if len(list) != 1 || list[0].State != api.MachineAway || list[0].Error != "no route to host" {
		t.Fatalf("List = %+v", list)
	}
	if _, _, err := h.Open(t.Context(), api.OpenOptions{Machine: "gone"}); !errors.Is(err, api.CodeUnavailable) || !strings.Contains(err.Error(), "machine gone: it is offline: no route to host") {
		t.Errorf("Open = %v", err)
	}
	if _, _, err := h.Open(t.Context(), api.OpenOptions{Machine: "other"}); !errors.Is(err, api.CodeNotFound) {
		t.Errorf("Open of an unknown machine = %v", err)
	}
}

func TestRequestShortensThePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLink(&Hosts{}, transport.Machine{Name: "away"})
		l.asked <- struct{}{}
		began := time.Now()
		l.pauseBefore(t.Context(), errors.New("away"), maxPause)
		if took := time.Since(began); took != askedPause {
			t.Errorf("asked for: tried after %v, want %v", took, askedPause)
		}
		began = time.Now()
		if next := l.pauseBefore(t.Context(), errors.New("away"), maxPause); time.Since(began) < maxPause/2 || next != maxPause {
			t.Errorf("tried after %v, and then after %v", time.Since(began), next)
		}
	})
}

func TestOpenWaitsForLinkLostAMomentAgo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLink(&Hosts{Tell: func(api.Machine) {}}, transport.Machine{Name: "box"})
		l.state, l.seen = api.MachineAway, time.Now()
		time.AfterFunc(time.Second, func() { l.update(func() { l.state = api.MachineConnecting }) })
		time.AfterFunc(2*time.Second, func() { l.update(func() { l.state = api.MachineConnected }) })
		if m := l.awaitSettled(t.Context(), backSoon); m.State != api.MachineConnected {
			t.Errorf("it is %s", m.State)
		}
		l.state = api.MachineAway
		began := time.Now()
		if m := l.awaitSettled(t.Context(), 0); m.State != api.MachineAway || time.Since(began) != 0 {
			t.Errorf("after %v it is %s for a list", time.Since(began), m.State)
		}
		if m := l.awaitSettled(t.Context(), backSoon); m.State != api.MachineAway || time.Since(began) != backSoon-2*time.Second {
			t.Errorf("after %v it is %s", time.Since(began), m.State)
		}
	})
}

func TestOpenRejectsAgentIfMachineCannotEnforceBounds(t *testing.T) {
	l := newLink(&Hosts{}, transport.Machine{Name: "box"})
	agent := transport.Preface{Origin: "me@here", By: &api.FarAgent{Owner: "x"}}
	old, now := transport.Hello{Version: "0.1.0"}, transport.Hello{Agents: true, Protocol: api.AgentProtocol}
	if err := l.checkAgent(agent, old); !errors.Is(err, api.CodeForbidden) || !strings.Contains(err.Error(), "box: tandem 0.1.0 there") {
		t.Errorf("to a release that knows of no agents: %v", err)
	}
	if err := l.checkAgent(agent, now); err != nil {
		t.Error(err)
	}
	if err := l.checkAgent(transport.Preface{Origin: "me@here"}, old); err != nil {
		t.Errorf("a person: %v", err)
	}
	agent.By.Bounds.Roots = []string{strings.Repeat("/x", transport.MaxPreface)}
	if err := l.checkAgent(agent, now); !errors.Is(err, api.CodeForbidden) {
		t.Errorf("with bounds that cannot be told: %v", err)
	}
}

// A bridge of an older release is replaced once the engine there is a newer one.
func TestLinkIsRenewedOnceMachineEnforcesBounds(t *testing.T) {
	l := newLink(&Hosts{Tell: func(api.Machine) {}}, transport.Machine{Name: "box"})
	l.hello = transport.Hello{Version: "0.1.0"}
	if l.recordPing(api.Info{Version: "0.1.0"}, time.Millisecond) {
		t.Error("nothing has changed")
	}
	if !l.recordPing(api.Info{Version: "0.2.0"}, time.Millisecond) {
		t.Error("the old bridge stays")
	}
	l.hello.Agents = true
	if l.recordPing(api.Info{Version: "0.3.0"}, time.Millisecond) {
		t.Error("a bridge that knows agents is replaced")
	}
}

func TestUnstableMachineIsTriedLessOften(t *testing.T) {
	p := pace{pause: minPause}
	for range maxShort + 1 {
		if !p.mayRetry() {
			t.Fatal("a link that breaks once is not made again at once")
		}
		p.recordLength(0)
	}
	p.pause = maxPause // after some attempts
	p.recordLength(0)
	if p.mayRetry() || p.pause != maxPause {
		t.Errorf("it is tried at once: %v, or after %v", p.mayRetry(), p.pause)
	}
	p.recordLength(minStable + 1)
	if !p.mayRetry() || p.pause != minPause {
		t.Errorf("after a steady link: at once: %v, or after %v", p.mayRetry(), p.pause)
	}
}

// Notifications must arrive in the order of the changes, however long a receiver takes.
func TestLastNotificationIsTheCurrentState(t *testing.T) {
	var mu sync.Mutex
	var told api.MachineState
	l := newLink(&Hosts{Tell: func(m api.Machine) {
		for range 10 {
			if m.State == api.MachineConnected {
				runtime.Gosched()
			}
		}
		mu.Lock()
		defer mu.Unlock()
		told = m.State
	}}, transport.Machine{Name: "box"})
	for range 1000 {
		var both sync.WaitGroup
		both.Go(func() { l.recordSilence(errors.New("no answer")) })
		both.Go(func() { l.recordPing(api.Info{}, time.Millisecond) })
		both.Wait()
		if now := l.currentState().State; told != now {
			t.Fatalf("it is %s, and %s was told last", now, told)
		}
	}
}
