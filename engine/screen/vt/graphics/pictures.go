package graphics

import (
	"image"

	"tandem/engine/screen/styled"
)

// A Screen is the terminal's side of pictures.
type Screen interface {
	// Alt reports whether the alternate screen is visible.
	Alt() bool
	// Cursor returns the cursor's position.
	Cursor() (x, y int)
	// PutPlacement puts the rows of a placement on the visible screen, with its corner at x, y.
	// With move, x, y is the cursor: it moves to the last row, scrolling the screen as needed.
	// Without, rows below the screen are cut off. With cover, the placement replaces text.
	PutPlacement(p *Placement, x, y int, move, cover bool)
	// AdvanceCursor moves the cursor past a picture starting in its column, to the next row if the
	// picture reaches the last column.
	AdvanceCursor(cols int)
	// EachRow calls f for each row with strips of the main or the alternate screen, and replaces
	// its strips by the result. Lines of the main screen's scrollback are included, with y = -1.
	EachRow(alt bool, f func(y int, s *Strips) *Strips)
	// Index moves the cursor to the next row, scrolling at the end of the screen.
	Index()
	// Redraw marks all visible rows as changed, with strips or without.
	Redraw()
	// Reply sends a reply to the program.
	Reply(b []byte)
}

// Pictures are the images of one terminal and their placements.
type Pictures struct {
	Cell    image.Point // pixels of a cell
	Changes Changes

	screen     Screen
	store      Store
	loader     Loader
	placements uint64       // created so far
	spent      int          // rows scrolled by placements, less a row per byte of commands
	virtual    bool         // there may be virtual placements
	diacritics map[rune]int // of placeholders; nil until needed
}

// Changes are counters of what alters the pictures on a screen, or the text around them.
type Changes struct {
	Pictures  uint64 // how often pictures were drawn, hidden or covered; scrolling does not count
	TextMoves uint64 // how often text moved to another row and the pictures over it may have stayed
}

// New returns an empty set of pictures.
func New(cell image.Point, on Screen) Pictures { return Pictures{Cell: cell, screen: on} }

// A SixelMode selects the placement of a sixel picture.
type SixelMode struct {
	Display     bool // at the top left, without moving the cursor (DECSDM)
	Right       bool // leaves the cursor to the right (8452)
	Transparent bool // unpainted pixels keep the background (P2 is 1)
}

// HandleSixel implements DECSIXEL: data follows its final byte. Like text, the picture scrolls the
// screen.
func (p *Pictures) HandleSixel(data []byte, mode SixelMode) {
	made, below, err := FromSixels(data)
	if err != nil {
		return
	}
	i := &Image{Alt: p.screen.Alt(), Picture: made}
	p.addImage(i)
	at := p.newPlacement(i, image.Rectangle{Max: made.Size}, image.Point{}, 0, 0)
	at.text = true
	// With P2=1, text shows through unpainted pixels, so it stays.
	cover := !mode.Transparent || made.Opaque()
	if mode.Display {
		p.screen.PutPlacement(at, 0, 0, false, cover)
		return
	}
	x, y := p.screen.Cursor()
	p.screen.PutPlacement(at, x, y, true, cover)
	for n := at.Rows; n <= below/p.Cell.Y; n++ { // the sequence ended below the picture
		p.screen.Index()
	}
	if mode.Right {
		p.screen.AdvanceCursor(at.Cols)
	}
}

// maxCells is the maximum number of cells of a placement's side.
const maxCells = 1000

// newPlacement places part of a picture, offset by pixels from a cell's corner, over cols × rows
// cells. If one of these is 0, it follows from the proportions; if both are, from the pixels' size.
func (p *Pictures) newPlacement(i *Image, source image.Rectangle, offset image.Point, cols, rows int) *Placement {
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

// addImage stores an image, and removes the placements of those dropped for it.
func (p *Pictures) addImage(i *Image) { p.unplaceAll(p.store.Add(i, p.imagesInUse)) }

func (p *Pictures) unplaceAll(images []*Image) {
	dropped := map[*Image]bool{}
	for _, i := range images {
		if i.placed {
			dropped[i] = true
		}
	}
	if len(dropped) > 0 {
		for _, alt := range [...]bool{false, true} {
			p.removePlacements(alt, func(at *Placement) bool { return dropped[at.image] })
		}
	}
}

// loadStep is how many bytes of a picture arrive between two calls of trim for it.
const loadStep = 4 << 20

// makeRoom drops images to fit the one being loaded.
func (p *Pictures) makeRoom() {
	size := len(p.loader.data)
	// Making room searches the screens, so it must not happen for every piece.
	if size/loadStep != p.store.loading/loadStep {
		p.store.loading = size
		p.unplaceAll(p.store.trim(p.imagesInUse))
	}
	p.store.loading = size
}

// Usage returns the usage of the pictures; nil if there have been none.
func (p *Pictures) Usage() *Usage { return p.store.usage }

// imagesInUse returns the images on the screens and in the scrollback.
func (p *Pictures) imagesInUse() map[*Image]bool {
	shown := map[*Image]bool{}
	p.eachStrip(func(_ bool, _ int, one strip) { shown[one.at.image] = true })
	return shown
}

func (p *Pictures) eachStrip(f func(alt bool, y int, one strip)) {
	for _, alt := range [...]bool{false, true} {
		p.screen.EachRow(alt, func(y int, s *Strips) *Strips {
			for _, one := range s.all {
				f(alt, y, one)
			}
			return s
		})
	}
}

// removePlacements removes matching placements from a screen and its scrollback.
func (p *Pictures) removePlacements(alt bool, match func(*Placement) bool) {
	p.screen.EachRow(alt, func(_ int, s *Strips) *Strips { return s.withoutPlacements(match) })
}

// forgetImage removes an image and its placements.
func (p *Pictures) forgetImage(i *Image) {
	p.store.Remove(func(old *Image) bool { return old == i })
	if !i.placed {
		return
	}
	p.removePlacements(i.Alt, func(at *Placement) bool { return at.image == i })
}

// ForgetAlt removes the images of the alternate screen.
func (p *Pictures) ForgetAlt() { p.store.Remove(func(i *Image) bool { return i.Alt }) }

// Forget removes everything, including an unfinished picture.
func (p *Pictures) Forget() {
	p.store.Remove(func(*Image) bool { return true })
	p.loader, p.virtual = Loader{}, false
	for _, alt := range [...]bool{false, true} {
		p.removePlacements(alt, func(*Placement) bool { return true })
	}
}

// Picture returns a picture by the number in a Placement; nil if it is no longer kept.
func (p *Pictures) Picture(number uint64) *Picture {
	if i := p.store.findNewest(func(i *Image) bool { return i.Picture.Number == number }); i != nil {
		return i.Picture
	}
	return nil
}
