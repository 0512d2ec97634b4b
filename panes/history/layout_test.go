package history

import (
	"regexp"
	"testing"

	"tandem/panes/panestest"
)

func TestHistoryFitsColumnsAndDetailsToItsSize(t *testing.T) {
	d := onHistory(t, 120, 36, func(e *fakeEngine) { e.AddRun("make") })
	details := regexp.MustCompile("details ─")
	for _, size := range []struct {
		w, h    int
		details bool
		want    string
	}{
		{200, 60, true, `runs +folder +who +├─ details ─`},
		{80, 24, true, `^   exit +took +age +command +folder *$`},
		{80, 24, true, `─ output ─`},
		{60, 15, false, `^   exit +age +command *$`},
		{120, 36, true, `─ details ─+┬─ output ─`},
	} {
		d.pane.Resize(size.w, size.h-2)
		d.WaitMatch(size.want)
		if has := details.MatchString(d.Screen()); has != size.details {
			t.Errorf("%d×%d shows details: %v\n%s", size.w, size.h, has, d.Screen())
		}
	}
}

func TestRowsShowExitStatusAndRuns(t *testing.T) {
	d := onHistory(t, 120, 36, func(e *fakeEngine) {
		e.AddRun("make")
		e.AddRun("(exit 7)", panestest.WithExit(7))
		e.AddRun("make")
	})
	d.WaitMatch(`▌ +✓ .* make .* ×2 `)
	d.WaitText("2 runs")
	d.Press("f")
	d.WaitMatch(`✗ 7 .*\(exit 7\)`)
	d.WaitText("1 found")
	d.Press("esc", "d")
	d.WaitText("2 found")
	d.Press("esc", "/", "'exit", "enter")
	d.WaitText("1 found")
}

func TestFilteredListFollowsDeletedAndNewCommands(t *testing.T) {
	d := onHistory(t, 120, 36, func(e *fakeEngine) {
		e.AddRun("make")
		e.AddRun("touch made")
		e.AddRun("touch made")
	})
	d.Press("/", "'made", "enter")
	d.WaitText("1 found")
	d.WaitText("2 runs")
	d.Press("D")
	d.WaitText("Delete all 2 runs")
	d.Press("y")
	d.WaitText("0 found")
	d.engine.AddRun("ls")
	d.engine.AddRun("touch made")
	d.WaitText("1 found")
	d.waitChosen("touch made")
}
