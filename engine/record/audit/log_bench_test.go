package audit

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/persist/store"
)

func benchLog(b *testing.B) *Log {
	b.ReportAllocs()
	return New(store.NewLines(filepath.Join(b.TempDir(), "audit.jsonl")))
}

func entryOf(operation string, in any) api.AuditEntry {
	return api.AuditEntry{
		Time: time.Now(), Actor: "agent:claude-code/2.1.0", Client: "0123456789ab", Call: "ba9876543210", Tool: "exec", Operation: operation,
		Arguments: (*Log)(nil).Arguments(in, false), Outcome: api.OutcomeOK, DurationMS: 1.5,
	}
}

// BenchmarkBeginEnd measures the lines of an operation that changes something.
func BenchmarkBeginEnd(b *testing.B) {
	log := benchLog(b)
	in := &api.ExecInput{Command: []string{"bash", "-c", "go test ./... 2>&1 | tail -20"}, CWD: "/home/ann/project", TimeoutMS: 30_000}
	for b.Loop() {
		line, err := log.Begin(entryOf(api.Exec.Name, in))
		if err == nil {
			err = line(api.OutcomeOK, "0123456789ab", "", 1500*time.Microsecond)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRecord measures the line of a read.
func BenchmarkRecord(b *testing.B) {
	log := benchLog(b)
	in := &api.FilesReadInput{Path: "engine/record/audit/log.go", FileScope: api.FileScope{Base: "/home/ann/project"}}
	for b.Loop() {
		if err := log.Record(entryOf(api.FilesRead.Name, in)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkArguments is the price of a large input.
func BenchmarkArguments(b *testing.B) {
	b.ReportAllocs()
	in := &api.FilesWriteInput{Path: "a", Text: strings.Repeat("a line of text with a token in it\n", 16<<20/34)}
	for b.Loop() {
		(*Log)(nil).Arguments(in, false)
	}
}

// BenchmarkList measures `tandem audit` with a long log.
func BenchmarkList(b *testing.B) {
	log := benchLog(b)
	in := &api.ExecInput{Command: []string{"make"}}
	for i := range 20_000 {
		e := entryOf(api.Exec.Name, in)
		e.Call, e.Time = strconv.Itoa(i), e.Time.Add(time.Duration(i)*time.Second)
		line, err := log.Begin(e)
		if err == nil {
			err = line(api.OutcomeOK, "0123456789ab", "", 1500*time.Microsecond)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := log.List(api.AuditListInput{Limit: 50}); err != nil {
			b.Fatal(err)
		}
	}
}
