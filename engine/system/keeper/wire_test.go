package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"tandem/engine/base/unixsocket"
	"tandem/tests/wait"
)

// raw opens a connection to the keeper without a Client, for messages that a Client would not send.
func (r *rig) raw() *link {
	r.t.Helper()
	conn, err := dialSocket(r.ctx(), r.socket)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	return newLink(conn)
}

func TestKeeperSurvivesInvalidMessages(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	l := r.raw()
	for body, want := range map[string]string{
		"hello":                       "not understood",
		"{":                           "not understood",
		"[]":                          "not understood",
		`{"v":1,"id":-1}`:             "not understood",
		`{"v":2,"id":5,"op":"list"}`:  "version 2",
		`{"v":1,"id":5,"op":"dance"}`: "only the engine",
		`{"v":1,"id":5,"op":"start"}`: "only the engine",
		`{"v":1,"id":5,"op":"list","large":true}`: "without its content",
	} {
		if err := l.send(packet{body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
		if m, _, err := l.receive(); err != nil || m.Op != opReply || !strings.Contains(m.Error, want) {
			t.Errorf("%s: %+v, %v", body, m, err)
		}
	}
	l.send(packet{body: []byte(`{"v":1,"id":1,"op":"hello"}`)})
	l.receive()
	for body, want := range map[string]string{
		`{"v":1,"id":5,"op":"dance"}`:   `unknown operation "dance"`,
		`{"v":1,"id":5,"op":"start"}`:   "no spec",
		`{"v":1,"id":5,"op":"adopt"}`:   "no child",
		`{"v":1,"id":5,"op":"forget"}`:  "no such child",
		`{"v":1,"id":5,"op":"master"}`:  "no such child",
		`{"v":1,"id":5,"op":"replace"}`: "one executable",
	} {
		l.send(packet{body: []byte(body)})
		if m, _, err := l.receive(); err != nil || m.ID != 5 || !strings.Contains(m.Error, want) {
			t.Errorf("%s: %+v, %v", body, m, err)
		}
	}
}

func TestOversizedPacketDisconnectsItsSender(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	for _, size := range []int{maxPacket + 1, maxPacket + 2, 100_000} {
		l := r.raw()
		if err := l.send(packet{body: []byte(strings.Repeat(" ", size))}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := l.receive(); err == nil {
			t.Errorf("packet of %d bytes was answered", size)
		}
	}
	r.dial()
}

// Descriptors sent with a request that takes none must not stay open in the keeper.
func TestUnwantedDescriptorsAreClosed(t *testing.T) {
	r := newRig(t)
	k := r.keeper("").mustBeReady()
	l := r.raw()
	ask := func(body string, n int) {
		t.Helper()
		var fds []int
		for range n {
			fd, err := openFD(os.DevNull, unix.O_RDONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			fds = append(fds, fd)
		}
		if err := l.send(packet{[]byte(body), fds}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := l.receive(); err != nil {
			t.Fatal(err)
		}
	}
	ask(`{"v":1,"id":1,"op":"hello"}`, 0)
	before := len(descriptors(t, k.cmd.Process.Pid))
	for _, body := range []string{
		"nonsense", `{"v":1,"op":"list"}`, `{"v":1,"op":"adopt"}`, `{"v":1,"op":"replace"}`, `{"v":1,"op":"x"}`,
		`{"v":1,"op":"x","large":true}`, `{"v":1,"op":"adopt","child":{"id":"a","pid":1},"dir":"/"}`,
		`{"v":1,"op":"start"}`, `{"v":1,"op":"start","spec":{"id":"a"}}`, `{"v":1,"op":"start","spec":{"id":"a","confinement":{}}}`,
	} {
		ask(body, 1)
		ask(body, maxFDs)
	}
	if after := len(descriptors(t, k.cmd.Process.Pid)); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func TestLargeMessageIsSentAsMemfd(t *testing.T) {
	want := message{V: 1, ID: 3, Op: opList}
	for i := range 2000 {
		want.Children = append(want.Children, Child{ID: fmt.Sprint(i), PID: i, BootID: "boot", Exit: &Exit{Code: new(i)}})
	}
	p, err := encode(want)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.body) > maxPacket || len(p.fds) != 1 {
		t.Fatalf("packet of %d bytes with %d descriptors", len(p.body), len(p.fds))
	}
	got, fds, err := decode(p.body, p.fds)
	if diff := cmp.Diff(want, got); err != nil || len(fds) != 0 || diff != "" {
		t.Errorf("%v, %d descriptors: %s", err, len(fds), diff)
	}
	huge := message{Op: opStart, Spec: &Spec{Argv: []string{strings.Repeat("x", maxMessage)}}}
	if _, err := encode(huge); err == nil || !strings.Contains(err.Error(), "over the limit") {
		t.Errorf("huge message: %v", err)
	}
}

func TestLargeMessageMustBeARegularFile(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	fd, err := dupFD(int(in.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = decode([]byte(`{"v":1,"id":9,"op":"start","large":true}`), []int{fd})
	var bad *badMessage
	if !errors.As(err, &bad) || bad.id != 9 || !strings.Contains(bad.why, "not a regular file") {
		t.Errorf("decode gives %v", err)
	}
}

func TestServerRejectsOtherUsers(t *testing.T) {
	if err := (peer{uid: 1000, pid: 5}).checkUID(1000); err != nil {
		t.Error(err)
	}
	for _, uid := range []int{0, 1001} {
		if err := (peer{uid: uid, pid: 5}).checkUID(1000); err == nil {
			t.Errorf("process of user %d was let in", uid)
		}
	}
}

// The test connects as its own user, so the server is set up as if it ran as a different one.
func TestServerReportsRejectionAndDisconnects(t *testing.T) {
	r := newRig(t)
	s := &server{
		uid: os.Geteuid() + 1,
		do:  func(f func()) bool { t.Error("a stranger reached the loop"); return true },
	}
	served := make(chan struct{})
	own := &socket{path: r.socket, serve: func(l *net.UnixListener) {
		defer close(served)
		s.serve(t.Context(), l)
	}}
	if err := own.open(); err != nil {
		t.Fatal(err)
	}
	m, _, err := r.raw().receive()
	if err != nil || !strings.Contains(m.Error, "refuses process") {
		t.Errorf("stranger got %+v, %v", m, err)
	}
	own.close()
	<-served
}

func TestSecondEngineConnectionReplacesTheFirst(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	first := r.dial()
	second := r.dial()
	if _, ok := <-first.Exits(); ok {
		t.Error("the first connection got an exit")
	}
	r.start(second, r.spec("a", "exit 1"))
	if got := r.ended(second); got.ID != "a" {
		t.Errorf("ended: %+v", got)
	}
}

func TestOtherProcessCannotReplaceLivingEngine(t *testing.T) {
	r := newRig(t)
	r.keeper("run").mustBeReady()
	if _, err := Dial(r.ctx(), r.socket); err == nil || !strings.Contains(err.Error(), "is the engine and still running") {
		t.Errorf("second engine: %v", err)
	}
}

// An engine that does not read must not hold up the keeper.
func TestUnreadingEngineBlocksNoOtherClient(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	lazy, other := r.raw(), r.raw()
	lazy.send(packet{body: []byte(`{"v":1,"id":0,"op":"hello"}`)})
	const n = 5000
	for i := range n {
		if err := lazy.send(packet{body: fmt.Appendf(nil, `{"v":1,"id":%d,"op":"list"}`, i+1)}); err != nil {
			t.Fatal(err)
		}
	}
	other.send(packet{body: []byte(`{"v":1,"id":7,"op":"list"}`)})
	if m, _, err := other.receive(); err != nil || m.ID != 7 {
		t.Fatalf("another connection got %+v, %v", m, err)
	}
	for i := range n + 1 {
		if m, _, err := lazy.receive(); err != nil || m.ID != uint64(i) || m.Error != "" {
			t.Fatalf("reply %d: %+v, %v", i, m, err)
		}
	}
}

func TestNonUTF8StringsArriveUnchanged(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	c := r.dial()
	s := r.spec("a", `printf '%s %s' "$0" "$X"; pwd`)
	s.CWD = filepath.Join(r.dir, "\xff\xfe")
	if err := os.Mkdir(s.CWD, 0o700); err != nil {
		t.Fatal(err)
	}
	s.Argv = append(s.Argv, "a\x80b")
	s.Env = append(s.Env, "X=\xe4")
	r.start(c, s)
	r.ended(c)
	if out, _ := os.ReadFile(s.Stdout); string(out) != "a\x80b \xe4"+s.CWD+"\n" {
		t.Errorf("child printed %q", out)
	}
}

func TestManyChildrenNeedFewThreads(t *testing.T) {
	r := newRig(t)
	k := r.keeper("").mustBeReady()
	c := r.dial()
	const n = 30
	for i := range n {
		r.start(c, r.spec(fmt.Sprint(i), "exit 0"))
	}
	for range n {
		r.ended(c)
	}
	if threads := threadsOf(t, k.cmd.Process.Pid); threads > 16 {
		t.Errorf("keeper has %d threads", threads)
	}
}

func TestChildStartedBeforeDisconnectIsListed(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	l := r.raw()
	l.send(packet{body: []byte(`{"v":1,"id":1,"op":"hello"}`)})
	if _, _, err := l.receive(); err != nil {
		t.Fatal(err)
	}
	s := r.ttySpec("a", "exec sleep 1000")
	p, err := encode(message{ID: 2, Op: opStart, Spec: &s})
	if err != nil {
		t.Fatal(err)
	}
	l.send(p)
	l.send(packet{body: []byte("nonsense")})
	for started := false; !started; { // the answer to nonsense may come first
		m, fds, err := l.receive()
		if err != nil {
			t.Fatal(err)
		}
		closeFDs(fds)
		started = m.ID == 2
	}
	l.conn.Close()
	c := r.dial()
	wait.Poll(t, "the child", func() ([]Child, bool) {
		list, err := c.List(r.ctx())
		if err != nil {
			t.Fatal(err)
		}
		return list, len(list) == 1 && list[0].ID == "a"
	})
}

func TestLongSocketPathIsSupported(t *testing.T) {
	err := (&socket{path: "/" + strings.Repeat("x", unixsocket.MaxPath)}).open()
	if err == nil || !strings.Contains(err.Error(), "longer than 107 bytes") {
		t.Errorf("listen gives %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, m := range []message{
		{ID: 1, Op: opHello}, {Op: opStart, Spec: &Spec{ID: "a", Argv: []string{"sh"}}}, {Op: opExit, Child: &Child{Exit: &Exit{Code: new(1)}}},
	} {
		p, _ := encode(m)
		f.Add(p.body, []byte("{}"))
	}
	f.Add([]byte(`{"v":1,"id":1,"op":"list","large":true}`), []byte(`{"v":1,"id":1,"op":"list","children":[{}]}`))
	f.Fuzz(func(t *testing.T, head, content []byte) {
		fd, err := createMemfd(content)
		if err != nil {
			t.Fatal(err)
		}
		m, fds, err := decode(head, []int{fd})
		closeFDs(fds)
		if err != nil {
			return
		}
		again, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := unmarshal(again); err != nil || !cmp.Equal(m, back) {
			t.Fatalf("%s does not come back: %v", again, err)
		}
	})
}

// FuzzDispatch sends arbitrary messages to the loop of a keeper without processes.
func FuzzDispatch(f *testing.F) {
	for _, op := range []string{opHello, opReady, opList, opMaster, opAdopt, opForget, opReplace, opPause, opWake, "x"} {
		f.Add([]byte(fmt.Sprintf(`{"v":1,"id":1,"op":%q,"child_id":"a","child":{"id":"a","pid":1},"dir":"/"}`, op)))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := unmarshal(body)
		if err != nil || m.Op == opStart || m.Child != nil && m.Op == opAdopt && m.Dir != "" {
			return // would touch processes and folders
		}
		k, s := idleKeeper(t)
		k.handle(s, m, nil)
		if m.Op != opWake && len(s.outbox.queue) != 1 {
			t.Fatalf("%s: %d replies", body, len(s.outbox.queue))
		}
	})
}

// idleKeeper returns a keeper without processes and socket, and with its engine paused.
func idleKeeper(t *testing.T) (*keeper, *session) {
	t.Helper()
	k := &keeper{
		calls: make(chan func()), done: make(chan struct{}), children: map[string]*child{}, byPID: map[int]*child{},
		starting: map[string]struct{}{}, ready: &readiness{}, writers: make(chan struct{}, 1), finished: true,
	}
	close(k.done)
	k.engine = engine{announced: os.Getpid(), pidfd: -1, program: engineProgram{exe: -1, previous: -1, logPath: os.DevNull}}
	s := &session{link: newLink(&net.UnixConn{}), peer: peer{pid: os.Getpid(), pidfd: -1}, outbox: newOutbox()}
	k.engine.session = s
	return k, s
}

func TestPeerOfAClosedConnectionHasNoDescriptor(t *testing.T) {
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: filepath.Join(socketDir(t), "s"), Net: "unixpacket"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.DialUnix("unixpacket", nil, l.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if p, err := peerOf(conn); err == nil || p.pidfd != -1 {
		t.Errorf("peer %+v, %v", p, err)
	}
}
