package machines

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"strings"
	"sync"

	"tandem/ui/cli/output"
)

// A Spread runs a verb on several machines at once.
type Spread struct {
	Out    output.Printer
	Stream bool // the verb goes on: what it prints as JSON is passed on as it comes
	Most   int  // machines at a time; 0: all
	Group  bool // at the end, machines with equal results are told together
	// Run runs the verb on one machine and returns its exit status.
	Run func(host string, out *output.Gather, stdout, stderr io.Writer) int

	mu       sync.Mutex
	answers  []json.RawMessage
	progress progress
}

// On runs it on each of the machines, and prints what comes with the machine's
// name before it. The exit status is that of all, or StatusPartial.
func (s *Spread) On(hosts []string) int {
	width := 0
	for _, h := range hosts {
		width = max(width, len(h))
	}
	var gather output.Gather
	var all sync.WaitGroup
	statuses, results := make([]int, len(hosts)), make([]result, len(hosts))
	s.progress.begin(s.Out.Stderr, len(hosts))
	free := make(chan struct{}, cmp.Or(max(s.Most, 0), len(hosts)))
	for i, h := range hosts {
		free <- struct{}{}
		all.Go(func() {
			statuses[i] = s.one(h, width, &gather, &results[i])
			<-free
			s.mu.Lock()
			defer s.mu.Unlock()
			s.progress.step()
		})
	}
	all.Wait()
	s.progress.clear()
	if s.Group && !s.Out.JSON {
		s.Out.Tell("%s", s.grouped(hosts, results))
	}
	err := s.Out.Print(gather.String())
	if s.Out.JSON && !s.Stream {
		if s.answers == nil {
			s.answers = []json.RawMessage{}
		}
		err = s.Out.PrintJSON(s.answers, "  ")
	}
	if err != nil {
		s.Out.Error(err)
		return output.StatusFailed
	}
	for _, status := range statuses {
		if status != statuses[0] || status != 0 && status != output.StatusUsage {
			return output.StatusPartial
		}
	}
	return statuses[0]
}

// one runs it on one machine.
func (s *Spread) one(host string, width int, gather *output.Gather, came *result) (status int) {
	defer func() { came.status = status }()
	label := host + strings.Repeat(" ", width-len(host)) + "  "
	var failed bytes.Buffer
	stderr := &lines{json: s.Out.JSON, to: s.Out.Stderr, label: label, mu: &s.mu, progress: &s.progress}
	defer stderr.end()
	if !s.Out.JSON {
		stdout := &lines{to: s.Out.Stdout, label: label, mu: &s.mu, progress: &s.progress}
		defer stdout.end()
		return s.Run(host, gather, io.MultiWriter(stdout, &came.stdout), io.MultiWriter(stderr, &came.stderr))
	}
	r, w := io.Pipe()
	var decoding sync.WaitGroup
	count := 0
	decoding.Go(func() {
		count = s.decode(host, r)
		_, _ = io.Copy(io.Discard, r)
	})
	status = s.Run(host, gather, w, io.MultiWriter(stderr, &failed))
	w.Close()
	decoding.Wait()
	if status != 0 && count == 0 {
		var reason struct{ Message string }
		said := bytes.Split(bytes.TrimSpace(failed.Bytes()), []byte{'\n'})
		last := said[len(said)-1]
		if json.Unmarshal(last, &reason) != nil {
			reason.Message = string(last)
		}
		s.answer(host, mustJSON(map[string]any{"error": reason.Message, "status": status}))
	}
	return status
}

// decode takes the answers of one machine from what it prints; those of a list
// are answers each.
func (s *Spread) decode(host string, r io.Reader) (count int) {
	d := json.NewDecoder(r)
	for {
		var v json.RawMessage
		if d.Decode(&v) != nil {
			return count
		}
		count++
		var list []json.RawMessage
		if json.Unmarshal(v, &list) != nil {
			list = []json.RawMessage{v}
		}
		for _, one := range list {
			s.answer(host, one)
		}
	}
}

// answer gives an answer the name of its machine.
func (s *Spread) answer(host string, v json.RawMessage) {
	var members map[string]json.RawMessage
	if json.Unmarshal(v, &members) != nil {
		v = mustJSON(map[string]json.RawMessage{"value": v})
	}
	var b bytes.Buffer
	b.WriteString(`{"host":` + string(mustJSON(host)))
	if rest := bytes.TrimSpace(bytes.TrimSpace(v)[1:]); rest[0] != '}' {
		b.WriteByte(',')
		b.Write(rest)
	} else {
		b.WriteByte('}')
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.Stream {
		s.answers = append(s.answers, b.Bytes())
		return
	}
	_ = s.Out.PrintJSON(json.RawMessage(b.Bytes()), "") // whoever reads has gone
}

func mustJSON(v any) []byte {
	text, _ := json.Marshal(v) // strings, numbers and what was JSON before
	return text
}

// lines passes on whole lines, each behind a label.
type lines struct {
	json  bool // lines of JSON need no label
	to    io.Writer
	label string
	mu    *sync.Mutex // of all that write there
	begun []byte

	progress *progress
}

func (l *lines) Write(p []byte) (int, error) {
	l.begun = append(l.begun, p...)
	end := bytes.LastIndexByte(l.begun, '\n') + 1
	if end == 0 {
		return len(p), nil
	}
	var b bytes.Buffer
	for line := range bytes.Lines(l.begun[:end]) {
		if !l.json || line[0] != '{' {
			b.WriteString(l.label)
		}
		b.Write(line)
	}
	l.begun = append(l.begun[:0], l.begun[end:]...)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.progress.clear()
	if _, err := l.to.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// end passes on a last line that has no end.
func (l *lines) end() {
	if len(l.begun) > 0 {
		_, _ = l.Write([]byte{'\n'}) // whoever reads has gone
	}
}
