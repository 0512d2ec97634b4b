package graphics

import (
	"image"

	"tandem/engine/styled"
)

// A Screen is where pictures are placed.
type Screen interface {
	// Alt says that the alternate screen is shown.
	Alt() bool
	// Cursor is where the cursor is.
	Cursor() (x, y int)
	// Put puts a placement's rows on the screen shown, its corner at a cell. With move the
	// cursor, which is there, goes to the last row, and the screen scrolls where it ends;
	// else the rows below the screen are cut off. With cover it takes the place of text.
	Put(p *Placement, x, y int, move, cover bool)
	// Behind moves the cursor behind a picture that began in its column, to the next row if
	// that is behind the last column.
	Behind(cols int)
	// Each calls f for the strips of all rows of the main or of the alternate screen that
	// have some, and of the main screen's scrollback, whose rows are -1, and keeps what it
	// gives in their place.
	Each(alt bool, f func(y int, s *Strips) *Strips)
	// Index moves the cursor to the next row, scrolling where the screen ends.
	Index()
	// Redraw has all rows shown be drawn anew, whether they have strips or not.
	Redraw()
	// Answer takes what the program is to be answered.
	Answer(b []byte)
}

// Pictures are what programs have sent to one terminal and what has been made of it.
type Pictures struct {
	Cell image.Point // pixels of a cell

	on         Screen
	store      Store
	loader     Loader
	placements uint64       // made so far
	spent      int          // rows scrolled by placements, less a row per byte of commands
	virtual    bool         // placeholders may be pictures
	diacritics map[rune]int // of placeholders; nil until needed
}

// New are no pictures yet.
func New(cell image.Point, on Screen) Pictures { return Pictures{Cell: cell, on: on} }

// A SixelMode says how a sixel picture is placed.
type SixelMode struct {
	Display bool // in the screen's corner, and the cursor stays (DECSDM)
	Right   bool // the cursor goes behind it (8452)
	Through bool // what is not painted is left as it is (P2 is 1)
}

// Sixel does DECSIXEL: data is what stands behind its final byte. Like text, the picture
// scrolls the screen.
func (p *Pictures) Sixel(data []byte, mode SixelMode) {
	made, below, err := FromSixels(data)
	if err != nil {
		return
	}
	i := &Image{Alt: p.on.Alt(), Picture: made}
	p.keep(i)
	at := p.placed(i, image.Rectangle{Max: made.Size}, image.Point{}, 0, 0)
	at.text = true
	cover := !mode.Through || made.Opaque()
	if mode.Display {
		p.on.Put(at, 0, 0, false, cover)
		return
	}
	x, y := p.on.Cursor()
	p.on.Put(at, x, y, true, cover)
	for n := at.Rows; n <= below/p.Cell.Y; n++ { // the sequence ends with a new row of sixels
		p.on.Index()
	}
	if mode.Right {
		p.on.Behind(at.Cols)
	}
}

// maxCells is the most cells a side of a placement has.
const maxCells = 1000

// placed makes a placement of a part of a picture, so many pixels from a cell's corner
// and over cols×rows cells; where these are 0 it is as large as its pixels, in their
// proportions.
func (p *Pictures) placed(i *Image, source image.Rectangle, offset image.Point, cols, rows int) *Placement {
	cell, size := p.Cell, source.Size()
	box := image.Rectangle{Min: offset, Max: image.Pt(cols*cell.X, rows*cell.Y)}
	switch {
	case cols == 0 && rows == 0:
		box.Max = offset.Add(size)
	case cols == 0:
		box.Max.X = offset.X + max((box.Max.Y-offset.Y)*size.X/size.Y, 1)
	case rows == 0:
		box.Max.Y = offset.Y + max((box.Max.X-offset.X)*size.Y/size.X, 1)
	}
	p.placements++
	i.placed = true
	return &Placement{image: i, Placement: styled.Placement{
		ID: p.placements, Picture: i.Picture.Number, Source: source, Cell: cell, Box: box,
		Cols: min((box.Max.X+cell.X-1)/cell.X, maxCells), Rows: min((box.Max.Y+cell.Y-1)/cell.Y, maxCells),
	}}
}

// keep keeps an image, and takes off the screens what has to go for it.
func (p *Pictures) keep(i *Image) { p.forgetAll(p.store.Add(i, p.shown)) }

func (p *Pictures) forgetAll(all []*Image) {
	gone := map[*Image]bool{}
	for _, i := range all {
		if i.placed {
			gone[i] = true
		}
	}
	if len(gone) > 0 {
		for _, alt := range [...]bool{false, true} {
			p.unplace(alt, func(at *Placement) bool { return gone[at.image] })
		}
	}
}

// loadStep is how many bytes of a picture arrive before makeRoom drops others for them.
const loadStep = 4 << 20

// makeRoom drops images to fit the one being loaded.
func (p *Pictures) makeRoom() {
	size := len(p.loader.data)
	if size/loadStep != p.store.loading/loadStep {
		p.store.loading = size
		p.forgetAll(p.store.trim(p.shown))
	}
	p.store.loading = size
}

// Usage returns the usage of the pictures; nil if there have been none.
func (p *Pictures) Usage() *Usage { return p.store.usage }

// shown are the images that the screens and the scrollback show.
func (p *Pictures) shown() map[*Image]bool {
	shown := map[*Image]bool{}
	p.eachStrip(func(_ bool, _ int, one strip) { shown[one.at.image] = true })
	return shown
}

func (p *Pictures) eachStrip(f func(alt bool, y int, one strip)) {
	for _, alt := range [...]bool{false, true} {
		p.on.Each(alt, func(y int, s *Strips) *Strips {
			for _, one := range s.all {
				f(alt, y, one)
			}
			return s
		})
	}
}

// unplace takes placements off a screen and its scrollback.
func (p *Pictures) unplace(alt bool, is func(*Placement) bool) {
	p.on.Each(alt, func(_ int, s *Strips) *Strips { return s.dropped(is) })
}

// forget takes an image off the screens and out of the store.
func (p *Pictures) forget(i *Image) {
	p.store.Remove(func(old *Image) bool { return old == i })
	if !i.placed {
		return
	}
	p.unplace(i.Alt, func(at *Placement) bool { return at.image == i })
}

// ForgetAlt forgets what was sent while the alternate screen was shown.
func (p *Pictures) ForgetAlt() { p.store.Remove(func(i *Image) bool { return i.Alt }) }

// Forget forgets all, and what was to become a picture.
func (p *Pictures) Forget() {
	p.store.Remove(func(*Image) bool { return true })
	p.loader, p.virtual = Loader{}, false
	for _, alt := range [...]bool{false, true} {
		p.unplace(alt, func(*Placement) bool { return true })
	}
}

// Picture is the picture with a number that a Placement names; nil if it is not kept
// any more.
func (p *Pictures) Picture(number uint64) *Picture {
	if i := p.store.last(func(i *Image) bool { return i.Picture.Number == number }); i != nil {
		return i.Picture
	}
	return nil
}
