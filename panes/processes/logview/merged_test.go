package logview

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/panestest"
	"tandem/tests/seed"
	"tandem/themes"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// fakeLogs maps ids and streams to logs, which it serves as the engine does.
type fakeLogs map[string]*fakeLog

func (f fakeLogs) engine() *panestest.Engine {
	e := panestest.NewEngine()
	panestest.On(e, api.ProcessLog, func(ctx context.Context, in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		log := f[in.ID+in.Stream]
		if log == nil {
			return api.ProcessLogOutput{}, api.Errorf(api.CodeNotFound, "no process %s", in.ID)
		}
		return log.readLog(in), nil
	})
	return e
}

// answerAll answers requests until a merged log needs nothing more.
func (f fakeLogs) answerAll(t testing.TB, m *Log) {
	t.Helper()
	e := f.engine()
	for range 10_000 {
		r, ok := m.NextRequest()
		if !ok {
			return
		}
		a, err := r.Run(context.Background(), e)
		m.AcceptAnswer(r, a, err)
	}
	t.Fatal("it never stops asking")
}

// drawLog returns the drawn merged log without colors.
func (f fakeLogs) drawLog(t testing.TB, m *Log, w, h int) []string {
	m.SetSize(w, h)
	f.answerAll(t, m)
	rows := panestest.PlainRows(m.Draw(w, h, &look.Look{Glyphs: themes.UnicodeGlyphs()}))
	for i := range rows {
		if got := text.Width(rows[i]); got != w {
			t.Fatalf("row %q takes %d cells of %d", rows[i], got, w)
		}
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	return rows
}

// timedLog returns a log with lines written at these seconds after noon.
func timedLog(name string, seconds ...int) *fakeLog {
	f := &fakeLog{state: api.StateExited}
	for i, s := range seconds {
		f.times = append(f.times, api.LogTime{Offset: int64(len(f.text)), At: noon.Add(time.Duration(s) * time.Second)})
		f.text += fmt.Sprintf("%s %d at %d\n", name, i, s)
	}
	return f
}

func exitedProcess(id, name string) api.Process {
	return api.Process{ID: id, Name: name, State: api.StateExited}
}

func TestMergedLogsInterleaveByTimeWithNames(t *testing.T) {
	split := exitedProcess("2", "database")
	split.Supervision = &api.Supervision{SplitLog: true}
	f := fakeLogs{"1": timedLog("w", 1, 4, 6), "2stdout": timedLog("o", 2, 5), "2stderr": timedLog("e", 3)}
	m := NewMerged("logs", []api.Process{exitedProcess("1", "web"), split})
	want := []string{"web      │ w 0 at 1", "database │ o 0 at 2", "database ! e 0 at 3", "web      │ w 1 at 4", "database │ o 1 at 5", "web      │ w 2 at 6", ""}
	if got := f.drawLog(t, m, 60, 7); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	m.ToggleWrap()
	m.ToggleTimes()
	if got := f.drawLog(t, m, 32, 4); got[2] != "20 Nov   datab… │ o 1 at 5" {
		t.Errorf("narrow with times: %q", got)
	}
}

// Whatever the logs contain and wherever the view starts, scrolling shows every line once, in order
// of time, and the Log holds no more lines than its limits allow.
func TestMergedLogsScrollThroughAllTheirLines(t *testing.T) {
	seed.Check(t, func(rt *rapid.T) {
		f := fakeLogs{}
		var all []api.Process
		var want []string
		for i := range rapid.IntRange(1, 4).Draw(rt, "logs") {
			id, name := fmt.Sprint(i), string(rune('a'+i))
			at, log := 0, &fakeLog{state: api.StateExited}
			random := seed.From(rapid.Uint64().Draw(rt, "seed"))
			var text strings.Builder
			for k := range rapid.SampledFrom([]int{0, 3, 100, 1500}).Draw(rt, "lines") {
				at += 10*[]int{0, 1, 7}[random.IntN(3)] + i
				log.times = append(log.times, api.LogTime{Offset: int64(text.Len()), At: noon.Add(time.Duration(at) * time.Millisecond)})
				fmt.Fprintf(&text, "%09d %d %d %s\n", at, i, k, strings.Repeat("x", k%90*10))
			}
			log.text = text.String()
			f[id] = log
			all = append(all, exitedProcess(id, name))
			for line := range strings.Lines(log.text) {
				want = append(want, name+" │ "+strings.TrimRight(line, " \n"))
			}
		}
		slices.SortStableFunc(want, func(a, b string) int { return strings.Compare(a[6:15], b[6:15]) })
		if len(want) == 0 {
			return
		}
		m := NewMerged("logs", all)
		const h = 40
		seen := f.drawLog(t, m, 1200, h)
		check := func(at int) {
			for i, row := range seen {
				if row == "" && at+i >= len(want) {
					continue
				}
				if at+i >= len(want) || row != want[at+i] {
					rt.Fatalf("row %d is %q", at+i, row)
				}
			}
			if bytes := m.window.end - m.window.start; bytes > maxWindowBytes+maxFollowBytes+maxLogChunks || len(m.window.lines) > 2*maxWindowLines {
				rt.Fatalf("%d bytes in %d lines are held", bytes, len(m.window.lines))
			}
		}
		at := max(len(want)-h, 0)
		check(at)
		for range 3 {
			by := rapid.SampledFrom([]int{-3000, -200, -10, 10, 500, 3000}).Draw(rt, "by")
			if by > 0 && rapid.IntRange(0, 9).Draw(rt, "home") == 0 {
				m.ScrollToStart()
				at = 0
			} else {
				for range 5 { // as far as the window reaches, repeatedly
					m.Scroll(by / 5)
					f.answerAll(t, m)
				}
				at = -1
			}
			seen = f.drawLog(t, m, 1200, h)
			if at < 0 && len(want) > 0 {
				at = slices.Index(want, seen[0])
			}
			check(max(at, 0))
		}
		m.ScrollToStart()
		seen = f.drawLog(t, m, 1200, h)
		check(0)
		m.ScrollToEnd()
		seen = f.drawLog(t, m, 1200, h)
		check(max(len(want)-h, 0))
	})
}

func TestMergedLogsScrollUpPastALongLine(t *testing.T) {
	long := strings.Repeat("x", 3*maxLogChunk)
	f := fakeLogs{"1": {text: "first\n" + long + "\n" + numberedLines(1000), state: api.StateExited}, "2": timedLog("d", 1)}
	m := NewMerged("logs", []api.Process{exitedProcess("1", "web"), exitedProcess("2", "db")})
	f.drawLog(t, m, 60, 9)
	for range 200 {
		m.ScrollHalfPages(-2)
		f.answerAll(t, m)
	}
	if got := f.drawLog(t, m, 60, 9); got[0] != "web │ first" {
		t.Errorf("the oldest line is not shown: %q", got)
	}
}

func TestMergedLogRestoresAViewOutsideTheWindow(t *testing.T) {
	f := fakeLogs{"1": {text: numberedLines(300_000), state: api.StateExited}, "2": timedLog("d", 1)}
	m := NewMerged("logs", []api.Process{exitedProcess("1", "web"), exitedProcess("2", "db")})
	f.drawLog(t, m, 60, 9)
	m.ScrollToStart()
	f.drawLog(t, m, 60, 9)
	m.Scroll(500)
	want, origin := f.drawLog(t, m, 60, 9), m.SaveView()
	m.ScrollToEnd()
	f.drawLog(t, m, 60, 9)
	m.RestoreView(origin)
	if got := f.drawLog(t, m, 60, 9); !slices.Equal(got, want) || want[0] != "web │ line 500" {
		t.Errorf("%q, want %q", got, want)
	}
}

// A search finds matches in all of the logs, in the order of the merged lines.
func TestSearchCoversAllMergedLogs(t *testing.T) {
	logs := map[string]*strings.Builder{"1": {}, "2": {}, "3": {}}
	f := fakeLogs{"1": {state: api.StateExited}, "2": {state: api.StateExited}, "3": {state: api.StateExited}}
	var want []string
	for i := range 60_000 {
		id := fmt.Sprint(i%3 + 1)
		text := fmt.Sprintf("line %d of %s", i, id)
		if i%7777 == 5 {
			text = fmt.Sprintf("needle %d", i)
			want = append(want, text)
		}
		if i%30 < 3 {
			f[id].times = append(f[id].times, api.LogTime{Offset: int64(logs[id].Len()), At: noon.Add(time.Duration(i/30) * time.Second)})
		}
		fmt.Fprintln(logs[id], text)
	}
	for id, b := range logs {
		f[id].text = b.String()
	}
	m := NewMerged("logs", []api.Process{exitedProcess("1", "a"), exitedProcess("2", "b"), exitedProcess("3", "c")})
	f.drawLog(t, m, 60, 10)
	m.SetPattern("needle", regexp.MustCompile("needle"))
	find := func(above bool, number int, wrapped bool) {
		t.Helper()
		found, err := m.SearchFunc(above)(t.Context(), f.engine())
		if err != nil {
			t.Fatal(err)
		}
		m.ShowMatch(found)
		got := strings.Join(f.drawLog(t, m, 60, 10), "\n")
		if text := want[number-1]; !found.OK || !strings.Contains(got, text) || found.Match.Number != number || found.Match.Total != len(want) || found.Match.Wrapped != wrapped {
			t.Errorf("%q is %+v in\n%s", text, found.Match, got)
		}
	}
	for n := len(want); n > 0; n-- {
		find(true, n, false)
	}
	find(true, len(want), true)
	find(false, 1, true)
	for n := 2; n <= len(want); n++ {
		find(false, n, false)
	}
}

// New output of every process appears, and a new process of the project is added.
func TestMergedLogsFollowAndAddNewProcesses(t *testing.T) {
	f := fakeLogs{"1": timedLog("w", 1), "2": timedLog("d", 2)}
	project := func(p api.Process) api.Process {
		p.Project = &api.ProjectEntry{File: "/shop/tandem.yaml", Name: p.Name}
		return p
	}
	web, db, late := project(exitedProcess("1", "web")), project(exitedProcess("2", "db")), project(exitedProcess("3", "late"))
	m := NewProject("logs", "/shop/tandem.yaml", []api.Process{web, db})
	f.drawLog(t, m, 60, 9)
	f["1"].text += "more\n"
	running := web
	running.State = api.StateRunning
	m.UpdateProcesses([]api.Process{running, db})
	f["3"] = timedLog("l", 0)
	m.UpdateProcesses([]api.Process{running, db, late})
	got := strings.Join(f.drawLog(t, m, 60, 9), "\n")
	if !strings.Contains(got, "web  │ more\n") || strings.Count(got, "late │ l 0 at 0") != 1 || strings.Count(got, "w 0 at 1") != 1 {
		t.Error(got)
	}
}
