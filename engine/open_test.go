package engine

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/client"
)

// sendRemote sends a request over a connection opened by a bridge for another machine.
func (m *machine) sendRemote(o api.OpenOptions, path, body string) (status int, answer string) {
	m.Helper()
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, _, err := client.Open(ctx, m.options(), o)
		return conn, err
	}}}
	resp, err := c.Post("http://tandem"+path, "application/json", strings.NewReader(body))
	if err != nil {
		m.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		m.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestRemoteConnectionIsBoundToItsOrigin(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	id := m.start("sh").ID
	person := api.OpenOptions{Origin: "me@laptop"}
	agent := api.OpenOptions{Origin: "me@laptop", Agent: "build, which agent:x started"}
	reader := api.OpenOptions{Origin: "me@laptop", ReadOnly: true}
	for _, tc := range []struct {
		from       api.OpenOptions
		path, body string
		status     int
		says       string
	}{
		{person, "/v1/session.list", "{}", 200, id},
		{person, "/v1/audit.list", "{}", 200, "entries"},
		{person, "/v1/files.transfer_between", `{"kind":"copy","items":[{"path":"/box:/x","to":"/y"}]}`, 403, "cannot reach other machines"},
		{person, "/v1/session.get", `{"id":"box/` + id + `"}`, 404, "no session has this id"},
		{person, "/v1/files.stat", `{"path":"/box:/etc","machines":true}`, 404, "/box:"},
		{agent, "/v1/session.list", "{}", 200, id},
		{agent, "/v1/audit.list", "{}", 403, "started on me@laptop from build, which agent:x started"},
		{agent, "/v1/request.answer", `{"id":"x","allow":true}`, 403, "only the user may do that"},
		{reader, "/v1/session.list", "{}", 200, id},
		{reader, "/v1/session.kill", `{"id":"` + id + `"}`, 403, "may only read"},
		{reader, "/v1/exec", `{"command":["true"]}`, 403, "may only read"},
		{reader, "/v1/engine.stop", `{"all":true}`, 403, "may only read"},
	} {
		status, answer := m.sendRemote(tc.from, tc.path, tc.body)
		if status != tc.status || !strings.Contains(answer, tc.says) {
			t.Errorf("%s from %+v: %d %s, want %d with %q", tc.path, tc.from, status, answer, tc.status, tc.says)
		}
	}
}

func TestRemoteConnectionCannotBeForwarded(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	conn, _, err := client.Open(t.Context(), m.options(), api.OpenOptions{Origin: "me@laptop"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /v1/engine.open?machine=x HTTP/1.1\r\nHost: tandem\r\nUpgrade: tandem\r\nConnection: Upgrade\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 12)
	if _, err := io.ReadFull(conn, first); err != nil || string(first) != "HTTP/1.1 403" {
		t.Errorf("it answers %q, %v", first, err)
	}
}
