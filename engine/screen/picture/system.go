package picture

import (
	"errors"
	"image"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// Limits of the search for system fonts.
const (
	maxFonts = 48
	maxFiles = 4000
)

// systemFonts are the installed fonts, for scripts and pictograms missing in the embedded one.
type systemFonts struct {
	paths []string // not opened yet
	files []*os.File
	fonts []*sfnt.Font
	found bool // paths has been filled
	buf   sfnt.Buffer
}

func (s *systemFonts) close() {
	for _, f := range s.files {
		f.Close()
	}
	*s = systemFonts{}
}

// fontDirs returns the default directories of fontconfig.
func fontDirs() (dirs []string) {
	dirs = []string{"/usr/share/fonts", "/usr/local/share/fonts"}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, ".local/share/fonts"), filepath.Join(home, ".fonts"))
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		dirs = append(dirs, filepath.Join(dir, "fonts"))
	}
	return dirs
}

// fontFiles returns the fonts in dirs, starting with those that suit a terminal or have many
// characters.
func fontFiles(dirs []string) (paths []string) {
	seen := 0
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error { // unreadable directories have none
			if seen++; seen > maxFiles {
				return fs.SkipAll
			}
			if err == nil && e.Type().IsRegular() && slices.Contains([]string{".ttf", ".otf", ".ttc", ".otc"}, strings.ToLower(filepath.Ext(path))) {
				paths = append(paths, path)
			}
			return nil
		})
	}
	rank := func(path string) int {
		name := strings.ToLower(filepath.Base(path))
		score := 0
		for i, part := range []string{"mono", "cjk", "gothic", "unifont", "symbol", "emoji", "sans"} {
			if strings.Contains(name, part) {
				score += 1 << (7 - i)
			}
		}
		for _, part := range []string{"bold", "italic", "oblique", "light", "thin", "black", "condensed", "color"} {
			if strings.Contains(name, part) {
				score -= 1 << 8
			}
		}
		return -score
	}
	slices.SortStableFunc(paths, func(a, b string) int { return rank(a) - rank(b) })
	return paths[:min(len(paths), maxFonts)]
}

// openNext opens another font. It returns false if there are no more.
func (s *systemFonts) openNext() bool {
	if !s.found {
		s.found, s.paths = true, fontFiles(fontDirs())
	}
	for len(s.paths) > 0 {
		path := s.paths[0]
		s.paths = s.paths[1:]
		f, err := openFont(path)
		if err != nil {
			continue
		}
		// Read at random offsets: fonts with many characters are large.
		all, err := sfnt.ParseCollectionReaderAt(f)
		if err != nil || all.NumFonts() == 0 {
			f.Close()
			continue
		}
		font, err := all.Font(0)
		if err != nil {
			f.Close()
			continue
		}
		s.files, s.fonts = append(s.files, f), append(s.fonts, font)
		return true
	}
	return false
}

// openFont opens a font without following a link or waiting for a FIFO: other programs may write
// in font directories.
func openFont(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.New("not a regular file")
	}
	return f, nil
}

// maskOf returns the shape of a character in w by h pixels, with its baseline at base; nil if no
// font has an outline for it.
func (s *systemFonts) maskOf(r rune, w, h, base, em int) *image.Alpha {
	// Open fonts only until one has the character.
	for i := 0; i < len(s.fonts) || s.openNext(); i++ {
		if m := s.maskFrom(s.fonts[i], r, w, h, base, em); m != nil {
			return m
		}
	}
	return nil
}

func (s *systemFonts) maskFrom(f *sfnt.Font, r rune, w, h, base, em int) *image.Alpha {
	index, err := f.GlyphIndex(&s.buf, r)
	if err != nil || index == 0 {
		return nil
	}
	ppem := fixed.I(em)
	advance, err := f.GlyphAdvance(&s.buf, index, ppem, 0)
	if err != nil {
		return nil
	}
	if width := fixed.I(w); advance > width { // shrink it to fit
		ppem = ppem * width / advance
		advance = width
	}
	segments, err := f.LoadGlyph(&s.buf, index, ppem, nil)
	if err != nil || len(segments) == 0 {
		return nil
	}
	z := vector.NewRasterizer(w, h)
	left := (float32(w) - float32(advance)/64) / 2
	addGlyph(z, segments, func(p fixed.Point26_6) (float32, float32) {
		return float32(p.X)/64 + left, float32(p.Y)/64 + float32(base)
	})
	mask := image.NewAlpha(image.Rect(0, 0, w, h))
	z.Draw(mask, mask.Rect, image.Opaque, image.Point{})
	return mask
}
