package client

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/api/wire"
)

// An exchange is a request of an old release and what its engine answered.
type exchange struct {
	Path   string            `json:"path"`
	Header map[string]string `json:"header"`
	Body   json.RawMessage   `json:"body"`
	Status int               `json:"status"`
	Answer json.RawMessage   `json:"answer"`
}

// recorded returns the recorded requests of release 0.2.0, made by its commands, and the answers of
// its engine.
func recorded(t *testing.T) []exchange {
	t.Helper()
	f, err := os.Open("testdata/release-0.2.0.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []exchange
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e exchange
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// This client sends an engine of 0.2.0 the requests that the client of that release sent, without
// fields unknown to it, because that engine rejects them. It understands the recorded answers.
func TestEngineOfRelease020UnderstandsThisClient(t *testing.T) {
	entries := map[string]api.Entry{}
	for _, e := range api.Operations() {
		entries[e.Name] = e
	}
	for _, old := range recorded(t) {
		name := strings.TrimPrefix(old.Path, wire.RoutePrefix)
		entry := entries[name]
		var sent map[string]any
		var header http.Header
		o := serveRaw(t, server.NewMux(nil), name, func(w http.ResponseWriter, r *http.Request) {
			sent, header = nil, r.Header
			if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			w.WriteHeader(old.Status)
			w.Write(old.Answer)
		})
		c := newClient(o)
		defer c.Close()
		if err := c.useProtocol(api.Info{Protocol: 1}); err != nil {
			t.Fatal(err)
		}
		in, out := reflect.New(entry.In), reflect.New(entry.Out)
		if err := json.Unmarshal(old.Body, in.Interface()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		err := c.Do(t.Context(), name, entry.Effect, in.Elem().Interface(), out.Interface())
		if (err == nil) != (old.Status == http.StatusOK) {
			t.Errorf("%s: %v", name, err)
		}
		var want map[string]any
		if err := json.Unmarshal(old.Body, &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, sent); diff != "" {
			t.Errorf("%s: the input has changed (-0.2.0 +now):\n%s", name, diff)
		}
		if header.Get(api.ProtocolHeader) != old.Header[api.ProtocolHeader] {
			t.Errorf("%s: said to be in protocol %s", name, header.Get(api.ProtocolHeader))
		}
	}
}

func TestClientUsesTheHighestCommonProtocol(t *testing.T) {
	for _, tc := range []struct {
		info api.Info
		want int // 0: none
	}{
		{api.Info{Protocol: api.Protocol}, api.Protocol},
		{api.Info{Protocol: api.Protocol + 3, OldestProtocol: api.OldestProtocol}, api.Protocol},
		{api.Info{Protocol: api.Protocol + 3, OldestProtocol: api.Protocol + 1}, 0},
		{api.Info{Protocol: api.Protocol + 1}, 0},
		{api.Info{Protocol: api.OldestProtocol - 1}, 0},
	} {
		got, ok := tc.info.ChooseProtocol()
		if ok != (tc.want != 0) || ok && got != tc.want {
			t.Errorf("with an engine of %d to %d: %d, %v; want %d", tc.info.OldestProtocol, tc.info.Protocol, got, ok, tc.want)
		}
	}
}
