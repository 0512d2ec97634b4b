package graphics

import (
	"errors"
	"fmt"
	"image"
	"slices"
)

// MaxCommand limits a command, in bytes. Programs send 4 KB of base64 per command, as specified, or
// everything in one.
const MaxCommand = 8 << 20

// maxScrolled is how many rows placements may scroll the screen by, in addition to one row per byte
// of commands; placements are cut off there. Without it, a short command could scroll 1,000 rows.
const maxScrolled = 16 << 10

// Errors sent to programs, worded as kitty does.
var (
	errNames    = errors.New("EINVAL:only one of i and I")
	errUnknown  = errors.New("ENOENT:no such image")
	errRelative = errors.New("EINVAL:placements relative to others are not supported")
	errFrames   = errors.New("EINVAL:animations are not supported")
	errOutside  = errors.New("EINVAL:the source rectangle is outside the image")
)

// HandleKitty executes a command of kitty's graphics protocol, given without its G.
func (p *Pictures) HandleKitty(b []byte) {
	if p.executeCommand(b) {
		p.Changes.Pictures++ // a placeholder may show the new picture
	}
}

// executeCommand executes a command. done is false for a piece of an incomplete picture and for an
// invalid command.
func (p *Pictures) executeCommand(b []byte) (done bool) {
	p.spent = max(p.spent-len(b), 0)
	c, ok := ParseCommand(b)
	if !ok {
		return false
	}
	switch a := c.Action(); {
	case p.loader.Continues(&c) && c.Has('m') && !c.Has('d'):
		return p.loadData(c)
	case a == 't' || a == 'T' || a == 'q' || a == 'f':
		return p.loadData(c)
	case a == 'p':
		p.placeImage(&c)
	case a == 'd':
		p.deletePlacements(&c)
	case a == 'a' || a == 'c':
		p.sendReply(c.ID('q'), c.ID('i'), c.ID('I'), 0, errFrames)
	}
	return true
}

// loadData adds a command's data to a picture. It rejects animation frames after the first. whole
// reports whether the picture is complete.
func (p *Pictures) loadData(c Command) (whole bool) {
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
		i := p.storePicture(done, picture)
		if id = i.ID; done.Action() == 'T' {
			err = p.showImage(done, i)
		}
	}
	p.sendReply(quiet, id, number, done.ID('p'), err)
	return true
}

// storePicture stores a picture under the command's ID or number.
func (p *Pictures) storePicture(c *Command, picture *Picture) *Image {
	i := &Image{ID: c.ID('i'), Number: c.ID('I'), Alt: p.screen.Alt(), Picture: picture}
	if i.Number != 0 {
		i.ID = p.store.FreeID(i.Alt)
	}
	if old := p.store.Find(i.Alt, i.ID); old != nil {
		p.forgetImage(old)
	}
	p.addImage(i)
	return i
}

// sendReply reports a command's result to the program, if the image has an ID or number and the
// program has not turned replies off.
func (p *Pictures) sendReply(quiet, id, number, placement uint32, err error) {
	if id == 0 && number == 0 || quiet >= 2 || quiet == 1 && err == nil {
		return
	}
	head := ""
	for _, key := range []struct {
		name byte
		n    uint32
	}{{'i', id}, {'I', number}, {'p', placement}} {
		if key.n != 0 {
			head += fmt.Sprintf(",%c=%d", key.name, key.n)
		}
	}
	text := "OK"
	if err != nil {
		text = err.Error()
	}
	p.screen.Reply(fmt.Appendf(nil, "\x1b_G%s;%s\x1b\\", head[1:], text))
}

// findImage returns the image named by a command.
func (p *Pictures) findImage(c *Command) *Image {
	if id := c.ID('i'); id != 0 {
		return p.store.Find(p.screen.Alt(), id)
	}
	return p.store.FindByNumber(p.screen.Alt(), c.ID('I'))
}

// placeImage implements a=p.
func (p *Pictures) placeImage(c *Command) {
	i := p.findImage(c)
	id, err := c.ID('i'), errUnknown
	if i != nil {
		id, err = i.ID, p.showImage(c, i)
	}
	p.sendReply(c.ID('q'), id, c.ID('I'), c.ID('p'), err)
}

// showImage shows an image at the cursor or, with U=1, at its placeholders.
func (p *Pictures) showImage(c *Command, i *Image) error {
	size := i.Picture.Size
	cols, rows := c.Int('c', maxCells), c.Int('r', maxCells)
	if c.Int('U', 1) == 1 {
		p.placements++
		i.addVirtual(Virtual{ID: c.ID('p'), Cols: cols, Rows: rows, Serial: p.placements})
		p.virtual = true
		p.screen.Redraw()
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
	at := p.newPlacement(i, source, image.Pt(c.Int('X', p.Cell.X-1), c.Int('Y', p.Cell.Y-1)), cols, rows)
	at.id, at.Z = c.ID('p'), c.Z()
	// A placement with the same ID moves instead of being duplicated.
	if at.id != 0 {
		p.removePlacements(i.Alt, func(old *Placement) bool { return old.image == i && old.id == at.id })
	}
	move := c.Int('C', 1) == 0
	if move {
		at.Rows = max(min(at.Rows, maxScrolled-p.spent), 1)
		p.spent += at.Rows
	}
	x, y := p.screen.Cursor()
	p.screen.PutPlacement(at, x, y, move, false)
	if move {
		p.screen.AdvanceCursor(at.Cols)
	}
	return nil
}

// deletePlacements implements a=d: it removes placements from the screen and, with a capital
// letter, images left without any.
func (p *Pictures) deletePlacements(c *Command) {
	target := c.Letter('d', 'a')
	free := target >= 'A' && target <= 'Z'
	target |= 0x20
	// By the protocol, a delete command aborts an unfinished transfer.
	if p.loader.Loading() && target != 'f' {
		p.loader = Loader{}
	}
	touched := map[*Image]bool{}
	if match := p.matchImages(target, c); match != nil {
		for _, i := range p.store.All() {
			touched[i] = i.Alt == p.screen.Alt() && match(i)
		}
		placement := c.ID('p')
		for i := range touched {
			if touched[i] && target != 'r' {
				i.Virtual = slices.DeleteFunc(i.Virtual, func(v Virtual) bool { return placement == 0 || v.ID == placement })
			}
		}
		p.removePlacements(p.screen.Alt(), func(at *Placement) bool {
			return touched[at.image] && (target == 'r' || placement == 0 || at.id == placement)
		})
		p.screen.Redraw()
	} else if match := p.matchStrips(target, c); match != nil {
		removed := map[*Placement]bool{}
		p.eachStrip(func(alt bool, y int, one strip) {
			if alt == p.screen.Alt() && y >= 0 && match(one, y) {
				removed[one.at], touched[one.at.image] = true, true
			}
		})
		p.removePlacements(p.screen.Alt(), func(at *Placement) bool { return removed[at] })
	}
	if !free {
		return
	}
	shown := p.imagesInUse()
	p.store.Remove(func(i *Image) bool { return touched[i] && !shown[i] && len(i.Virtual) == 0 })
}

// matchImages returns a filter for the images named by a delete command; nil if the command selects
// cells.
func (p *Pictures) matchImages(target byte, c *Command) func(*Image) bool {
	switch target {
	case 'i':
		return func(i *Image) bool { return i.ID != 0 && i.ID == c.ID('i') }
	case 'n':
		newest := p.store.FindByNumber(p.screen.Alt(), c.ID('I'))
		return func(i *Image) bool { return i == newest }
	case 'r':
		return func(i *Image) bool { return i.ID != 0 && i.ID >= c.ID('x') && i.ID <= c.ID('y') }
	}
	return nil
}

// matchStrips returns a filter for the strips selected by a delete command. Sixels never match:
// they belong to another protocol.
func (p *Pictures) matchStrips(target byte, c *Command) func(one strip, y int) bool {
	x, y, z := c.Int('x', maxCells+1)-1, c.Int('y', maxCells+1)-1, c.Z()
	if target == 'c' {
		x, y = p.screen.Cursor()
	}
	match := map[byte]func(one strip, row int) bool{
		'a': func(strip, int) bool { return true },
		'c': func(one strip, row int) bool { return row == y && one.covers(x) },
		'p': func(one strip, row int) bool { return row == y && one.covers(x) },
		'q': func(one strip, row int) bool { return row == y && one.covers(x) && one.at.Z == z },
		'x': func(one strip, row int) bool { return one.covers(x) },
		'y': func(one strip, row int) bool { return row == y },
		'z': func(one strip, row int) bool { return one.at.Z == z },
	}[target]
	if match == nil {
		return nil
	}
	return func(one strip, row int) bool { return !one.at.text && match(one, row) }
}
