package graphics

import (
	"runtime"
	"slices"

	"tandem/engine/screen/styled"
)

// Limits of a store.
const (
	MaxBytes  = 64 << 20
	maxImages = 4096
	// sweepStep is how many bytes arrive between two searches for unreachable images.
	sweepStep = 8 << 20
	// collectStep is how many freed bytes trigger a garbage collection.
	collectStep = 16 << 20
)

// An Image is a picture sent by a program.
type Image struct {
	ID, Number uint32 // set by the program; 0 for none
	Alt        bool   // belongs to the alternate screen, which has its own IDs
	Picture    *Picture
	Virtual    []Virtual
	placed     bool // has been placed on a screen
}

// A Virtual is a placement shown at its program's placeholders.
type Virtual struct {
	ID         uint32
	Cols, Rows int
	Serial     uint64            // unique among the terminal's placements
	Placement  *styled.Placement `json:"-"` // nil until shown
}

// maxVirtual is the maximum number of virtual placements of an image. The oldest are dropped first.
const maxVirtual = 64

// addVirtual adds a virtual placement, replacing one with the same ID.
func (i *Image) addVirtual(v Virtual) {
	i.Virtual = slices.DeleteFunc(i.Virtual, func(old Virtual) bool { return old.ID == v.ID })
	i.Virtual = append(i.Virtual[max(len(i.Virtual)+1-maxVirtual, 0):], v)
}

// A Store keeps the images of one terminal, oldest first. Its zero value is empty.
type Store struct {
	images  []*Image
	byKey   map[imageKey]*Image
	serial  uint64
	sweep   int    // weight at which unreachable images are looked for
	freed   int    // bytes since the last garbage collection
	loading int    // bytes of an incomplete picture
	usage   *Usage // nil until there is an image
}

// An imageKey identifies an image: its ID and its screen.
type imageKey struct {
	alt bool
	id  uint32
}

// AssignNumber gives a picture the next number.
func (s *Store) AssignNumber(p *Picture) {
	s.serial++
	p.Number = s.serial
}

// Find returns the image with an ID; nil if there is none.
func (s *Store) Find(alt bool, id uint32) *Image {
	return s.byKey[imageKey{alt, id}]
}

// FindByNumber returns the newest image to which the program gave number, on the alternate screen
// if alt is set. It returns nil if no image has the number.
func (s *Store) FindByNumber(alt bool, number uint32) *Image {
	return s.findNewest(func(i *Image) bool { return number != 0 && i.Number == number && i.Alt == alt })
}

func (s *Store) findNewest(match func(*Image) bool) *Image {
	for _, i := range slices.Backward(s.images) {
		if match(i) {
			return i
		}
	}
	return nil
}

// All returns the images, oldest first. The caller must not modify the slice.
func (s *Store) All() []*Image { return s.images }

// FreeID returns an unused ID.
func (s *Store) FreeID(alt bool) uint32 {
	for id := uint32(1<<31 + len(s.images)); ; id++ {
		if s.Find(alt, id) == nil {
			return id
		}
	}
}

// Add stores an image. It returns the images that it dropped to stay within the limits. used returns
// the images shown on the screen, which are dropped last.
func (s *Store) Add(i *Image, used func() map[*Image]bool) (dropped []*Image) {
	if s.usage == nil {
		s.usage = &Usage{}
	}
	s.AssignNumber(i.Picture)
	s.images = append(s.images, i)
	i.Picture.setUsage(s.usage)
	if i.ID != 0 {
		if s.byKey == nil {
			s.byKey = map[imageKey]*Image{}
		}
		s.byKey[imageKey{i.Alt, i.ID}] = i
	}
	return s.trim(used)
}

// release stops counting an image and frees its ID.
func (s *Store) release(i *Image) {
	s.freed += i.Picture.weight()
	i.Picture.setUsage(nil)
	if at := (imageKey{i.Alt, i.ID}); s.byKey[at] == i {
		delete(s.byKey, at)
	}
}

// trim drops images while the limits are exceeded. It first drops unused images without an ID or
// number. If shrinking the others is not enough then, it drops the oldest images and returns these.
func (s *Store) trim(used func() map[*Image]bool) (dropped []*Image) {
	s.sweep = max(s.sweep, sweepStep)
	if s.Weight() <= min(s.sweep, MaxBytes) && len(s.images) <= maxImages {
		return nil
	}
	shown, newest := used(), s.findNewest(func(*Image) bool { return true })
	s.removeIf(func(old *Image) bool { return old != newest && old.ID == 0 && old.Number == 0 && !shown[old] })
	// Converting pixels to PNGs loses nothing, so it comes before dropping images.
	for at := 0; s.Weight() > MaxBytes && at < len(s.images); at++ {
		before := s.Weight()
		bare := s.images[at].Picture.shrink()
		if s.freed += bare; before-s.Weight() < bare/8 { // pixels like noise barely compress, and the next images are probably similar
			break
		}
	}
	// Drop more than necessary, so that a series of small images does not search the store each time.
	maxCount, maxWeight := maxImages, MaxBytes
	if len(s.images) > maxCount || s.Weight() > maxWeight {
		maxCount, maxWeight = maxCount-maxCount/8, maxWeight-maxWeight/32
	}
	for len(s.images) > 1 && (s.Weight() > maxWeight || len(s.images) > maxCount) || len(s.images) == 1 && s.loading > 0 && s.Weight() > maxWeight {
		dropped = append(dropped, s.images[0])
		s.release(s.images[0])
		s.images = slices.Delete(s.images, 0, 1)
	}
	if s.freed >= collectStep { // otherwise the heap grows to twice the live data
		s.freed = 0
		runtime.GC()
	}
	s.sweep = s.Weight() + sweepStep
	return dropped
}

// Remove deletes the matching images.
func (s *Store) Remove(match func(*Image) bool) { s.removeIf(match) }

func (s *Store) removeIf(match func(*Image) bool) {
	s.images = slices.DeleteFunc(s.images, func(i *Image) bool {
		gone := match(i)
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
