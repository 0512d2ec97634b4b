package outputs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/tests/seed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSearchReturnsNewestFirst(t *testing.T) {
	r := newRig(t)
	r.add("old", 30, "x1\nno\nx2\n").exit(20, 0)
	r.add("older", 50, "x3\n").exit(40, 0)
	r.add("running", 60, "x4\nx5\n")
	r.add("split", 10, "x6\n", "x7\nx8")
	want := []string{"splitstderr 3 x8", "splitstderr 0 x7", "splitstdout 0 x6", "running 3 x5", "running 0 x4", "old 6 x2", "old 0 x1", "older 0 x3"}
	for _, limit := range []int{0, 1, 3} {
		got := found(r.searchAll(api.OutputSearchInput{Pattern: api.Pattern{Text: "x"}, Limit: limit}, nothing))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("limit %d: %s", limit, diff)
		}
	}
}

func TestFiltersSelectProcesses(t *testing.T) {
	r := newRig(t)
	r.add("web", 10, "x\n").Process.Command = "Python3 -m http.server"
	r.add("web2", 10, "x\n").Process.Project = &api.ProjectEntry{File: "/work/shop/tandem.yaml"}
	agents := r.add("agents", 10, "x\n")
	agents.Process.Actor, agents.Process.Supervision = "agent:claude/2", &api.Supervision{Transient: true}
	r.add("failed", 60, "x\n").exit(30, 7)
	r.add("done", 60, "x\n").exit(20, 0)
	r.add("shell", 60, "x\n").Process.Kind = api.KindSession
	since := minutesAgo(25)
	for want, in := range map[string]api.OutputSearchInput{
		"agents done failed shell web web2": {},
		"web":                               {Name: "web"},
		"web web2":                          {Name: "web*"},
		"web2":                              {Project: "sh?p"},
		"agents":                            {Actor: "agent"},
		"agents ":                           {Actor: "agent:claude"},
		"agents  ":                          {Kind: "exec"},
		"done failed shell web web2":        {Actor: "person"},
		"web ":                              {Command: "python"},
		"shell":                             {Kind: "session"},
		"failed":                            {Failed: true},
		"agents shell web web2":             {Running: true},
		"agents done shell web web2":        {Since: &since},
		"":                                  {Name: "nothing"},
	} {
		in.Text = "x"
		var names []string
		for _, h := range r.searchAll(in, nothing) {
			names = append(names, h.Name)
		}
		if slices.Sort(names); strings.Join(names, " ") != strings.TrimSpace(want) {
			t.Errorf("%+v: %q, want %q", in, names, want)
		}
	}
}

func TestTimeRangeExcludesOnlyLinesOfKnownTime(t *testing.T) {
	r := newRig(t)
	p := r.add("p", 60, "x1\n")
	r.Logs.Begin(p.Source.Path, 0)
	r.add("q", 60, "x2\n")
	before, after := minutesAgo(1), minutesAgo(-1)
	for want, in := range map[string]api.OutputSearchInput{
		"x1 x2": {Since: &before, Until: &after}, "x2": {Since: &after}, "x2 ": {Until: &before},
	} {
		in.Text = "x"
		var texts []string
		for _, h := range r.searchAll(in, nothing) {
			texts = append(texts, h.Text)
			if known := h.ID == "p"; h.Rough == known || known && time.Since(h.Time) > time.Minute {
				t.Errorf("%+v", h)
			}
		}
		if slices.Sort(texts); strings.Join(texts, " ") != strings.TrimSpace(want) {
			t.Errorf("%s: %q", want, texts)
		}
	}
}

func TestInvalidInputIsRejected(t *testing.T) {
	for _, in := range []api.OutputSearchInput{
		{}, {Pattern: api.Pattern{Text: "(", Regexp: true}}, {Limit: -1}, {Kind: "added"}, {Name: "["}, {Project: "[a"},
	} {
		if in.Limit != 0 || in.Kind != "" || in.Name != "" || in.Project != "" {
			in.Text = "x"
		}
		if _, err := NewQuery(in); !errors.Is(err, api.CodeInvalid) {
			t.Errorf("%+v: %v", in, err)
		}
	}
}

// Otherwise a program that may not reach other machines would search this one in their place.
func TestSearchOfAnotherMachineIsNotMadeHere(t *testing.T) {
	if _, err := NewQuery(api.OutputSearchInput{Pattern: api.Pattern{Text: "x"}, Host: "box"}); !errors.Is(err, api.CodeForbidden) {
		t.Error(err)
	}
}

func TestContextRepeatsNoLine(t *testing.T) {
	r := newRig(t)
	r.add("p", 10, "a\nb\nx1\nc\nx2\nx3\nd\ne\nf\n")
	var got []string
	for _, h := range r.searchAll(api.OutputSearchInput{Pattern: api.Pattern{Text: "x"}, Context: 2}, nothing) {
		got = append(got, strings.Join(slices.Concat(h.Before, []string{h.Text}, h.After), " "))
	}
	if want := []string{"x3 d e", "c x2", "a b x1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestHitsHaveTheCommandThatPrintedThem(t *testing.T) {
	r := newRig(t)
	p := r.add("shell", 10, "$ make\nx1\n$ ls\nx2\n")
	p.Process.Kind = api.KindSession
	status := 2
	r.runs["shell"] = []api.Command{{Command: "make", LogStart: 8, LogEnd: 10, ExitCode: &status, StartedAt: minutesAgo(5)}}
	r.add("other", 20, "x3\nx4\n")
	hits := r.search(api.OutputSearchInput{Pattern: api.Pattern{Text: "x"}}).Hits
	if len(hits) != 4 || hits[0].Run != nil || hits[1].Run == nil || hits[1].Run.Command != "make" || !hits[1].Time.Equal(r.runs["shell"][0].StartedAt) {
		t.Errorf("%+v", hits)
	}
	if !slices.Equal(r.asked, []string{"shell"}) {
		t.Errorf("asked for %q", r.asked)
	}
}

func TestCancelledSearchReturnsAtOnce(t *testing.T) {
	r := newRig(t)
	r.add("p", 10, strings.Repeat("line\n", 1<<20))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	q, err := NewQuery(api.OutputSearchInput{Pattern: api.Pattern{Text: "x"}, WaitMS: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = r.Search(ctx, q, r.targets); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A call may end before it has searched anything. The next one continues, here with more time.
func TestCallsThatAreCutShortFindEverything(t *testing.T) {
	r := newRig(t)
	r.segmentSize = 10
	r.add("p", 10, strings.Repeat("x\n", 100))
	q, err := NewQuery(api.OutputSearchInput{Pattern: api.Pattern{Text: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	hits := 0
	for calls := 1; ; calls++ {
		q.wait = time.Duration(calls) * time.Microsecond
		out, err := r.Search(t.Context(), q, r.targets)
		if err != nil {
			t.Fatal(err)
		}
		if hits += len(out.Hits); out.Cursor == nil {
			break
		}
		q.cursor = *out.Cursor
	}
	if hits != 100 {
		t.Errorf("%d hits", hits)
	}
}

func TestUnreadableLogIsSkippedOnce(t *testing.T) {
	r := newRig(t)
	for _, id := range []string{"a", "b", "c"} {
		r.add(id, 10, "x1\nx2\n")
	}
	if err := os.Remove(r.targets[1].Source.Path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(r.targets[1].Source.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	in := api.OutputSearchInput{Pattern: api.Pattern{Text: "x"}, Limit: 1}
	for n := 0; ; n++ {
		out := r.search(in)
		if in.Cursor = out.Cursor; in.Cursor == nil {
			if out.Skipped != 1 || n != 4 {
				t.Errorf("%d skipped after %d calls with a hit", out.Skipped, n)
			}
			return
		}
	}
}

func TestLeftAndSearchedAreTheSizeOfAllLogs(t *testing.T) {
	r := newRig(t)
	total := int64(0)
	for i := range 5 {
		text := strings.Repeat("x\n", 1000*i)
		total += int64(len(text))
		r.add(fmt.Sprint(i), i, text)
	}
	in, searched := api.OutputSearchInput{Pattern: api.Pattern{Text: "x"}, Limit: 777}, int64(0)
	for {
		out := r.search(in)
		if searched += out.Searched; searched+out.Left != total {
			t.Fatalf("%d searched and %d left, want %d", searched, out.Left, total)
		}
		if in.Cursor = out.Cursor; in.Cursor == nil {
			return
		}
	}
}

// drawText draws output with colours, redrawn lines, wide characters and invalid bytes.
func drawText(t *rapid.T, label string) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{
		"n", "ee", "dle", "needle", "NEE", " ", "\n", "\n", "\n", "\r\n", "\r", "\t", "\b", "世", "é", "\xff", "\x1b[31m", "\x1b[0m", "\x1b[K", "\x1b[3C", "\x1b]0;needle\a",
	}), 0, 60).Draw(t, label)
	text := strings.Join(parts, "")
	if rapid.Bool().Draw(t, label+" is long") {
		text = strings.Repeat(text+"\n"+strings.Repeat("long ", 200)+"\n", 10)
	}
	return text + rapid.SampledFrom([]string{"", "needle", "\xe4\xb8"}).Draw(t, label+" end")
}

func drawPattern(t *rapid.T) api.Pattern {
	return api.Pattern{
		Text:   rapid.SampledFrom([]string{"needle", "nee", "^n", "e$", "n.*e", "世", "\t", "31", "[^n]", "^$", "x"}).Draw(t, "pattern"),
		Regexp: rapid.Bool().Draw(t, "regexp"),
		Exact:  rapid.Bool().Draw(t, "exact"),
	}
}

// Whatever a search of each log finds, a search of all finds, once and in order, and nothing else.
func TestSearchFindsWhatSearchesOfEachLogFind(t *testing.T) {
	seed.Check(t, func(rt *rapid.T) {
		r := newRig(t)
		r.segmentSize = rapid.SampledFrom([]int64{1, 500, 5000, segmentSize}).Draw(rt, "segment")
		for i := range rapid.IntRange(1, 5).Draw(rt, "processes") {
			texts := []string{drawText(rt, "output")}
			if rapid.Bool().Draw(rt, "split") {
				texts = append(texts, drawText(rt, "errors"))
			}
			p := r.add(fmt.Sprint(i), rapid.IntRange(1, 3).Draw(rt, "start"), texts...)
			if rapid.Bool().Draw(rt, "trimmed") {
				r.trim(p.Source.Path)
			}
			if rapid.Bool().Draw(rt, "exited") {
				p.exit(1, 0)
			}
		}
		r.page = rapid.IntRange(1, 3).Draw(rt, "page")
		for n := len(r.targets) - 1; n >= 0; n-- {
			if r.targets[n].Process.State.Ended() && rapid.Bool().Draw(rt, "kept") {
				r.keep(n)
			}
		}
		in := api.OutputSearchInput{Pattern: drawPattern(rt), Limit: rapid.SampledFrom([]int{0, 3, 1000}).Draw(rt, "limit")}
		if diff := cmp.Diff(r.grep(in), found(r.searchAll(in, nothing))); diff != "" {
			rt.Fatal(diff)
		}
	})
}

// Although logs grow and are trimmed, and processes are started, exit, are restarted and deleted
// between the calls, no line of the remaining ones is lost, and none found twice but of processes that
// have changed.
func TestChangesBetweenCallsLoseNoHit(t *testing.T) {
	seed.Check(t, func(rt *rapid.T) {
		r := newRig(t)
		r.segmentSize = 50
		for i := range rapid.IntRange(2, 6).Draw(rt, "processes") {
			p := r.add(fmt.Sprint(i), i+1, strings.Repeat("needle"+strings.Repeat(" ", 300)+"\n", rapid.IntRange(0, 30).Draw(rt, "lines")))
			if rapid.Bool().Draw(rt, "exited") {
				p.exit(i, 0)
			}
		}
		in := api.OutputSearchInput{Pattern: api.Pattern{Text: "needle"}, Limit: rapid.IntRange(1, 20).Draw(rt, "limit")}
		missing := map[string]bool{}
		for _, hit := range r.grep(in) {
			missing[hit] = true
		}
		changed := map[string]bool{}
		hits := r.searchAll(in, func() {
			if rapid.IntRange(0, 2).Draw(rt, "change") > 0 || len(r.targets) == 0 {
				return
			}
			n := rapid.IntRange(0, len(r.targets)-1).Draw(rt, "which")
			p := &r.targets[n]
			switch rapid.IntRange(0, 6).Draw(rt, "how") {
			case 0:
				r.write(p.Source.Path, "needle later\n")
			case 1:
				p.exit(0, 0)
				changed[p.Process.ID] = true
			case 2:
				p.Process.State, p.Process.StartedAt, p.Process.ExitedAt = api.StateRunning, time.Now(), nil
				changed[p.Process.ID] = true
			case 3:
				for hit := range missing {
					if strings.HasPrefix(hit, p.Process.ID+" ") {
						delete(missing, hit)
					}
				}
				r.targets = slices.Delete(r.targets, n, n+1)
			case 4:
				id := fmt.Sprint(100 + len(r.targets))
				r.add(id, 0, "needle new\n")
				changed[id] = true
			case 6:
				changed[p.Process.ID] = true
				r.keep(n)
			case 5:
				start := r.trim(p.Source.Path)
				for hit := range missing {
					var offset int64
					if _, err := fmt.Sscanf(hit, p.Process.ID+" %d", &offset); err == nil && offset < start {
						delete(missing, hit)
					}
				}
			}
		})
		seen := map[string]bool{}
		for _, hit := range found(hits) {
			id, _, _ := strings.Cut(hit, " ")
			if seen[hit] && !changed[id] {
				rt.Fatalf("%s is found twice", hit)
			}
			seen[hit] = true
			delete(missing, hit)
		}
		if len(missing) > 0 {
			rt.Fatalf("not found: %v", missing)
		}
	})
}
