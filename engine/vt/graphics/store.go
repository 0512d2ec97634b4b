package graphics

import (
	"runtime"
	"slices"

	"tandem/engine/styled"
)

// Bounds of what a store keeps.
const (
	MaxBytes  = 64 << 20
	maxImages = 4096
	// sweepStep is how much comes in before what nobody can see is looked for.
	sweepStep = 8 << 20
	// collectStep is how many freed bytes trigger a garbage collection.
	collectStep = 16 << 20
)

// An Image is a picture that a program has given a terminal.
type Image struct {
	ID, Number uint32 // as the program calls it; 0 for none
	Alt        bool   // it belongs to the alternate screen, which has names of its own
	Picture    *Picture
	Virtual    []Virtual
	placed     bool // it has been on a screen
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
	images  []*Image
	named   map[name]*Image
	serial  uint64
	sweep   int    // weight at which unreachable images are looked for
	freed   int    // bytes since the last garbage collection
	loading int    // bytes of an incomplete picture
	usage   *Usage // nil until there is an image
}

// A name identifies an image: its ID and its screen.
type name struct {
	alt bool
	id  uint32
}

// Number gives a picture the next number.
func (s *Store) Number(p *Picture) {
	s.serial++
	p.Number = s.serial
}

// Find is the image with an ID, nil if there is none.
func (s *Store) Find(alt bool, id uint32) *Image {
	return s.named[name{alt, id}]
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

// Add stores an image and returns the images dropped for it.
func (s *Store) Add(i *Image, used func() map[*Image]bool) (gone []*Image) {
	if s.usage == nil {
		s.usage = &Usage{}
	}
	s.Number(i.Picture)
	s.images = append(s.images, i)
	i.Picture.count(s.usage)
	if i.ID != 0 {
		if s.named == nil {
			s.named = map[name]*Image{}
		}
		s.named[name{i.Alt, i.ID}] = i
	}
	return s.trim(used)
}

// release stops counting an image.
func (s *Store) release(i *Image) {
	s.freed += i.Picture.weight()
	i.Picture.count(nil)
	if at := (name{i.Alt, i.ID}); s.named[at] == i {
		delete(s.named, at)
	}
}

// trim drops images while the limits are exceeded: first unused images without an ID or number,
// then, if shrinking the others is not enough, the oldest. It returns the latter.
func (s *Store) trim(used func() map[*Image]bool) (gone []*Image) {
	s.sweep = max(s.sweep, sweepStep)
	if s.Weight() <= min(s.sweep, MaxBytes) && len(s.images) <= maxImages {
		return nil
	}
	shown, newest := used(), s.last(func(*Image) bool { return true })
	s.drop(func(old *Image) bool { return old != newest && old.ID == 0 && old.Number == 0 && !shown[old] })
	for at := 0; s.Weight() > MaxBytes && at < len(s.images); at++ {
		before := s.Weight()
		bare := s.images[at].Picture.shrink()
		if s.freed += bare; before-s.Weight() < bare/8 { // pixels like noise barely compress, and the next images are probably similar
			break
		}
	}
	// Drop more than necessary, so that a series of small images does not search the store each time.
	most, weight := maxImages, MaxBytes
	if len(s.images) > most || s.Weight() > weight {
		most, weight = most-most/8, weight-weight/32
	}
	for len(s.images) > 1 && (s.Weight() > weight || len(s.images) > most) || len(s.images) == 1 && s.loading > 0 && s.Weight() > weight {
		gone = append(gone, s.images[0])
		s.release(s.images[0])
		s.images = slices.Delete(s.images, 0, 1)
	}
	if s.freed >= collectStep { // otherwise the heap grows to twice the live data
		s.freed = 0
		runtime.GC()
	}
	s.sweep = s.Weight() + sweepStep
	return gone
}

// Remove forgets images.
func (s *Store) Remove(is func(*Image) bool) { s.drop(is) }

func (s *Store) drop(is func(*Image) bool) {
	s.images = slices.DeleteFunc(s.images, func(i *Image) bool {
		gone := is(i)
		if gone {
			s.release(i)
		}
		return gone
	})
}

// Weight returns the memory used by all images and the one being loaded, in bytes.
func (s *Store) Weight() int {
	if s.usage == nil {
		return s.loading
	}
	return int(s.usage.Kept()) + s.loading
}
