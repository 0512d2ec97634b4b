package picture

import (
	_ "embed" // the font
	"image"
	"sync"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

//go:embed font/JetBrainsMono-Regular.ttf
var regularTTF []byte

//go:embed font/JetBrainsMono-Bold.ttf
var boldTTF []byte

// Sizes in pixels at scale 1: the font's characters are 0.6 em wide and lines
// 1.32 em high, of which 1.02 em are above the base line.
const (
	emPixels   = 15
	cellWidth  = 9
	cellHeight = 20
	ascent     = 16
)

// slant is how far italics lean: JetBrains Mono's own angle is 9 degrees.
const slant = 0.158

// faces are the parsed fonts.
type faces struct {
	regular, bold *sfnt.Font
}

// parsedFaces parses what is embedded, once and when it is first needed.
var parsedFaces = sync.OnceValues(func() (faces, error) {
	regular, err := sfnt.Parse(regularTTF)
	if err != nil {
		return faces{}, err
	}
	bold, err := sfnt.Parse(boldTTF)
	return faces{regular, bold}, err
})

// A glyphKey says which mask of a character is meant.
type glyphKey struct {
	r            rune
	bold, italic bool
}

// A glyphSet makes masks of characters and keeps them for one picture.
type glyphSet struct {
	faces faces
	scale int
	buf   sfnt.Buffer
	masks map[glyphKey]*image.Alpha

	system systemFonts
	wide   map[wideKey]*image.Alpha // of system, what was looked up
}

// A wideKey says which mask of a character is meant that a font of the system has.
type wideKey struct {
	r     rune
	cells int
}

// close closes the fonts of the system that were opened.
func (g *glyphSet) close() {
	g.system.close()
}

// systemMask is the shape of a character in its cells from a font of the system;
// nil if there is none.
func (g *glyphSet) systemMask(r rune, cells int) *image.Alpha {
	k := wideKey{r, cells}
	m, ok := g.wide[k]
	if !ok {
		m = g.system.mask(r, cells*cellWidth*g.scale, cellHeight*g.scale, ascent*g.scale, emPixels*g.scale)
		g.wide[k] = m
	}
	return m
}

func newGlyphSet(scale int) (*glyphSet, error) {
	f, err := parsedFaces()
	return &glyphSet{faces: f, scale: scale, masks: map[glyphKey]*image.Alpha{}, wide: map[wideKey]*image.Alpha{}}, err
}

// mask gives a character's shape relative to its cell; nil if the font has
// none.
func (g *glyphSet) mask(k glyphKey) *image.Alpha {
	m, ok := g.masks[k]
	if !ok {
		m = g.rasterize(k)
		g.masks[k] = m
	}
	return m
}

func (g *glyphSet) rasterize(k glyphKey) *image.Alpha {
	f := g.faces.regular
	if k.bold {
		f = g.faces.bold
	}
	index, err := f.GlyphIndex(&g.buf, k.r)
	if err != nil || index == 0 {
		return nil
	}
	segments, err := f.LoadGlyph(&g.buf, index, fixed.I(emPixels*g.scale), nil)
	if err != nil {
		return nil
	}
	// A character may reach a little beyond its cell.
	margin := cellWidth * g.scale
	w, h := 3*margin, cellHeight*g.scale
	z := vector.NewRasterizer(w, h)
	base := float32(ascent * g.scale)
	at := func(p fixed.Point26_6) (float32, float32) {
		x, y := float32(p.X)/64, float32(p.Y)/64
		if k.italic {
			x -= slant * y
		}
		return x + float32(margin), y + base
	}
	trace(z, segments, at)
	mask := image.NewAlpha(image.Rect(0, 0, w, h))
	z.Draw(mask, mask.Rect, image.Opaque, image.Point{})
	mask.Rect = mask.Rect.Sub(image.Pt(margin, 0))
	return mask
}

// trace draws a character's outline.
func trace(z *vector.Rasterizer, segments sfnt.Segments, at func(fixed.Point26_6) (float32, float32)) {
	for i, s := range segments {
		ax, ay := at(s.Args[0])
		bx, by := at(s.Args[1])
		cx, cy := at(s.Args[2])
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if i > 0 {
				z.ClosePath()
			}
			z.MoveTo(ax, ay)
		case sfnt.SegmentOpLineTo:
			z.LineTo(ax, ay)
		case sfnt.SegmentOpQuadTo:
			z.QuadTo(ax, ay, bx, by)
		case sfnt.SegmentOpCubeTo:
			z.CubeTo(ax, ay, bx, by, cx, cy)
		}
	}
	z.ClosePath()
}
