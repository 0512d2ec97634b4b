package machines

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"strings"
	"sync"

	"tandem/engine/api"
	"tandem/ui/cli/output"
)

// A Spread runs a command on several machines at once.
type Spread struct {
	Out    output.Printer
	Stream bool // the command may not end: print its JSON as it arrives
	Max    int  // maximum number of machines at a time; 0 means all
	Group  bool // at the end, print a summary of machines with equal results
	// Run runs the command on one machine, prints its error and returns it with the exit status.
	Run func(host string, out *output.Gather, stdout, stderr io.Writer) (status int, err error)

	mu       sync.Mutex
	answers  []json.RawMessage
	progress progress
}

// On runs the command on each machine and prints the output with the machine's name before each
// line. It returns the common exit status: 0 or StatusUsage if all machines returned that, else
// StatusPartial.
func (s *Spread) On(hosts []string) int {
	width := 0
	for _, h := range hosts {
		width = max(width, len(h))
	}
	var gather output.Gather
	var all sync.WaitGroup
	statuses, results := make([]int, len(hosts)), make([]result, len(hosts))
	s.progress.begin(s.Out.Stderr, len(hosts))
	free := make(chan struct{}, cmp.Or(max(s.Max, 0), len(hosts)))
	for i, h := range hosts {
		// Wait here and not in the goroutine, so that waiting machines cost nothing.
		free <- struct{}{}
		all.Go(func() {
			statuses[i] = s.runOne(h, width, &gather, &results[i])
			<-free
			s.mu.Lock()
			defer s.mu.Unlock()
			s.progress.step()
		})
	}
	all.Wait()
	s.progress.clear()
	if s.Group && !s.Out.JSON {
		s.Out.Tell("%s", s.formatGroups(hosts, results))
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

// runOne runs the command on one machine.
func (s *Spread) runOne(host string, width int, gather *output.Gather, result *result) (status int) {
	defer func() { result.status = status }()
	label := host + strings.Repeat(" ", width-len(host)) + "  "
	var failed bytes.Buffer
	stderr := &lineWriter{json: s.Out.JSON, to: s.Out.Stderr, label: label, mu: &s.mu, progress: &s.progress}
	defer stderr.end()
	if !s.Out.JSON {
		stdout := &lineWriter{to: s.Out.Stdout, label: label, mu: &s.mu, progress: &s.progress}
		defer stdout.end()
		status, result.err = s.Run(host, gather, io.MultiWriter(stdout, &result.stdout), io.MultiWriter(stderr, &result.stderr))
		return status
	}
	r, w := io.Pipe()
	var decoding sync.WaitGroup
	count := 0
	decoding.Go(func() {
		count = s.decode(host, r)
		// Output after the JSON must not block the command.
		_, _ = io.Copy(io.Discard, r)
	})
	status, result.err = s.Run(host, gather, w, io.MultiWriter(stderr, &failed))
	w.Close()
	decoding.Wait()
	// A failed machine without JSON of its own still needs an entry in the answer.
	if status != 0 && count == 0 {
		var printed struct {
			Message string
			Reason  api.Reason
		}
		lines := bytes.Split(bytes.TrimSpace(failed.Bytes()), []byte{'\n'})
		last := lines[len(lines)-1]
		if json.Unmarshal(last, &printed) != nil {
			printed.Message = string(last)
		}
		s.addAnswer(host, mustJSON(failedAnswer{printed.Message, printed.Reason, status}))
	}
	return status
}

// A failedAnswer is the entry of a machine that printed an error and no answer.
type failedAnswer struct {
	Error  string     `json:"error"`
	Reason api.Reason `json:"reason,omitempty"`
	Status int        `json:"status"`
}

// decode reads the answers of one machine from its output. The elements of a list are separate
// answers.
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
			s.addAnswer(host, one)
		}
	}
}

// addAnswer adds the machine's name to an answer.
func (s *Spread) addAnswer(host string, v json.RawMessage) {
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
	_ = s.Out.PrintJSON(json.RawMessage(b.Bytes()), "") // an error means that the reader is gone
}

func mustJSON(v any) []byte {
	text, _ := json.Marshal(v) // strings, numbers and valid JSON cannot fail
	return text
}

// A lineWriter writes whole lines, each after a label.
type lineWriter struct {
	json    bool // lines of JSON have no label
	to      io.Writer
	label   string
	mu      *sync.Mutex // shared by all writers to the same stream
	pending []byte

	progress *progress
}

func (l *lineWriter) Write(p []byte) (int, error) {
	l.pending = append(l.pending, p...)
	end := bytes.LastIndexByte(l.pending, '\n') + 1
	if end == 0 {
		return len(p), nil
	}
	var b bytes.Buffer
	for line := range bytes.Lines(l.pending[:end]) {
		if !l.json || line[0] != '{' {
			b.WriteString(l.label)
		}
		b.Write(line)
	}
	l.pending = append(l.pending[:0], l.pending[end:]...)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.progress.clear()
	if _, err := l.to.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// end writes a last line without a newline.
func (l *lineWriter) end() {
	if len(l.pending) > 0 {
		_, _ = l.Write([]byte{'\n'}) // an error means that the reader is gone
	}
}
