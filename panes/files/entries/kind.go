package entries

import (
	"path/filepath"
	"strings"
	"sync"

	"tandem/engine/api"
	"tandem/panes/kit/look"
)

// fileColor returns the colour for the kind of a file. Important kinds also have a sign after the
// name, for terminals without colours.
func fileColor(f *api.FileInfo, look *look.Look) look.Ink {
	switch {
	case f.Broken:
		return look.Bad
	case f.IsFolder():
		return look.Accent
	case f.Type == "link":
		return look.Info
	case f.Type != "file":
		return look.Warn
	case f.IsExecutable():
		return look.Good
	}
	switch kindsByExtension()[strings.ToLower(filepath.Ext(f.Name))] {
	case kindArchive:
		return look.Warn
	case kindMedia:
		return look.Info
	case kindLeftover:
		return look.Dim
	}
	if strings.HasSuffix(f.Name, "~") {
		return look.Dim
	}
	return look.Text
}

// A fileKind is a kind of file with its own colour.
type fileKind int

const (
	kindPlain    fileKind = iota
	kindArchive           // archives and compressed files
	kindMedia             // pictures, sound and video
	kindLeftover          // left by programs: backups, objects, locks
)

// kindsByExtension maps extensions to kinds of files.
var kindsByExtension = sync.OnceValue(func() map[string]fileKind {
	kinds := map[string]fileKind{}
	for kind, extensions := range map[fileKind]string{
		kindArchive: ".7z .apk .bz2 .cpio .deb .dmg .gz .iso .jar .lz .lz4 .lzma .rar .rpm .tar .tbz .tbz2 .tgz .txz .tzst .whl .xz .z .zip .zst",
		kindMedia: ".aac .ai .avi .avif .bmp .cast .eps .flac .gif .heic .ico .jpeg .jpg .jxl .m4a .mkv .mov .mp3 .mp4 .mpeg .mpg .oga .ogg .ogv .opus " +
			".png .psd .svg .tif .tiff .wav .webm .webp .wma .wmv .xcf",
		kindLeftover: ".bak .class .o .orig .part .pid .pyc .rej .swo .swp .tmp",
	} {
		for extension := range strings.FieldsSeq(extensions) {
			kinds[extension] = kind
		}
	}
	return kinds
})
