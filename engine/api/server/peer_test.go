package server

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
)

func TestPeerProcessIsDistinguishedFromAnotherWithItsPID(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(socketDir(t), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	started := uint64(7)
	m := &Mux{StartTime: func(int) (uint64, bool) { return started, started > 0 }}
	held := m.holdPeer(far.(*net.UnixConn), os.Getpid())
	if err := held.Check(7); err != nil {
		t.Errorf("while it runs: %v", err)
	}
	// Before Linux 6.5 there are only the start times, then and now.
	for _, c := range []struct {
		at, now uint64
		want    string
	}{{7, 7, ""}, {7, 8, "has exited"}, {0, 7, "has exited"}, {0, 0, "has exited"}} {
		p := &peerProcess{old: true, start: c.at}
		if err := p.Check(c.now); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	far.Close()
	if !held.old && held.Check(7) == nil {
		t.Error("a closed connection tells who made it")
	}
	if api.PeerProcessOf(t.Context()).Check(7) == nil {
		t.Error("an unknown one has not exited")
	}
}
