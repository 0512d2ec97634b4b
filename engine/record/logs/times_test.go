package logs

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem/tests/seed"
)

func TestTimesReportWhenPartsWereWritten(t *testing.T) {
	begin := time.UnixMilli(1_800_000_000_000)
	after := func(d time.Duration) time.Time { return begin.Add(d) }
	s := stamps(nil).addStamp(10, begin).addStamp(20, after(time.Second)).addStamp(30, after(time.Second+time.Millisecond)).addStamp(40, after(time.Minute))
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
	seed.Check(t, func(t *rapid.T) {
		var s stamps
		now, offset := time.UnixMilli(1_800_000_000_000), int64(0)
		for range rapid.IntRange(1, 3*maxStamps).Draw(t, "n") {
			now = now.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "ms")) * time.Millisecond)
			offset += int64(rapid.IntRange(0, 100).Draw(t, "bytes"))
			s = s.addStamp(offset, now)
		}
		if len(s) > maxStamps || s[0].offset > 100 {
			t.Fatalf("%d stamps, the first at %d", len(s), s[0].offset)
		}
		for i := range s[1:] {
			if s[i].offset >= s[i+1].offset || s[i].at >= s[i+1].at {
				t.Fatalf("%v before %v", s[i], s[i+1])
			}
		}
	})
}
