package engine

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"tandem/engine/api"
)

// TestAClientOfRelease020IsUnderstood plays what the verbs of release 0.2.0 asked
// their engine, and wants answers that have all that they were answered with then.
func TestAClientOfRelease020IsUnderstood(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	f, err := os.Open("api/client/testdata/release-0.2.0.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var old struct {
			Path   string
			Header map[string]string
			Body   json.RawMessage
			Status int
			Answer any
		}
		if err := json.Unmarshal(lines.Bytes(), &old); err != nil {
			t.Fatal(err)
		}
		status, text, _ := m.raw(old.Path, old.Header, string(old.Body))
		var answer any
		if err := json.Unmarshal(text, &answer); err != nil || status != old.Status {
			t.Errorf("%s: %d %s, want %d", old.Path, status, text, old.Status)
			continue
		}
		if missing := lacks(old.Answer, answer, ""); missing != "" {
			t.Errorf("%s: the answer lacks %s: %s", old.Path, missing, text)
		}
	}
}

// A client of a newer release is told what was left out, and one that nobody of
// ours wrote that it has made a slip. Confinement is never left out.
func TestFieldsOfANewerReleaseAreLeftOut(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	newer := map[string]string{api.ProtocolHeader: "1"}
	status, text, header := m.raw("/v1/exec", newer, `{"command":["echo","x"],"shiny":{"a":1},"bright":true}`)
	if status != http.StatusOK || header.Get(api.IgnoredHeader) != "bright,shiny" {
		t.Errorf("%d %s, ignored %q", status, text, header.Get(api.IgnoredHeader))
	}
	if status, text, _ = m.raw("/v1/exec", nil, `{"command":["echo","x"],"shiny":1}`); status != http.StatusBadRequest {
		t.Errorf("by hand: %d %s", status, text)
	}
	for _, sandbox := range []string{`{"filesystem":{},"shiny":1}`, `{"filesystem":{"denyShiny":["/"]}}`} {
		status, text, _ = m.raw("/v1/exec", newer, `{"command":["echo","x"],"shiny":1,"sandbox":`+sandbox+`}`)
		if status != http.StatusBadRequest || !strings.Contains(string(text), "hiny") {
			t.Errorf("sandbox %s: %d %s", sandbox, status, text)
		}
	}
	status, text, _ = m.raw("/v1/session.fold", newer, `{}`)
	if status != http.StatusNotImplemented || !strings.Contains(string(text), `"not_supported"`) || !strings.Contains(string(text), "1.2.3") {
		t.Errorf("an unknown operation: %d %s", status, text)
	}
	ops := call(m, api.EngineOperations, api.Empty{}).Operations
	if len(ops) != len(api.Operations()) || ops[0].Name != "engine.info" || ops[0].Output[0] != "engine_pid" {
		t.Errorf("engine.operations = %+v", ops)
	}
}

// raw sends a request as it is.
func (m *machine) raw(path string, headers map[string]string, body string) (status int, answer []byte, header http.Header) {
	m.Helper()
	socket, _ := api.Sockets(m.dir)
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	req, err := http.NewRequestWithContext(m.Context(), http.MethodPost, "http://tandem"+path, strings.NewReader(body))
	if err != nil {
		m.Fatal(err)
	}
	for name, value := range headers {
		if name != "Tandem-Aside" { // the answer is then JSON whatever its size
			req.Header.Set(name, value)
		}
	}
	resp, err := c.Do(req)
	if err != nil {
		m.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	if err != nil {
		m.Fatal(err)
	}
	return resp.StatusCode, answer, resp.Header
}

// lacks names what was in an answer and is missing, or of another kind, in the
// one that comes now; "" if there is nothing. What was empty may hold something.
func lacks(was, now any, at string) string {
	switch was := was.(type) {
	case map[string]any:
		object, ok := now.(map[string]any)
		for name, value := range was {
			member, there := object[name]
			if !ok || !there {
				return at + "." + name
			}
			if missing := lacks(value, member, at+"."+name); missing != "" {
				return missing
			}
		}
	case []any:
		list, ok := now.([]any)
		if !ok {
			return at
		}
		if len(was) > 0 && len(list) > 0 {
			return lacks(was[0], list[0], at+"[0]")
		}
	case string:
		if _, ok := now.(string); !ok && now != nil {
			return at
		}
	case float64:
		if _, ok := now.(float64); !ok && now != nil {
			return at
		}
	case bool:
		if _, ok := now.(bool); !ok {
			return at
		}
	}
	return ""
}
