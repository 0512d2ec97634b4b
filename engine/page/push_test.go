package page

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/server"
	"tandem/engine/page/devices"
	"tandem/engine/page/push"
)

// subscription is one as a browser posts it.
func subscription(t testing.TB, endpoint string) string {
	t.Helper()
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return `{"subscription":{"endpoint":"` + endpoint + `","keys":{"p256dh":"` + base64.RawURLEncoding.EncodeToString(private.PublicKey().Bytes()) +
		`","auth":"AAAAAAAAAAAAAAAAAAAAAA"}}}`
}

// pushRig returns a page, and the service that its pushes arrive at. pushed gets a value for each.
func pushRig(t *testing.T, m *server.Mux, quiet func(time.Time) bool) (r *rig, service *httptest.Server, pushed <-chan struct{}) {
	t.Helper()
	heard := make(chan struct{}, 10)
	service = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		heard <- struct{}{}
	}))
	t.Cleanup(service.Close)
	r = newRig(t, m, func(o *Options) {
		dataDir := t.TempDir()
		o.Notify = Notify{
			Sender: push.New(dataDir, o.Book, io.Discard), Machine: "box", Quiet: quiet, settle: time.Millisecond,
			Running: func(ctx context.Context) (*client.Client, error) { return o.Engine(ctx, "") },
		}
		o.Notify.Sender.HTTP.Transport = service.Client().Transport
	})
	return r, service, heard
}

func TestDeviceSubscribesToPushes(t *testing.T) {
	r, service, _ := pushRig(t, infoMux(), nil)
	b := r.paired(devices.Grant{})
	if status, body := b.get("/push"); status != http.StatusOK || !strings.Contains(body, `"on":false`) || !strings.Contains(body, `"key":"B`) {
		t.Errorf("before: %d %s", status, body)
	}
	good := subscription(t, service.URL+"/x")
	for _, test := range []struct {
		name   string
		who    *browser
		in     string
		change func(q *http.Request)
		want   int
	}{
		{"nobody who is paired", r.browser(), good, nil, 401},
		{"one that only looks", r.paired(devices.Grant{ReadOnly: true}), good, nil, 403},
		{"a link", r.paired(devices.Grant{Session: "0123456789ab", Until: time.Now().Add(time.Hour)}), good, nil, 403},
		{"another page", b, good, func(q *http.Request) { q.Header.Set("Origin", "http://evil.example") }, 403},
		{"no service", b, subscription(t, "http://127.0.0.1/x"), nil, 422},
		{"no JSON", b, `{`, nil, 400},
		{"its own", b, good, nil, 204},
	} {
		q := test.who.request(http.MethodPost, "/push", test.in)
		if test.change != nil {
			test.change(q)
		}
		if status, body := test.who.send(q); status != test.want {
			t.Errorf("%s: %d %s, not %d", test.name, status, body, test.want)
		}
		if _, body := b.get("/push"); strings.Contains(body, `"on":true`) != (test.want == 204) {
			t.Errorf("%s: then %s", test.name, body)
		}
	}
	if status, body := b.post("/push", `{"subscription":null}`); status != http.StatusNoContent {
		t.Errorf("ending it: %d %s", status, body)
	}
	if _, body := b.get("/push"); !strings.Contains(body, `"on":false`) {
		t.Errorf("ended: %s", body)
	}
}

// needyMux returns an engine in which another agent gets blocked for each value sent to tell.
func needyMux(tell <-chan struct{}) *server.Mux {
	m := infoMux()
	m.HandleWatch(func(ctx context.Context, _ api.WatchInput, send func(api.Event) error) error {
		err := send(api.Event{Type: api.EventSnapshot})
		for n := 'a'; err == nil; n++ {
			select {
			case <-ctx.Done():
				return nil
			case <-tell:
			}
			err = send(api.Event{Type: api.EventProcess, Process: &api.Process{
				ID: string(n), Kind: api.KindSession, State: api.StateRunning, Agent: &api.CodingAgent{State: api.AgentBlocked},
			}})
		}
		return err
	})
	return m
}

func TestBlockedAgentTriggersPush(t *testing.T) {
	tell := make(chan struct{})
	r, service, pushed := pushRig(t, needyMux(tell), nil)
	b := r.paired(devices.Grant{})
	if status, body := b.post("/push", subscription(t, service.URL)); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, body)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		r.page.notifyDevices(ctx)
		close(ended)
	}()
	for range 2 {
		tell <- struct{}{}
		<-pushed
	}
	cancel()
	<-ended
}

func TestNoPushesDuringQuietHours(t *testing.T) {
	tell, quiet := make(chan struct{}), make(chan bool)
	r, service, pushed := pushRig(t, needyMux(tell), func(time.Time) bool { return <-quiet })
	b := r.paired(devices.Grant{})
	if status, body := b.post("/push", subscription(t, service.URL)); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, body)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		r.page.notifyDevices(ctx)
		close(ended)
	}()
	tell <- struct{}{}
	quiet <- true
	tell <- struct{}{}
	quiet <- false
	<-pushed
	cancel()
	<-ended
	if len(pushed) > 0 {
		t.Error("it was pushed in quiet hours")
	}
}
