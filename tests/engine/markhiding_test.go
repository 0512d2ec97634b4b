package engine

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/tests/wait"
)

// The secret that authenticates a shell's marks is on disk for the next engine, but no client can
// read it.
func TestSecretOfMarksIsHiddenFromClients(t *testing.T) {
	m := startMachine(t)
	p := m.start("bash", "--norc")
	wantRun(m, p.ID, "echo one", "one\n", 0)
	secret := ""
	if found := regexp.MustCompile(`\x1b\]133;A;aid=([0-9a-f]{32})\x07`).FindStringSubmatch(m.logOf(p)); found == nil {
		t.Fatal("the log has no marks")
	} else {
		secret = found[1]
	}
	const mark = "\x1b]133;A;aid=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\a"
	told := func(what, text string, marks bool) {
		t.Helper()
		if strings.Contains(text, secret) || strings.Contains(text, mark) != marks {
			t.Errorf("%s gives %q", what, text)
		}
	}
	since := int64(0)
	log := call(m, api.ProcessLog, api.ProcessLogInput{ID: p.ID, Since: &since})
	told("process.log", log.Data, true)
	if log.NextCursor != log.End || int64(len(log.Data)) != log.End {
		t.Errorf("offsets: %d bytes up to %d of %d", len(log.Data), log.NextCursor, log.End)
	}
	told("session.read", call(m, api.SessionRead, api.SessionReadInput{ID: p.ID}).Data, true)
	record := call(m, api.SessionRecord, api.SessionRecordInput{ID: p.ID, Since: &since})
	told("session.record", string(record.Data), true)
	told("session.screen", strings.Join(call(m, api.SessionScreen, api.SessionScreenInput{ID: p.ID}).Lines, "\n"), false)

	// Reading the log one byte at a time must not reveal it either.
	all := ""
	for at := int64(0); at < log.End; at++ {
		one := call(m, api.ProcessLog, api.ProcessLogInput{ID: p.ID, Since: &at, Max: 1}).Data
		all += one[:min(1, len(one))]
	}
	told("process.log, a byte at a time,", all, true)
	for _, grep := range []string{secret, secret[:12], "aid=" + secret[:1]} {
		if got := call(m, api.ProcessLog, api.ProcessLogInput{ID: p.ID, Grep: grep, Count: true}); len(got.Matches) > 0 || got.Total > 0 {
			t.Errorf("searching for %s found %+v", grep, got.Matches)
		}
		if got := call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Log: grep, Since: &since, TimeoutMS: 50}); got.Met != "" {
			t.Errorf("waiting for %s: %+v", grep, got)
		}
	}
	w, raw := m.attach(api.AttachOptions{ID: p.ID, Raw: true}), ""
	// A repaint that replaces output has no marks. The next command's output has them again.
	for n := 0; !strings.Contains(raw, "\x1b]133;B"); n++ {
		m.write(p.ID, fmt.Sprintf("echo round $((%d))\r", n))
		for printed := fmt.Sprintf("round %d", n); !strings.Contains(raw, printed); {
			out, ok := <-w.in
			if !ok {
				t.Fatalf("the attachment closed after %q", raw)
			}
			raw += string(out.Bytes)
		}
	}
	told("attach", raw, true)
	m.sessionWait(api.SessionWaitInput{ID: p.ID, Prompt: true})
	wantRun(m, p.ID, "echo \"$__tandem_nonce\"", strings.Repeat("x", 32)+"\n", 0)

	// The shell's marks are still accepted, by the next engine too.
	wait.Kill(m, m.info().EnginePID)
	if out := wantRun(m, p.ID, "echo two", "two\n", 0); out.Method != "marks" {
		t.Errorf("%+v", out)
	}
	told("process.log of the next engine", call(m, api.ProcessLog, api.ProcessLogInput{ID: p.ID, Since: &since}).Data, true)
}
