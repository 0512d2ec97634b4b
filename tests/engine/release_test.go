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
	"tandem/engine/api/sockets"
)

// The commands of release 0.2.0 are replayed. Each answer must contain everything the recorded one
// did.
func TestClientOfRelease020IsUnderstood(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	f, err := os.Open("../../engine/api/client/testdata/release-0.2.0.jsonl")
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
		status, text, _ := m.sendRaw(old.Path, old.Header, string(old.Body))
		var answer any
		if err := json.Unmarshal(text, &answer); err != nil || status != old.Status {
			t.Errorf("%s: %d %s, want %d", old.Path, status, text, old.Status)
			continue
		}
		if missing := missingFrom(old.Answer, answer, ""); missing != "" {
			t.Errorf("%s: the answer lacks %s: %s", old.Path, missing, text)
		}
	}
}

// A newer client learns of the fields ignored, and other clients get an error for a misspelt field.
// Sandbox fields are never ignored.
func TestFieldsOfANewerReleaseAreIgnored(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	newer := map[string]string{api.ProtocolHeader: "1"}
	status, text, header := m.sendRaw("/v1/exec", newer, `{"command":["echo","x"],"shiny":{"a":1},"bright":true}`)
	if status != http.StatusOK || header.Get(api.IgnoredHeader) != "bright,shiny" {
		t.Errorf("%d %s, ignored %q", status, text, header.Get(api.IgnoredHeader))
	}
	if status, text, _ = m.sendRaw("/v1/exec", nil, `{"command":["echo","x"],"shiny":1}`); status != http.StatusBadRequest {
		t.Errorf("by hand: %d %s", status, text)
	}
	for _, sandbox := range []string{`{"filesystem":{},"shiny":1}`, `{"filesystem":{"denyShiny":["/"]}}`} {
		status, text, _ = m.sendRaw("/v1/exec", newer, `{"command":["echo","x"],"shiny":1,"sandbox":`+sandbox+`}`)
		if status != http.StatusBadRequest || !strings.Contains(string(text), "hiny") {
			t.Errorf("sandbox %s: %d %s", sandbox, status, text)
		}
	}
	status, text, _ = m.sendRaw("/v1/session.fold", newer, `{}`)
	if status != http.StatusNotImplemented || !strings.Contains(string(text), `"not_supported"`) || !strings.Contains(string(text), "1.2.3") {
		t.Errorf("an unknown operation: %d %s", status, text)
	}
	ops := call(m, api.EngineOperations, api.Empty{}).Operations
	if len(ops) != len(api.Operations()) || ops[0].Name != "engine.info" || ops[0].Output[0] != "engine_pid" {
		t.Errorf("engine.operations = %+v", ops)
	}
}

// sendRaw sends a request unchanged.
func (m *machine) sendRaw(path string, headers map[string]string, body string) (status int, answer []byte, header http.Header) {
	m.Helper()
	socket, _ := sockets.Paths(m.dir)
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

// missingFrom names a field of an earlier answer that is missing from the present one, or has
// another type there; "" if there is none. A formerly empty value may have content now.
func missingFrom(was, now any, at string) string {
	switch was := was.(type) {
	case map[string]any:
		object, ok := now.(map[string]any)
		for name, value := range was {
			member, there := object[name]
			if !ok || !there {
				return at + "." + name
			}
			if missing := missingFrom(value, member, at+"."+name); missing != "" {
				return missing
			}
		}
	case []any:
		list, ok := now.([]any)
		if !ok {
			return at
		}
		if len(was) > 0 && len(list) > 0 {
			return missingFrom(was[0], list[0], at+"[0]")
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
