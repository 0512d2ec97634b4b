package engine

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"tandem/engine/api"

	"pgregory.net/rapid"
)

func TestTimesTellWhenPartsOfALogWereWritten(t *testing.T) {
	begin := time.UnixMilli(1_800_000_000_000)
	after := func(d time.Duration) time.Time { return begin.Add(d) }
	s := stamps(nil).add(10, begin).add(20, after(time.Second)).add(30, after(time.Second+time.Millisecond)).add(40, after(time.Minute))
	for _, c := range []struct {
		from, to int64
		want     []int64
	}{{0, 5, nil}, {0, 11, []int64{10}}, {15, 20, []int64{10}}, {15, 21, []int64{10, 20}}, {25, 100, []int64{20, 40}}, {40, 41, []int64{40}}} {
		var got []int64
		for _, at := range s.between(c.from, c.to) {
			got = append(got, at.Offset)
		}
		if len(got) != len(c.want) || len(got) > 0 && (got[0] != c.want[0] || got[len(got)-1] != c.want[len(got)-1]) {
			t.Errorf("%d to %d: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

func TestTimesStayInOrderAndBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s stamps
		now, offset := time.UnixMilli(1_800_000_000_000), int64(0)
		for range rapid.IntRange(1, 3*stampsMost).Draw(t, "n") {
			now = now.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "ms")) * time.Millisecond)
			offset += int64(rapid.IntRange(0, 100).Draw(t, "bytes"))
			s = s.add(offset, now)
		}
		if len(s) > stampsMost || s[0].offset > 100 {
			t.Fatalf("%d stamps, the first at %d", len(s), s[0].offset)
		}
		for i := range s[1:] {
			if s[i].offset >= s[i+1].offset || s[i].at >= s[i+1].at {
				t.Fatalf("%v before %v", s[i], s[i+1])
			}
		}
	})
}

func TestALogTellsWhenItsLinesWereWritten(t *testing.T) {
	m := startMachine(t)
	began := time.Now()
	flag := filepath.Join(m.dir, "flag")
	p := m.run(api.ProcessStartInput{Command: append(sh(`echo one; while [ ! -e "$0" ]; do sleep 0.01; done; echo two; exec sleep 1000`), flag)})
	m.prints(p, "one")
	first := call(m, api.ProcessLog, api.ProcessLogInput{ID: p.ID, Times: true}).Times
	if len(first) != 1 || first[0].Offset != 0 || first[0].At.Before(began.Add(-time.Second)) || first[0].At.After(time.Now()) {
		t.Fatalf("%+v", first)
	}
	m.eventually("some time later", func() bool { return time.Since(first[0].At) > 2*stampGap })
	if err := os.WriteFile(flag, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m.prints(p, "two")
	both := call(m, api.ProcessLog, api.ProcessLogInput{ID: p.ID, Times: true}).Times
	if len(both) != 2 || both[0] != first[0] || both[1].Offset != 4 || both[1].At.Sub(first[0].At) < stampGap {
		t.Errorf("%+v after %+v", both, first)
	}
	since := int64(5)
	if out := call(m, api.ProcessLog, api.ProcessLogInput{ID: p.ID, Times: true, Since: &since}); len(out.Times) != 1 || out.Times[0].Offset != 4 {
		t.Errorf("%+v", out)
	}
}
