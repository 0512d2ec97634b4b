package history

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/secrets"
	"tandem/persist/histdb"
)

// generateRows returns n runs of commands like those of people and agents, most of them different.
func generateRows(n int) []histdb.Row {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	word := func() string {
		return pick("api", "server", "client", "index", "readme", "config", "history", "session", "build", "schema") +
			pick("", "_", "-") + pick("test", "main", "v2", "util", "old", "new", "Data", "Spec")
	}
	path := func() string {
		return pick("src/", "internal/", "cmd/", "docs/", "~/work/", "/var/log/", "/etc/") + word() + fmt.Sprint(r.IntN(500)) + pick(".go", ".ts", ".log", ".yaml")
	}
	line := func() string {
		switch r.IntN(8) {
		case 0:
			return "git commit -m 'Fix " + word() + " in " + path() + "'"
		case 1:
			return "docker run --rm -it -v " + path() + ":/data " + word() + fmt.Sprintf(":%d.%d", r.IntN(9), r.IntN(40)) + " sh"
		case 2:
			return "go test -run Test" + word() + " ./" + path()
		case 3:
			return "kubectl -n " + word() + " logs -f deploy/" + word() + fmt.Sprint(" --tail=", r.IntN(5000))
		case 4:
			return "rg -n '" + word() + "' " + path() + " | head -" + fmt.Sprint(r.IntN(100))
		case 5:
			return "curl -s http://localhost:" + fmt.Sprint(3000+r.IntN(6000)) + "/v1/" + word() + " | jq ."
		case 6:
			return pick("vim ", "less ", "cat ", "tail -f ") + path()
		}
		return pick("make", "ls -la", "git status", "git push", "npm run dev", "cd ..")
	}
	rows := make([]histdb.Row, n)
	begin := time.Unix(1_700_000_000, 0)
	code := 0
	for i := range rows {
		rows[i] = histdb.Row{ID: int64(i + 1), Command: line(), CWD: "/home/me/" + pick("a", "b", "c", "d"), Kind: pick("session", "exec"),
			StartedAt: begin.Add(time.Duration(i) * time.Minute), Duration: time.Second, ExitCode: &code,
			Actor: pick("person", "agent:x/1"), Process: fmt.Sprintf("%012x", i/200)}
	}
	return rows
}

func BenchmarkHistorySearch(b *testing.B) {
	x := newHistoryIndex()
	var before, after runtime.MemStats
	rows := generateRows(100_000)
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range rows {
		x.appendRow(&rows[i])
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	memory := float64(after.HeapAlloc-before.HeapAlloc) / 1e6
	for name, in := range map[string]api.HistorySearchInput{
		"empty":    {},
		"unique":   {Unique: true},
		"letter":   {Query: "e", Unique: true},
		"fuzzy":    {Query: "gtstindx", Unique: true},
		"word":     {Query: "server"},
		"words":    {Query: "docker api 'run", Unique: true},
		"none":     {Query: "zzqx"},
		"filtered": {Query: "log", CWD: "/home/me/a", Failed: true},
		"late":     {Query: "e", Offset: 20_000, Limit: 1000},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.search(context.Background(), in); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(memory, "MB/index")
		})
	}
	runtime.KeepAlive(rows)
}

func BenchmarkHistoryLoad(b *testing.B) {
	dir, err := os.MkdirTemp("", "td")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, _, err := histdb.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if err := db.Apply([]histdb.Change{{Add: generateRows(100_000)}}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		x := newHistoryIndex()
		if err := db.Rows(context.Background(), x.appendRow); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRedactLine(b *testing.B) {
	rows := generateRows(1000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		secrets.RedactLine(rows[i%len(rows)].Command)
	}
}

func BenchmarkRedactSecret(b *testing.B) {
	for b.Loop() {
		secrets.RedactLine("curl -H 'Authorization: Bearer abcdefghijk' --retry 3 https://host.example.org/v1/things?page=2")
	}
}

// typedQueries are typed into the search key by key.
var typedQueries = [...]string{
	"git commit", "docker run api", "kubectl logs", "tests", "src/server", "gtstindx", "'vim | 'less .go$", "curl 30", "!git make", "e t s", "config_old"}

// cpuTime returns the processor time used by this process, independent of other load.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkHistoryKeys searches a million runs, mostly of different commands, once for each key
// typed and each key deleted. It reports processor time; a search uses up to four processors.
func BenchmarkHistoryKeys(b *testing.B) {
	dir := b.TempDir()
	db, _, err := histdb.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	rows := generateRows(1_000_000)
	for part := range slices.Chunk(rows, 20_000) {
		if err := db.Apply([]histdb.Change{{Add: part}}); err != nil {
			b.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	rows = nil
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // resets VmHWM
		b.Fatal(err)
	}
	h := newTestHistory(b, dir)
	h.search(api.HistorySearchInput{})
	took := make(map[string][]time.Duration)
	var all, waited []time.Duration
	search := func(query string) {
		began, at := cpuTime(b), time.Now()
		h.search(api.HistorySearchInput{Query: query, Unique: true, Limit: 200})
		d := cpuTime(b) - began
		waited = append(waited, time.Since(at))
		all, took[query] = append(all, d), append(took[query], d)
	}
	for b.Loop() {
		for _, typed := range typedQueries {
			for n := range len(typed) {
				search(typed[:n+1])
			}
			for n := len(typed) - 1; n > 0; n-- {
				search(typed[:n])
			}
		}
	}
	slices.Sort(all)
	slices.Sort(waited)
	b.ReportMetric(float64(waited[len(waited)*95/100].Microseconds())/1000, "ms-p95")
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(all[len(all)/2]), "cpu-ms-p50")
	b.ReportMetric(ms(all[len(all)*95/100]), "cpu-ms-p95")
	b.ReportMetric(ms(all[len(all)-1]), "cpu-ms-max")
	for _, name := range []string{"VmHWM", "VmRSS"} {
		b.ReportMetric(readStatusMB(b, name), "MB-"+name)
	}
	slowest := slices.SortedFunc(maps.Keys(took), func(x, y string) int { return cmp.Compare(slices.Max(took[y]), slices.Max(took[x])) })
	for _, query := range slowest[:20] {
		b.Logf("%8.1f ms at worst for %q", ms(slices.Max(took[query])), query)
	}
}

// readStatusMB returns a field of this process's status, in MB.
func readStatusMB(b *testing.B, name string) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var kB float64
		if n, _ := fmt.Sscanf(line, name+": %g kB", &kB); n == 1 {
			return kB / 1000
		}
	}
	b.Fatalf("there is no %s", name)
	return 0
}
