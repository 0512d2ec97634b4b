package page

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/engine/page/devices"
	"tandem/tests/needs"
)

// maxHeld bounds what 200 requests whose bodies never end may take, in bytes.
const maxHeld = 32 << 20

func TestEndlessBodiesAreCutOff(t *testing.T) {
	needs.FullRun(t)
	r := newRig(t, infoMux(), func(o *Options) { o.BodyPause = 5 * time.Second })
	address := strings.TrimPrefix(r.server.URL, "http://")
	body := bytes.Repeat([]byte("a"), 4<<20-1000)
	before := held()
	var open []net.Conn
	var sending sync.WaitGroup
	for i := range 200 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		open = append(open, conn)
		path := []string{"/pair", "/session", "/call/engine.info", "/nothing"}[i%4]
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nContent-Length: %d\r\n\r\n{\"code\":\"", path, address, r.server.URL, len(body)+1000)
		if i%4 < 2 { // as much as is taken
			if err := conn.SetWriteDeadline(time.Now().Add(2 * time.Second)); err != nil {
				t.Fatal(err)
			}
			sending.Go(func() { _, _ = conn.Write(body) })
		}
	}
	sending.Wait()
	if now := held(); now > before+maxHeld {
		t.Errorf("200 bodies hold %d MB", (now-before)>>20)
	}
	if status, body := r.browser().pair(r.code(devices.Grant{})); status != http.StatusOK {
		t.Errorf("meanwhile pairing answers %d %s", status, body)
	}
	for _, conn := range open { // ends once the server has cut it
		if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, conn); os.IsTimeout(err) {
			t.Fatal("a connection stays open")
		}
	}
}

// held is what this process holds.
func held() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// tryCode tries a code from an address and returns the status of the answer.
func (r *rig) tryCode(from, code string) int {
	r.Helper()
	key := base64.StdEncoding.EncodeToString(publicKey(r))
	q := httptest.NewRequest(http.MethodPost, "/pair", strings.NewReader(`{"code":"`+code+`","key":"`+key+`"}`))
	c := &connection{client: netip.AddrPortFrom(netip.MustParseAddr(from), 1), server: netip.MustParseAddrPort("203.0.113.1:8800")}
	w := httptest.NewRecorder()
	r.page.pair(w, q.WithContext(context.WithValue(q.Context(), connectionKey{}, c)))
	return w.Code
}

func TestWrongCodesBlockOnlyTheirAddress(t *testing.T) {
	needs.FullRun(t)
	r := newRig(t, infoMux(), nil)
	for i := range triesPerMinute {
		if status := r.tryCode("192.0.2.1", "WRONG"); status != http.StatusForbidden {
			t.Fatalf("try %d: %d", i, status)
		}
		if status := r.tryCode(fmt.Sprintf("2001:db8::%d", i), "WRONG"); status != http.StatusForbidden {
			t.Fatalf("try %d over IPv6: %d", i, status)
		}
	}
	for from, want := range map[string]int{
		"192.0.2.1": http.StatusTooManyRequests, "2001:db8::ffff": http.StatusTooManyRequests, // a host has a whole /64
		"192.0.2.2": http.StatusOK, "2001:db8:0:1::1": http.StatusOK,
	} {
		if status := r.tryCode(from, r.code(devices.Grant{})); status != want {
			t.Errorf("%s: %d, want %d", from, status, want)
		}
	}
	if status, _ := r.browser().pair(r.code(devices.Grant{})); status != http.StatusOK {
		t.Errorf("a user of this machine: %d", status)
	}
	for i := 2 * triesPerMinute; i < maxTriesPerMinute; i++ {
		if status := r.tryCode(fmt.Sprintf("198.51.100.%d", i), "WRONG"); status != http.StatusForbidden {
			t.Fatalf("try %d: %d", i, status)
		}
	}
	if status := r.tryCode("192.0.2.3", r.code(devices.Grant{})); status != http.StatusTooManyRequests {
		t.Errorf("one more of all together: %d", status)
	}
}

func TestLoginAttemptsFromThisMachineCountPerUser(t *testing.T) {
	r := newRig(t, infoMux(), nil)
	conn, err := net.Dial("tcp", r.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c := &connection{client: netip.MustParseAddrPort(conn.LocalAddr().String()), server: netip.MustParseAddrPort(conn.RemoteAddr().String())}
	q := httptest.NewRequest(http.MethodPost, "/pair", nil)
	if who := whoTries(q.WithContext(context.WithValue(q.Context(), connectionKey{}, c))); who != fmt.Sprintf("user %d", os.Getuid()) {
		t.Errorf("it counts for %q", who)
	}
}
