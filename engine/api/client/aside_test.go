package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/api/wire"
	"tandem/tests/needs"
)

// muxOf serves one operation, always with the same answer.
func muxOf[In, Out any](op api.Operation[In, Out], out Out) *server.Mux {
	m := infoMux("1")
	server.Handle(m, op, func(context.Context, In) (Out, error) { return out, nil })
	return m
}

// roundTrip is what a client gets of an output.
func roundTrip[In, Out any](t *testing.T, op api.Operation[In, Out], out Out) Out {
	t.Helper()
	var in In
	got, err := op.Call(t.Context(), connect(t, serve(t, muxOf(op, out))), in)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// plainTrip returns the answer, and its header, for a client that only supports plain JSON.
func plainTrip[In, Out any](t *testing.T, op api.Operation[In, Out], out Out, header http.Header) ([]byte, http.Header) {
	t.Helper()
	o := serve(t, muxOf(op, out))
	req, err := http.NewRequest(http.MethodPost, baseURL+op.Name, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	resp, err := rawClient(t, o.DataDir).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || resp.ContentLength != int64(len(body)) {
		t.Fatalf("%d, %d bytes of %d, %v", resp.StatusCode, len(body), resp.ContentLength, err)
	}
	return body, resp.Header
}

func TestLargeOutputIsReceivedUnchanged(t *testing.T) {
	needs.FullRun(t)
	much := strings.Repeat("<&> \"quoted\" \x00\x1b é 😀\u2028\n", 20_000)
	data := bytes.Repeat([]byte{0, 0xff, 0x80, 'x'}, 50_000)
	exec := api.ExecOutput{Process: api.Process{ID: "abc"}, Stdout: much, Stderr: "few words", StdoutDropped: 3, DurationMS: 1.5}
	if diff := cmp.Diff(exec, roundTrip(t, api.Exec, exec)); diff != "" {
		t.Errorf("exec differs (-want +got):\n%.500s", diff)
	}
	log := api.ProcessLogOutput{Data: much, Start: 1, NextCursor: 2, End: 3, State: api.StateRunning}
	if diff := cmp.Diff(log, roundTrip(t, api.ProcessLog, log)); diff != "" {
		t.Errorf("log differs (-want +got):\n%.500s", diff)
	}
	file := api.FilesReadOutput{Path: "/f", Kind: "binary", Data: data, Size: 7}
	if diff := cmp.Diff(file, roundTrip(t, api.FilesRead, file)); diff != "" {
		t.Errorf("file differs (-want +got):\n%.500s", diff)
	}
	record := api.SessionRecordOutput{Repaint: []byte("\x1bc"), Data: data, Sizes: []api.LogSize{{}}}
	if diff := cmp.Diff(record, roundTrip(t, api.SessionRecord, record)); diff != "" {
		t.Errorf("record differs (-want +got):\n%.500s", diff)
	}
}

func TestExactBytesOfAnySizeAreReceivedUnchanged(t *testing.T) {
	for _, size := range []int{1, server.AsideLeast} {
		encoded := strings.Repeat("/wD+", size)
		got := roundTrip(t, api.Exec, api.ExecOutput{StdoutBytes: encoded})
		stdout, _, err := got.Output()
		if err != nil || !bytes.Equal(stdout, bytes.Repeat([]byte{0xff, 0, 0xfe}, size)) {
			t.Errorf("%d bytes of another kind, %v", len(stdout), err)
		}
	}
}

// Text that is not UTF-8 should not be in an output. If there is any, it is replaced as in JSON.
func TestInvalidUTF8IsReplacedAsInJSON(t *testing.T) {
	wrong, right := strings.Repeat("a\xff\xfe", server.AsideLeast), strings.Repeat("é", server.AsideLeast)
	got := roundTrip(t, api.Exec, api.ExecOutput{Stdout: wrong, Stderr: right})
	if want := strings.Repeat("a\uFFFD\uFFFD", server.AsideLeast); got.Stdout != want || got.Stderr != right {
		t.Errorf("%.20q…, %.20q…", got.Stdout, got.Stderr)
	}
}

func TestRequestWithoutAsideHeaderGetsPlainJSON(t *testing.T) {
	out := api.ExecOutput{Stdout: strings.Repeat("x", 2*server.AsideLeast)}
	for asked, aside := range map[string]bool{"": false, "stderr": false, "output": false, "stdout": true, "stderr,stdout": true} {
		header := http.Header{}
		if asked != "" {
			header.Set(wire.AsideHeader, asked)
		}
		body, answered := plainTrip(t, api.Exec, out, header)
		var got api.ExecOutput
		err := json.Unmarshal(body, &got)
		if plain := err == nil && got.Stdout == out.Stdout; plain == aside {
			t.Errorf("asked for %q aside: plain JSON is %v, %v", asked, plain, err)
		}
		if _, divided := answered[wire.AsideHeader]; divided != aside {
			t.Errorf("asked for %q aside: the header is %q", asked, answered.Get(wire.AsideHeader))
		}
	}
	if body, answered := plainTrip(t, api.Exec, api.ExecOutput{Stdout: "few"}, http.Header{wire.AsideHeader: {"stdout"}}); !json.Valid(body) || answered.Get(wire.AsideHeader) != "" {
		t.Errorf("little is divided: %q", body)
	}
}

func TestMalformedDivisionIsAnError(t *testing.T) {
	body := `{"stdout":""}0123456789`
	for division, why := range map[string]string{
		"json=13,stdout=10":                      "",
		"json=13,stderr=10":                      "",
		"json=13,stdout=4,stderr=6":              "",
		"stdout=10,json=13":                      "the JSON is not first",
		"json=13":                                "too little",
		"json=13,stdout=11":                      "too much",
		"json=13,stdout=9":                       "not all",
		"json=13,output=10":                      "an unknown member",
		"json=13,stdout=5,stdout=5":              "a member twice",
		"json=13,json=10":                        "JSON twice",
		"json=13,stdout=-10":                     "a negative length",
		"json=13,stdout=":                        "no length",
		"json=13,stdout":                         "no length",
		"json=13,stdout=99999999999999999999999": "a huge length",
		",":                                      "nothing",
		"json=12,stdout=11":                      "half an object",
	} {
		var out api.ExecOutput
		err := readOutput(division, strings.NewReader(body), int64(len(body)), &out)
		var wrong *wrongAnswer
		if (why != "") != errors.As(err, &wrong) || why == "" && err != nil {
			t.Errorf("%s (%s): %v", division, why, err)
		}
		if err == nil && out.Stdout+out.Stderr != "0123456789" {
			t.Errorf("%s: %q and %q", division, out.Stdout, out.Stderr)
		}
	}
	for _, length := range []int64{-1, wire.MaxResponseBody + 1} {
		if err := readOutput("json=13,stdout=10", strings.NewReader(body), length, &api.ExecOutput{}); err == nil {
			t.Errorf("a body of %d bytes is divided", length)
		}
	}
	for _, division := range []string{"", "json=13,stdout=10"} {
		err := readOutput(division, strings.NewReader(""), wire.MaxResponseBody+1, &api.ExecOutput{})
		if !errors.Is(err, errTooLarge) {
			t.Errorf("a body that is too large and divided as %q: %v", division, err)
		}
	}
	if err := readOutput("json=13,stdout=10", strings.NewReader(body), int64(len(body)), &api.Info{}); err == nil {
		t.Error("an output without members is divided")
	}
	if err := readOutput("json=13,stdout=2", strings.NewReader("{\"stdout\":\"\"}\xff\xfe"), 15, &api.ExecOutput{}); err == nil {
		t.Error("what is no UTF-8 is a text")
	}
}

func TestTruncatedAnswerIsALostConnection(t *testing.T) {
	for _, division := range []string{"", "json=13,stdout=10"} {
		o := serveRaw(t, infoMux("1"), api.Exec.Name, func(w http.ResponseWriter, _ *http.Request) {
			if division != "" {
				w.Header().Set(wire.AsideHeader, division)
			}
			w.Header().Set("Content-Length", strconv.Itoa(23))
			_, _ = io.WriteString(w, `{"stdout":""}01234`)
		})
		_, err := api.Exec.Call(t.Context(), connect(t, o), api.ExecInput{})
		if !errors.Is(err, api.CodeUnavailable) {
			t.Errorf("divided as %q: %v, want CodeUnavailable", division, err)
		}
	}
}

func TestAnswerOfUnknownLengthIsRead(t *testing.T) {
	o := serveRaw(t, infoMux("1"), api.Exec.Name, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"stdout":`)
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, `"x"}`)
	})
	out, err := api.Exec.Call(t.Context(), connect(t, o), api.ExecInput{})
	if err != nil || out.Stdout != "x" {
		t.Errorf("%+v, %v", out, err)
	}
}

func FuzzReadOutput(f *testing.F) {
	f.Add("", []byte(`{"stdout":"x"}`), int64(14))
	f.Add("json=2,stdout=3", []byte(`{}abc`), int64(5))
	f.Add("json=2,stdout=1,stderr=2", []byte(`{}abc`), int64(5))
	f.Add("json=2,stdout=99999999999", []byte(`{}abc`), int64(1<<40))
	f.Fuzz(func(t *testing.T, division string, body []byte, length int64) {
		if length > 1<<20 {
			length = int64(len(body)) // what is announced is set aside for it
		}
		var out api.ExecOutput
		if err := readOutput(division, bytes.NewReader(body), length, &out); err != nil {
			return
		}
		if len(out.Stdout)+len(out.Stderr) > 3*len(body) {
			t.Errorf("%d bytes of %d", len(out.Stdout)+len(out.Stderr), len(body))
		}
	})
}

func BenchmarkMuchOutput(b *testing.B) {
	out := api.ExecOutput{Stdout: strings.Repeat("0123456789abcdef\n", 600_000)}
	c := connect(b, serve(b, muxOf(api.Exec, out)))
	for b.Loop() {
		if _, err := api.Exec.Call(b.Context(), c, api.ExecInput{}); err != nil {
			b.Fatal(err)
		}
	}
}
