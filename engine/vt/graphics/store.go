package graphics

import (
	"slices"

	"tandem/engine/styled"
)

// Bounds of what a store keeps.
const (
	MaxBytes  = 64 << 20
	maxImages = 4096
	// sweepStep is how much comes in before what nobody can see is looked for.
	sweepStep = 8 << 20
)

// An Image is a picture that a program has given a terminal.
type Image struct {
	ID, Number uint32 // as the program calls it; 0 for none
	Alt        bool   // it belongs to the alternate screen, which has names of its own
	Picture    *Picture
	Virtual    []Virtual
}

// A Virtual is a placement that shows where its program prints placeholders.
type Virtual struct {
	ID         uint32
	Cols, Rows int
	Serial     uint64            // of the placement in its session
	Shown      *styled.Placement `json:"-"` // nil until it is seen
}

// maxVirtual is how many virtual placements an image has; the oldest go first.
const maxVirtual = 64

// hold adds a virtual placement, in place of one that is called the same.
func (i *Image) hold(v Virtual) {
	i.Virtual = slices.DeleteFunc(i.Virtual, func(old Virtual) bool { return old.ID == v.ID })
	i.Virtual = append(i.Virtual[max(len(i.Virtual)+1-maxVirtual, 0):], v)
}

// A Store keeps the images of one terminal, oldest first. Its zero value is empty.
type Store struct {
	images []*Image
	serial uint64
	sweep  int // at this weight what nobody can see is looked for
}

// Number gives a picture the next number.
func (s *Store) Number(p *Picture) {
	s.serial++
	p.Number = s.serial
}

// Find is the image with an ID, nil if there is none.
func (s *Store) Find(alt bool, id uint32) *Image {
	return s.last(func(i *Image) bool { return id != 0 && i.ID == id && i.Alt == alt })
}

// Numbered is the newest image with a number of the program's.
func (s *Store) Numbered(alt bool, number uint32) *Image {
	return s.last(func(i *Image) bool { return number != 0 && i.Number == number && i.Alt == alt })
}

func (s *Store) last(is func(*Image) bool) *Image {
	for _, i := range slices.Backward(s.images) {
		if is(i) {
			return i
		}
	}
	return nil
}

// All are the images, oldest first; who gets them must not change the slice.
func (s *Store) All() []*Image { return s.images }

// FreeID is an ID that no image has.
func (s *Store) FreeID(alt bool) uint32 {
	for id := uint32(1<<31 + len(s.images)); ; id++ {
		if s.Find(alt, id) == nil {
			return id
		}
	}
}

// Add keeps an image. What has to go for it comes back: first what is not in use and
// has no name to be asked for by, then, if what is left cannot be made small enough,
// the oldest.
func (s *Store) Add(i *Image, used func() map[*Image]bool) (gone []*Image) {
	s.Number(i.Picture)
	s.images = append(s.images, i)
	weight := s.weight()
	if s.sweep = max(s.sweep, sweepStep); weight <= min(s.sweep, MaxBytes) && len(s.images) <= maxImages {
		return nil
	}
	shown := used()
	s.drop(func(old *Image) bool { return old != i && old.ID == 0 && old.Number == 0 && !shown[old] })
	weight = s.weight()
	for at := 0; weight > MaxBytes && at < len(s.images); at++ {
		p := s.images[at].Picture
		before := p.weight()
		p.shrink()
		weight += p.weight() - before
	}
	for len(s.images) > 1 && (weight > MaxBytes || len(s.images) > maxImages) {
		gone = append(gone, s.images[0])
		weight -= s.images[0].Picture.weight()
		s.images = slices.Delete(s.images, 0, 1)
	}
	s.sweep = weight + sweepStep
	return gone
}

// Remove forgets images.
func (s *Store) Remove(is func(*Image) bool) { s.drop(is) }

func (s *Store) drop(is func(*Image) bool) { s.images = slices.DeleteFunc(s.images, is) }

func (s *Store) weight() (n int) {
	for _, i := range s.images {
		n += i.Picture.weight()
	}
	return n
}

// Weight is the memory that all images take, in bytes.
func (s *Store) Weight() int { return s.weight() }
