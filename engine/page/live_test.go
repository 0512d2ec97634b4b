package page

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/page/devices"
)

// attach opens a session's terminal.
func (b *browser) attach(id string) *websocket.Conn {
	b.Helper()
	header := http.Header{"Origin": {b.server.URL}, "Sec-Fetch-Site": {"same-origin"}}
	protocols := []string{subprotocol, bearerPrefix + b.keys[b.base].bearer}
	conn, _, err := websocket.Dial(b.Context(), b.server.URL+b.base+"/attach?id="+id+"&cols=80&rows=24", &websocket.DialOptions{HTTPClient: &b.http, HTTPHeader: header, Subprotocols: protocols})
	if err != nil {
		b.Fatal(err)
	}
	if conn.Subprotocol() != subprotocol {
		b.Errorf("the subprotocol is %q, which is told to the page", conn.Subprotocol())
	}
	b.Cleanup(func() { conn.CloseNow() })
	return conn
}

// echoMux has a session that prints what is typed.
func echoMux(options chan<- api.AttachOptions) *server.Mux {
	m := infoMux()
	m.HandleAttach(func(_ context.Context, o api.AttachOptions, v *server.Viewer) error {
		options <- o
		for {
			in, err := v.Receive()
			if err != nil {
				return err
			}
			switch {
			case in.Resize != nil:
				in.Bytes, _ = json.Marshal(in.Resize)
			case in.Paste != nil:
				in.Bytes = []byte("pasted " + *in.Paste)
			}
			if err := v.Send(api.Output{Bytes: in.Bytes}); err != nil {
				return err
			}
		}
	})
	return m
}

func TestAttachEchoesInput(t *testing.T) {
	options := make(chan api.AttachOptions, 1)
	r := newRig(t, echoMux(options), nil)
	conn := r.paired(devices.Grant{}).attach("0123456789ab")
	if o := <-options; !o.Raw || o.ReadOnly || o.Cols != 80 || o.Rows != 24 || o.Client != pageClient {
		t.Errorf("it attaches with %+v", o)
	}
	for sent, want := range map[string]string{
		`{"input":"é\u001b[A"}`:           "é\x1b[A",
		`{"paste":"two\nlines"}`:          "pasted two\nlines",
		`{"size":{"cols":100,"rows":30}}`: `{"Cols":100,"Rows":30}`,
	} {
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(sent)); err != nil {
			t.Fatal(err)
		}
		kind, got, err := conn.Read(t.Context())
		if err != nil || kind != websocket.MessageBinary || string(got) != want {
			t.Errorf("%s: %s %q, %v", sent, kind, got, err)
		}
	}
}

func TestReadOnlyViewerDoesNotResize(t *testing.T) {
	options := make(chan api.AttachOptions, 1)
	r := newRig(t, echoMux(options), nil)
	r.paired(devices.Grant{Session: "0123456789ab"}).attach("0123456789ab")
	if o := <-options; !o.ReadOnly || o.Cols != 0 || o.Rows != 0 {
		t.Errorf("it attaches with %+v", o)
	}
}

// maxBuffered bounds what is held for a browser that draws nothing, by the page and by all
// buffers between the engine and the browser.
const maxBuffered = 1 << 20

func TestSlowBrowserIsLimitedToItsWindow(t *testing.T) {
	var sent atomic.Int64
	const part, total = 64 << 10, 64 << 20
	m := infoMux()
	m.HandleAttach(func(ctx context.Context, o api.AttachOptions, v *server.Viewer) error {
		for sent.Load() < total {
			if err := v.Send(api.Output{Bytes: make([]byte, part)}); err != nil {
				return err
			}
			sent.Add(part)
		}
		return nil
	})
	r := newRig(t, m, nil)
	conn := r.paired(devices.Grant{}).attach("0123456789ab")
	conn.SetReadLimit(1 << 20)
	got, drawn := 0, 0
	for got < total {
		kind, text, err := conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if kind != websocket.MessageBinary {
			continue
		}
		got += len(text)
		if got-drawn > maxAhead {
			t.Fatalf("%d bytes are on their way", got-drawn)
		}
		if held := sent.Load() - int64(drawn); held > maxBuffered {
			t.Fatalf("the engine has given away %d bytes that nobody has drawn", held)
		}
		if got-drawn >= maxAhead || got == total { // it draws only once nothing more comes
			message, _ := json.Marshal(map[string]int{"drawn": got - drawn})
			if err := conn.Write(t.Context(), websocket.MessageText, message); err != nil {
				t.Fatal(err)
			}
			drawn = got
		}
	}
}

func TestRevokingADeviceDisconnectsIt(t *testing.T) {
	options := make(chan api.AttachOptions, 2)
	r := newRig(t, echoMux(options), nil)
	stays, goes := r.paired(devices.Grant{}), r.paired(devices.Grant{})
	kept, cut := stays.attach("0123456789ab"), goes.attach("0123456789ab")
	next := goes.events()
	all, err := r.book.List()
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	if _, err := r.book.Revoke(all[1].ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := cut.Read(t.Context()); err == nil {
		t.Error("the terminal of the revoked device goes on")
	}
	for ok := true; ok; {
		_, _, ok = next()
	}
	if status, _ := goes.get("/me"); status != http.StatusUnauthorized {
		t.Errorf("it gets %d", status)
	}
	if err := kept.Write(t.Context(), websocket.MessageText, []byte(`{"input":"x"}`)); err != nil {
		t.Fatal(err)
	}
	if _, got, err := kept.Read(t.Context()); err != nil || string(got) != "x" {
		t.Errorf("the other device's terminal gives %q, %v", got, err)
	}
}

func TestLinkReceivesEventsOfItsSessionOnly(t *testing.T) {
	d := devices.Device{Grant: devices.Grant{Session: "a"}}
	for _, test := range []struct {
		event api.Event
		shown bool
	}{
		{api.Event{Type: api.EventProcess, Process: &api.Process{ID: "a"}}, true},
		{api.Event{Type: api.EventProcess, Process: &api.Process{ID: "b"}}, false},
		{api.Event{Type: api.EventRemoved, ID: "a"}, true},
		{api.Event{Type: api.EventRemoved, ID: "b"}, false},
		{api.Event{Type: api.EventRequest, Request: &api.Request{}}, false},
		{api.Event{Type: api.EventNotice, Notice: "secret"}, false},
		{api.Event{Type: api.EventHistory, History: 1}, false},
		{api.Event{Type: api.EventLayout, Changes: []api.LayoutChange{{ID: "a"}}}, false},
		{api.Event{Type: api.EventMachine, Machine: &api.Machine{}}, false},
	} {
		if _, shown := shownTo(d, test.event); shown != test.shown {
			t.Errorf("%+v: %v", test.event, shown)
		}
	}
	snapshot, _ := shownTo(d, api.Event{Type: api.EventSnapshot, Info: &api.Info{DataDir: "secret"}, Layout: &api.Layout{},
		Processes: []api.Process{{ID: "a"}, {ID: "b", Name: "secret"}}})
	if text, _ := json.Marshal(snapshot); strings.Contains(string(text), "secret") || len(snapshot.Processes) != 1 || snapshot.Layout != nil {
		t.Errorf("a snapshot gives %s", text)
	}
}

func TestUsageReportsResourceUse(t *testing.T) {
	m := infoMux()
	server.Handle(m, api.ProcessList, func(_ context.Context, in api.ProcessListInput) (api.ProcessListOutput, error) {
		if !in.Metrics {
			t.Error("nothing is measured")
		}
		return api.ProcessListOutput{Processes: []api.Process{
			{ID: "a", State: api.StateRunning, Metrics: &api.Metrics{CPUPercent: 2.5, RSSBytes: 10, Ports: []int{80}}},
			{ID: "b", State: api.StateExited, Metrics: &api.Metrics{}}, {ID: "c", State: api.StateRunning},
		}}, nil
	})
	b := newRig(t, m, nil).paired(devices.Grant{})
	answer, err := b.http.Do(b.request(http.MethodGet, "/usage", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
			if want := `[{"id":"a","cpu":2.5,"rss":10,"ports":[80]}]`; data != want {
				t.Errorf("it tells %s, want %s", data, want)
			}
			return
		}
	}
	t.Error("nothing is told")
}

func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"input":"x","drawn":3}`))
	f.Add([]byte(`{"size":{"cols":-1,"rows":99999999}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var m message
		if json.Unmarshal(text, &m) != nil {
			return
		}
		w := newWindow(maxAhead)
		w.waitFor(100)
		w.noteDrawn(m.Drawn)
		if w.undrawn < 0 || w.undrawn > 100 {
			t.Errorf("%s: %d on their way", text, w.undrawn)
		}
		if in, ok := m.toInput(); ok && in.Resize != nil && (in.Resize.Cols < 1 || in.Resize.Cols > maxSide || in.Resize.Rows < 1 || in.Resize.Rows > maxSide) {
			t.Errorf("%s: %+v", text, in.Resize)
		}
	})
}
