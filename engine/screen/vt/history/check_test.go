//go:build invariants

package history

import (
	"testing"

	"tandem/engine/base/invariants"
	"tandem/engine/screen/vt/graphics"
	"tandem/engine/screen/vt/grid"
)

// filled returns lines of which some have left, in several chunks.
func filled() *Lines {
	h := New(2500, 1<<20, 0)
	cells := []grid.Cell{{Glyph: 'a'}, {Glyph: 'b', Style: 3}, {Glyph: grid.FirstCluster + 1}, {Glyph: '中'}, {Glyph: grid.Tail}, {Glyph: ' '}}
	clusters := []string{"", "e\u0301"}
	for range 1800 {
		h.Push(cells, Attrs{Wrapped: true}, clusters)
		h.PushText([]byte("plain"), 2)
	}
	return &h
}

func TestCheckPanicsOnDamagedScrollback(t *testing.T) {
	for name, damage := range map[string]func(h *Lines){
		"bytes miscounted":            func(h *Lines) { h.bytes++ },
		"lines miscounted":            func(h *Lines) { h.end++ },
		"more lines than allowed":     func(h *Lines) { h.oldest-- },
		"oldest line is not there":    func(h *Lines) { h.oldest = h.end + 1 },
		"gap between chunks":          func(h *Lines) { h.chunks[1].first++ },
		"chunk left out":              func(h *Lines) { h.chunks = append(h.chunks[:1], h.chunks[2:]...) },
		"chunk in use is spare":       func(h *Lines) { h.spare = h.chunks[1] },
		"empty chunk":                 func(h *Lines) { h.chunks = append(h.chunks, &chunk{first: h.end}) },
		"picture in a line that left": func(h *Lines) { h.stripLines = []int64{h.oldest - 1} },
		"picture of no line":          func(h *Lines) { h.strips = map[int64]*graphics.Strips{h.oldest: new(graphics.Strips)} },
		"text behind the last run":    func(h *Lines) { h.chunks[1].buf[h.chunks[1].records[1].at-3]-- },
		"lines out of order":          func(h *Lines) { r := h.chunks[1].records; r[2], r[3] = r[3], r[2] },
		"text cut within a character": func(h *Lines) { h.chunks[1].buf[0] = 0xFF },
		"run longer than its text": func(h *Lines) {
			c := h.chunks[1]
			for i := range c.records {
				if _, runs, _ := c.parts(i); len(runs) > 0 {
					runs[1] = 99
					return
				}
			}
		},
	} {
		h := filled()
		check := func() {
			h.check()
			for _, c := range h.chunks {
				c.check()
			}
		}
		check()
		if invariants.Broken(func() { damage(h); check() }) == "" {
			t.Errorf("%s: no check fails", name)
		}
	}
}

func TestPushPanicsIfTheLineCannotBeUnpacked(t *testing.T) {
	h := filled()
	cells := []grid.Cell{{Glyph: 'a'}, {Glyph: grid.FirstCluster + 1}}
	if broken := invariants.Broken(func() { h.checkPushed(cells, Attrs{}, []string{"", "e\u0301"}) }); broken == "" {
		t.Error("the last line is said to be another and no check fails")
	}
	if broken := invariants.Broken(func() { h.checkPushedText([]byte("other"), linePlain, 2) }); broken == "" {
		t.Error("the last line is said to be other text and no check fails")
	}
	h.Push(cells, Attrs{}, []string{"", "e\u0301"})
	if broken := invariants.Broken(func() { h.checkPushed(cells, Attrs{}, []string{"", "o\u0301"}) }); broken == "" {
		t.Error("another cluster was packed and no check fails")
	}
}
