package graphics

import (
	"errors"
	"fmt"
	"image"
	"slices"
)

// MaxCommand bounds a command, in bytes. Programs send at most 4 KB of base64 in one, as
// they should, or all that they have.
const MaxCommand = 8 << 20

// maxScrolled is how many rows placements may scroll the screen by, in addition to one row per byte
// of commands; placements are cut off there. Without it, a short command could scroll 1,000 rows.
const maxScrolled = 16 << 10

// What a command asks for and cannot get, as kitty says it to programs.
var (
	errNames    = errors.New("EINVAL:only one of i and I")
	errUnknown  = errors.New("ENOENT:no such image")
	errRelative = errors.New("EINVAL:placements relative to others are not supported")
	errFrames   = errors.New("EINVAL:animations are not supported")
	errOutside  = errors.New("EINVAL:nothing of the image is in the source rectangle")
)

// Kitty does a command of kitty's graphics protocol, which stands behind the G. It reports
// whether that was more than a piece of a picture to come.
func (p *Pictures) Kitty(b []byte) (done bool) {
	p.spent = max(p.spent-len(b), 0)
	c, ok := ParseCommand(b)
	if !ok {
		return false
	}
	switch a := c.Action(); {
	case p.loader.Continues(&c) && c.Has('m') && !c.Has('d'):
		return p.load(c)
	case a == 't' || a == 'T' || a == 'q' || a == 'f':
		return p.load(c)
	case a == 'p':
		p.place(&c)
	case a == 'd':
		p.delete(&c)
	case a == 'a' || a == 'c':
		p.answer(c.ID('q'), c.ID('i'), c.ID('I'), 0, errFrames)
	}
	return true
}

// load adds a command's data to a picture. It rejects animation frames after the first. whole
// reports whether the picture is complete.
func (p *Pictures) load(c Command) (whole bool) {
	done, picture, err := p.loader.Add(c)
	p.makeRoom()
	if done == nil {
		return false
	}
	quiet, id, number := c.ID('q'), done.ID('i'), done.ID('I')
	if !c.Has('q') {
		quiet = done.ID('q')
	}
	switch {
	case id != 0 && number != 0:
		err = errNames
	case err != nil || done.Action() == 'q':
	case done.Action() == 'f':
		err = errFrames
	default:
		i := p.take(done, picture)
		if id = i.ID; done.Action() == 'T' {
			err = p.show(done, i)
		}
	}
	p.answer(quiet, id, number, done.ID('p'), err)
	return true
}

// take keeps a picture under the name that a command gives it.
func (p *Pictures) take(c *Command, picture *Picture) *Image {
	i := &Image{ID: c.ID('i'), Number: c.ID('I'), Alt: p.on.Alt(), Picture: picture}
	if i.Number != 0 {
		i.ID = p.store.FreeID(i.Alt)
	}
	if old := p.store.Find(i.Alt, i.ID); old != nil {
		p.forget(old)
	}
	p.keep(i)
	return i
}

// answer tells the program what became of a command, if the image has a name, and if it
// wants to know.
func (p *Pictures) answer(quiet, id, number, place uint32, err error) {
	if id == 0 && number == 0 || quiet >= 2 || quiet == 1 && err == nil {
		return
	}
	head := ""
	for _, key := range []struct {
		name byte
		n    uint32
	}{{'i', id}, {'I', number}, {'p', place}} {
		if key.n != 0 {
			head += fmt.Sprintf(",%c=%d", key.name, key.n)
		}
	}
	text := "OK"
	if err != nil {
		text = err.Error()
	}
	p.on.Answer(fmt.Appendf(nil, "\x1b_G%s;%s\x1b\\", head[1:], text))
}

// named is the image that a command names.
func (p *Pictures) named(c *Command) *Image {
	if id := c.ID('i'); id != 0 {
		return p.store.Find(p.on.Alt(), id)
	}
	return p.store.Numbered(p.on.Alt(), c.ID('I'))
}

// place does a=p.
func (p *Pictures) place(c *Command) {
	i := p.named(c)
	id, err := c.ID('i'), errUnknown
	if i != nil {
		id, err = i.ID, p.show(c, i)
	}
	p.answer(c.ID('q'), id, c.ID('I'), c.ID('p'), err)
}

// show shows an image where the cursor is, or with U=1 where placeholders will be.
func (p *Pictures) show(c *Command, i *Image) error {
	size := i.Picture.Size
	cols, rows := c.Int('c', maxCells), c.Int('r', maxCells)
	if c.Int('U', 1) == 1 {
		p.placements++
		i.hold(Virtual{ID: c.ID('p'), Cols: cols, Rows: rows, Serial: p.placements})
		p.virtual = true
		p.on.Redraw()
		return nil
	}
	if c.ID('P') != 0 {
		return errRelative
	}
	source := image.Rectangle{Min: image.Pt(c.Int('x', MaxSide), c.Int('y', MaxSide)), Max: size}
	if w := c.Int('w', MaxSide); w > 0 {
		source.Max.X = source.Min.X + w
	}
	if h := c.Int('h', MaxSide); h > 0 {
		source.Max.Y = source.Min.Y + h
	}
	if source = source.Intersect(image.Rectangle{Max: size}); source.Empty() {
		return errOutside
	}
	at := p.placed(i, source, image.Pt(c.Int('X', p.Cell.X-1), c.Int('Y', p.Cell.Y-1)), cols, rows)
	at.id, at.Z = c.ID('p'), c.Z()
	if at.id != 0 {
		p.unplace(i.Alt, func(old *Placement) bool { return old.image == i && old.id == at.id })
	}
	move := c.Int('C', 1) == 0
	if move {
		at.Rows = max(min(at.Rows, maxScrolled-p.spent), 1)
		p.spent += at.Rows
	}
	x, y := p.on.Cursor()
	p.on.Put(at, x, y, move, false)
	if move {
		p.on.Behind(at.Cols)
	}
	return nil
}

// delete does a=d: it takes placements off the screen, and with a capital letter images
// that then have none out of the store.
func (p *Pictures) delete(c *Command) {
	what := c.Letter('d', 'a')
	free := what >= 'A' && what <= 'Z'
	what |= 0x20
	if p.loader.Loading() && what != 'f' {
		p.loader = Loader{}
	}
	touched := map[*Image]bool{}
	if is := p.byName(what, c); is != nil {
		for _, i := range p.store.All() {
			touched[i] = i.Alt == p.on.Alt() && is(i)
		}
		place := c.ID('p')
		for i := range touched {
			if touched[i] && what != 'r' {
				i.Virtual = slices.DeleteFunc(i.Virtual, func(v Virtual) bool { return place == 0 || v.ID == place })
			}
		}
		p.unplace(p.on.Alt(), func(at *Placement) bool {
			return touched[at.image] && (what == 'r' || place == 0 || at.id == place)
		})
		p.on.Redraw()
	} else if is := p.byCell(what, c); is != nil {
		gone := map[*Placement]bool{}
		p.eachStrip(func(alt bool, y int, one strip) {
			if alt == p.on.Alt() && y >= 0 && is(one, y) {
				gone[one.at], touched[one.at.image] = true, true
			}
		})
		p.unplace(p.on.Alt(), func(at *Placement) bool { return gone[at] })
	}
	if !free {
		return
	}
	shown := p.shown()
	p.store.Remove(func(i *Image) bool { return touched[i] && !shown[i] && len(i.Virtual) == 0 })
}

// byName are the images that a delete command names; nil if it is about places.
func (p *Pictures) byName(what byte, c *Command) func(*Image) bool {
	switch what {
	case 'i':
		return func(i *Image) bool { return i.ID != 0 && i.ID == c.ID('i') }
	case 'n':
		newest := p.store.Numbered(p.on.Alt(), c.ID('I'))
		return func(i *Image) bool { return i == newest }
	case 'r':
		return func(i *Image) bool { return i.ID != 0 && i.ID >= c.ID('x') && i.ID <= c.ID('y') }
	}
	return nil
}

// byCell are the strips on the screen whose placements a delete command is about. Sixels
// are none of its business.
func (p *Pictures) byCell(what byte, c *Command) func(one strip, y int) bool {
	x, y, z := c.Int('x', maxCells+1)-1, c.Int('y', maxCells+1)-1, c.Z()
	if what == 'c' {
		x, y = p.on.Cursor()
	}
	is := map[byte]func(one strip, row int) bool{
		'a': func(strip, int) bool { return true },
		'c': func(one strip, row int) bool { return row == y && one.over(x) },
		'p': func(one strip, row int) bool { return row == y && one.over(x) },
		'q': func(one strip, row int) bool { return row == y && one.over(x) && one.at.Z == z },
		'x': func(one strip, row int) bool { return one.over(x) },
		'y': func(one strip, row int) bool { return row == y },
		'z': func(one strip, row int) bool { return one.at.Z == z },
	}[what]
	if is == nil {
		return nil
	}
	return func(one strip, row int) bool { return !one.at.text && is(one, row) }
}
