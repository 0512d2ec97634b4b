package graphics

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"iter"
	"slices"

	"tandem/engine/screen/styled"
)

// maxSaved is the maximum size of the data of saved pictures, in bytes.
const maxSaved = 8 << 20

// MaxCell is the maximum size of a cell's side in pixels.
const MaxCell = 400

// AppendSaved appends, as text without control characters, the pictures on the screens and those
// the program can still name; nothing if there are none. The data follows the JSON in base64,
// because encoding/json would copy it several times.
func (p *Pictures) AppendSaved(dst []byte) []byte {
	if p.store.serial == 0 && !p.loader.Loading() {
		return dst
	}
	k := p.collectSaved()
	var all [][]byte
	size := 0
	for data := range k.eachData() {
		all = append(all, *data)
		size += 1 + base64.StdEncoding.EncodedLen(len(*data))
		*data = nil
	}
	text, err := json.Marshal(k)
	if err != nil { // impossible: all fields can be marshalled
		return dst
	}
	const rest = 64 << 10 // room for the caller's text
	dst = append(slices.Grow(dst, len(text)+size+rest), text...)
	p.store.freed += len(text) + size // the caller frees it soon
	for _, data := range all {
		dst = base64.StdEncoding.AppendEncode(append(dst, ' '), data)
	}
	return dst
}

// parseSaved parses the output of AppendSaved, including the format of earlier releases with the
// data in the JSON.
func parseSaved(text []byte) (k savedPictures, err error) {
	from := json.NewDecoder(bytes.NewReader(text))
	if err := from.Decode(&k); err != nil {
		return k, err
	}
	rest := text[from.InputOffset():]
	for data := range k.eachData() {
		var one []byte
		if len(rest) == 0 {
			return k, nil
		}
		end := 1
		for end < len(rest) && rest[end] != ' ' {
			end++
		}
		one, rest = rest[1:end], rest[end:]
		if *data, err = base64.StdEncoding.AppendDecode(nil, one); err != nil {
			return k, err
		}
	}
	return k, nil
}

// eachData iterates over the data stored in base64, in order.
func (k *savedPictures) eachData() iter.Seq[*[]byte] {
	return func(yield func(*[]byte) bool) {
		if !yield(&k.Loading.Data) {
			return
		}
		for n := range k.Images {
			i := &k.Images[n]
			data := &i.PNG
			if i.Packed != nil {
				data = &i.Packed.Data
			}
			if !yield(data) {
				return
			}
		}
	}
}

// savedPictures are all pictures except those only in the scrollback.
type savedPictures struct {
	Serial, Placements uint64
	Virtual            bool `json:",omitzero"`
	Loading            PartialPicture
	Images             []savedImage
	Placed             []savedPlacement
	Strips             []savedStrip
}

type savedImage struct {
	ID, Number uint32
	Alt        bool
	Picture    uint64
	PNG        []byte
	Packed     *savedPixels `json:",omitempty"` // in place of a PNG
	Sixels     bool         `json:",omitempty"` // PNG contains sixels
	Virtual    []Virtual
}

// savedPixels are a picture's pixels, still compressed.
type savedPixels struct {
	Size     image.Point
	Channels int
	Data     []byte
}

func (p *Picture) savePixels() *savedPixels {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.packed == nil {
		return nil
	}
	return &savedPixels{p.Size, p.channels, p.packed}
}

func (p *Picture) saveSixels() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sixels
}

// toSaved returns the saved form of an image, and the size of its data.
func (i *Image) toSaved() (k savedImage, size int, err error) {
	k = savedImage{ID: i.ID, Number: i.Number, Alt: i.Alt, Picture: i.Picture.Number, Virtual: i.Virtual}
	if k.Packed = i.Picture.savePixels(); k.Packed != nil {
		return k, len(k.Packed.Data), nil
	}
	if sixels := i.Picture.saveSixels(); sixels != nil {
		k.PNG, k.Sixels = sixels, true
		return k, len(sixels), nil
	}
	k.PNG, err = i.Picture.PNG()
	return k, len(k.PNG), err
}

func (k savedImage) restorePicture() (*Picture, error) {
	if p := k.Packed; p != nil && (p.Channels == 3 || p.Channels == 4) {
		return FromPacked(p.Size, p.Channels, p.Data)
	}
	if k.Sixels {
		p, _, err := FromSixels(k.PNG)
		return p, err
	}
	return FromPNG(k.PNG)
}

type savedPlacement struct {
	At    styled.Placement
	Image int // in Images
	Name  uint32
	Text  bool
}

type savedStrip struct {
	Alt              bool
	Y, Placed        int // row; in Placed
	Row, X, From, To int16
}

func (p *Pictures) collectSaved() savedPictures {
	k := savedPictures{Serial: p.store.serial, Placements: p.placements, Virtual: p.virtual, Loading: p.loader.Save()}
	onScreens := map[*Image]bool{}
	p.eachStrip(func(_ bool, y int, one strip) { onScreens[one.at.image] = onScreens[one.at.image] || y >= 0 })
	index := map[*Image]int{}
	size := 0
	// Newest first, so that the limit leaves out the oldest.
	for _, i := range slices.Backward(p.store.images) {
		if i.ID == 0 && i.Number == 0 && !onScreens[i] {
			continue
		}
		kept, n, err := i.toSaved()
		if err != nil || size+n > maxSaved {
			continue
		}
		size += n
		index[i] = len(k.Images)
		k.Images = append(k.Images, kept)
	}
	placed := map[*Placement]int{}
	p.eachStrip(func(alt bool, y int, one strip) {
		i, ok := index[one.at.image]
		if !ok || y < 0 {
			return
		}
		at, known := placed[one.at]
		if !known {
			at = len(k.Placed)
			placed[one.at] = at
			k.Placed = append(k.Placed, savedPlacement{one.at.Placement, i, one.at.id, one.at.text})
		}
		k.Strips = append(k.Strips, savedStrip{alt, y, at, one.row, one.x, one.from, one.to})
	})
	return k
}

// Restore restores the output of AppendSaved as far as it is valid. It calls put for each row with
// pictures; add adds their strips to those of the row.
func (p *Pictures) Restore(text []byte, put func(alt bool, y int, add func(*Strips) *Strips)) {
	k, err := parseSaved(text)
	if err != nil {
		return
	}
	p.Forget()
	p.placements, p.virtual = k.Placements, k.Virtual
	p.loader.Restore(k.Loading)
	images := make([]*Image, len(k.Images))
	for n, i := range slices.Backward(k.Images) { // the newest come first
		made, err := i.restorePicture()
		if err != nil {
			continue
		}
		images[n] = &Image{ID: i.ID, Number: i.Number, Alt: i.Alt, Picture: made, Virtual: i.Virtual}
		p.addImage(images[n])
		// addImage assigned a new number, but placements refer to the old one.
		made.Number = i.Picture
	}
	p.store.serial = max(p.store.serial, k.Serial)
	placed := make([]*Placement, len(k.Placed))
	for n, at := range k.Placed {
		if at.Image >= 0 && at.Image < len(images) && images[at.Image] != nil && isPlausible(at.At, images[at.Image].Picture.Size) {
			placed[n] = &Placement{at.At, images[at.Image], at.Name, at.Text}
			images[at.Image].placed = true
			placed[n].Picture = images[at.Image].Picture.Number
		}
	}
	for _, one := range k.Strips {
		if one.Placed < 0 || one.Placed >= len(placed) {
			continue
		}
		read := strip{placed[one.Placed], one.Row, one.X, one.From, one.To}
		if read.isInside() && one.From >= 0 && one.To <= 2*maxCells {
			put(one.Alt, one.Y, func(s *Strips) *Strips { return s.withStrip(read) })
		}
	}
}

// isPlausible reports whether a placement could belong to a picture of this size.
func isPlausible(p styled.Placement, size image.Point) bool {
	return p.Cols > 0 && p.Rows > 0 && p.Cols <= maxCells && p.Rows <= maxCells &&
		p.Cell.X > 0 && p.Cell.Y > 0 && p.Cell.X <= MaxCell && p.Cell.Y <= MaxCell &&
		!p.Source.Empty() && p.Source.In(image.Rectangle{Max: size}) &&
		!p.Box.Empty() && p.Box.In(image.Rect(0, 0, 2*maxCells*MaxCell, 2*maxCells*MaxCell))
}
