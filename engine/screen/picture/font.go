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

// Sizes in pixels at scale 1. The font's characters are 0.6 em wide and its lines 1.32 em high,
// 1.02 em of which are above the baseline.
const (
	emPixels   = 15
	cellWidth  = 9
	cellHeight = 20
	ascent     = 16
)

// slant is the slope of italics; JetBrains Mono uses an angle of 9 degrees.
const slant = 0.158

type fontPair struct {
	regular, bold *sfnt.Font
}

// loadFonts parses the embedded fonts on first use.
var loadFonts = sync.OnceValues(func() (fontPair, error) {
	regular, err := sfnt.Parse(regularTTF)
	if err != nil {
		return fontPair{}, err
	}
	bold, err := sfnt.Parse(boldTTF)
	return fontPair{regular, bold}, err
})

// A glyphKey identifies the mask of a character.
type glyphKey struct {
	r            rune
	bold, italic bool
}

// A glyphSet rasterizes characters and caches the masks for one picture.
type glyphSet struct {
	embedded fontPair
	scale    int
	buf      sfnt.Buffer
	masks    map[glyphKey]*image.Alpha

	system systemFonts
	wide   map[wideKey]*image.Alpha // cached masks of system fonts
}

// A wideKey identifies the mask of a character from a system font.
type wideKey struct {
	r     rune
	cells int
}

func (g *glyphSet) close() {
	g.system.close()
}

// systemMask returns the shape of a character from a system font, within its cells; nil if there
// is none.
func (g *glyphSet) systemMask(r rune, cells int) *image.Alpha {
	k := wideKey{r, cells}
	m, ok := g.wide[k]
	if !ok {
		m = g.system.maskOf(r, cells*cellWidth*g.scale, cellHeight*g.scale, ascent*g.scale, emPixels*g.scale)
		g.wide[k] = m
	}
	return m
}

func newGlyphSet(scale int) (*glyphSet, error) {
	f, err := loadFonts()
	return &glyphSet{embedded: f, scale: scale, masks: map[glyphKey]*image.Alpha{}, wide: map[wideKey]*image.Alpha{}}, err
}

// maskOf returns a character's shape relative to its cell; nil if the font lacks it.
func (g *glyphSet) maskOf(k glyphKey) *image.Alpha {
	m, ok := g.masks[k]
	if !ok {
		m = g.rasterize(k)
		g.masks[k] = m
	}
	return m
}

func (g *glyphSet) rasterize(k glyphKey) *image.Alpha {
	f := g.embedded.regular
	if k.bold {
		f = g.embedded.bold
	}
	index, err := f.GlyphIndex(&g.buf, k.r)
	if err != nil || index == 0 {
		return nil
	}
	segments, err := f.LoadGlyph(&g.buf, index, fixed.I(emPixels*g.scale), nil)
	if err != nil {
		return nil
	}
	// Leave a margin: a character may extend slightly beyond its cell.
	margin := cellWidth * g.scale
	w, h := 3*margin, cellHeight*g.scale
	z := vector.NewRasterizer(w, h)
	base := float32(ascent * g.scale)
	at := func(p fixed.Point26_6) (float32, float32) {
		x, y := float32(p.X)/64, float32(p.Y)/64
		// The font has no italics: slant the upright shape.
		if k.italic {
			x -= slant * y
		}
		return x + float32(margin), y + base
	}
	addGlyph(z, segments, at)
	mask := image.NewAlpha(image.Rect(0, 0, w, h))
	z.Draw(mask, mask.Rect, image.Opaque, image.Point{})
	mask.Rect = mask.Rect.Sub(image.Pt(margin, 0))
	return mask
}

// addGlyph adds a character's outline to z.
func addGlyph(z *vector.Rasterizer, segments sfnt.Segments, at func(fixed.Point26_6) (float32, float32)) {
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
