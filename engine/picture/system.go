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

// Bounds of the fonts of the system that are looked into, and for how many files.
const (
	mostFonts = 48
	mostFiles = 4000
)

// systemFonts are those that are installed. They are for what the font that is
// brought along lacks: Chinese, Japanese, Korean, other scripts, pictograms.
type systemFonts struct {
	paths []string // that were not opened yet
	files []*os.File
	fonts []*sfnt.Font
	found bool // paths were looked for
	buf   sfnt.Buffer
}

// close closes the files.
func (s *systemFonts) close() {
	for _, f := range s.files {
		f.Close()
	}
	*s = systemFonts{}
}

// fontFolders are where fontconfig looks for fonts unless it is told otherwise.
func fontFolders() (dirs []string) {
	dirs = []string{"/usr/share/fonts", "/usr/local/share/fonts"}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, ".local/share/fonts"), filepath.Join(home, ".fonts"))
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		dirs = append(dirs, filepath.Join(dir, "fonts"))
	}
	return dirs
}

// fontFiles are the fonts in folders, those first that suit a terminal or have
// many characters.
func fontFiles(dirs []string) (paths []string) {
	seen := 0
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error { // what cannot be read has none
			if seen++; seen > mostFiles {
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
	return paths[:min(len(paths), mostFonts)]
}

// next opens another font, or those of another collection; false if there is no
// more.
func (s *systemFonts) next() bool {
	if !s.found {
		s.found, s.paths = true, fontFiles(fontFolders())
	}
	for len(s.paths) > 0 {
		path := s.paths[0]
		s.paths = s.paths[1:]
		f, err := openFont(path)
		if err != nil {
			continue
		}
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

// openFont opens a font, and nothing that was put in its place since: programs may write in
// the folders of fonts.
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

// mask is the shape of a character in w by h pixels with its base line; nil if no
// font has an outline of it.
func (s *systemFonts) mask(r rune, w, h, base, em int) *image.Alpha {
	for i := 0; i < len(s.fonts) || s.next(); i++ {
		if m := s.outline(s.fonts[i], r, w, h, base, em); m != nil {
			return m
		}
	}
	return nil
}

func (s *systemFonts) outline(f *sfnt.Font, r rune, w, h, base, em int) *image.Alpha {
	index, err := f.GlyphIndex(&s.buf, r)
	if err != nil || index == 0 {
		return nil
	}
	ppem := fixed.I(em)
	advance, err := f.GlyphAdvance(&s.buf, index, ppem, 0)
	if err != nil {
		return nil
	}
	if most := fixed.I(w); advance > most { // it is made smaller to fit
		ppem = ppem * most / advance
		advance = most
	}
	segments, err := f.LoadGlyph(&s.buf, index, ppem, nil)
	if err != nil || len(segments) == 0 {
		return nil
	}
	z := vector.NewRasterizer(w, h)
	left := (float32(w) - float32(advance)/64) / 2
	trace(z, segments, func(p fixed.Point26_6) (float32, float32) {
		return float32(p.X)/64 + left, float32(p.Y)/64 + float32(base)
	})
	mask := image.NewAlpha(image.Rect(0, 0, w, h))
	z.Draw(mask, mask.Rect, image.Opaque, image.Point{})
	return mask
}
