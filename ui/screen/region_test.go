package screen

import (
	"strings"
	"testing"
)

// newRegionCanvas returns a canvas that shows three rows, the middle one as a region. Later changes
// of the region are not painted.
func newRegionCanvas(t *testing.T) (*canvas, *Region) {
	t.Helper()
	c := newCanvas(t)
	if err := c.enterScreen(); err != nil {
		t.Fatal(err)
	}
	v := viewOf(strings.Repeat("-", 20), strings.Repeat(" ", 20), strings.Repeat("-", 20))
	r := &Region{Y: 1, Cuts: [][2]int{{21, 41}}}
	c.updateFrame(func(f *frame) {
		f.setView(v, 20, 3)
		f.setRegions([]*Region{r}, c.painter)
	})
	if err := c.Paint(); err != nil {
		t.Fatal(err)
	}
	<-c.dirty
	c.readWritten()
	return c, r
}

func TestEchoInRegionIsPaintedByItsReceiver(t *testing.T) {
	c, r := newRegionCanvas(t)
	if !r.ReplaceRows([]string{"echo" + strings.Repeat(" ", 16)}, nil, true) {
		t.Error("the rows were not replaced")
	}
	if text := c.readWritten(); !strings.Contains(text, "echo") {
		t.Errorf("wrote %q", text)
	}
	select {
	case <-c.dirty:
		t.Error("the painter is asked to paint what is painted")
	default:
	}
}

// Output that nobody waits for, and an echo while the painter is writing, are left to the painter.
func TestRegionIsPaintedByThePainter(t *testing.T) {
	for _, urgent := range []bool{false, true} {
		c, r := newRegionCanvas(t)
		c.busy.Lock() // as while writing
		ok := r.ReplaceRows([]string{"text" + strings.Repeat(" ", 16)}, nil, urgent)
		c.busy.Unlock()
		if text := c.readWritten(); !ok || text != "" {
			t.Errorf("urgent %v: replaced: %v, wrote %q", urgent, ok, text)
		}
		select {
		case <-c.dirty:
		default:
			t.Errorf("urgent %v: the painter is not asked to paint", urgent)
		}
		if err := c.Paint(); err != nil || !strings.Contains(c.readWritten(), "text") {
			t.Errorf("urgent %v: the painter does not paint the rows: %v", urgent, err)
		}
	}
}
