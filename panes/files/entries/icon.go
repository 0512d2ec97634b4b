package entries

import (
	"cmp"
	"path/filepath"
	"strings"
	"sync"

	"tandem/engine/api"
)

// fileIcon returns a one-cell icon for the kind of a file, from Nerd Fonts (fa, dev, seti and
// custom sets, in the private use area).
func fileIcon(f *api.FileInfo) string {
	name := strings.ToLower(f.Name)
	icons := iconsByName()
	switch {
	case f.Broken:
		return "\uf127"
	case f.IsFolder() && (f.Name == ".git" || f.Name == ".github"):
		return icons[".gitignore"]
	case f.IsFolder() && f.Name == "node_modules":
		return "\ue718"
	case f.IsFolder():
		return "\uf07b"
	case f.Type == "link":
		return "\uf0c1"
	case f.Type == "fifo":
		return "\uf0ec"
	case f.Type == "socket":
		return "\uf1e6"
	case f.Type == "device":
		return "\uf0a0"
	}
	plain := "\uf15b"
	if f.IsExecutable() {
		plain = "\uf120"
	}
	return cmp.Or(icons[name], icons[filepath.Ext(name)], plain)
}

// iconsByName maps names and extensions to icons.
var iconsByName = sync.OnceValue(func() map[string]string {
	icons := map[string]string{}
	for icon, names := range iconTable() {
		for name := range strings.FieldsSeq(names) {
			icons[name] = icon
		}
	}
	return icons
})

func iconTable() map[string]string {
	return map[string]string{
		"\ue702": ".gitignore .gitattributes .gitmodules .gitconfig",
		"\ue7b0": "dockerfile containerfile .dockerignore docker-compose.yml compose.yaml compose.yml",
		"\uf013": "makefile gnumakefile justfile cmakelists.txt procfile .toml .yaml .yml .ini .conf .cfg .env .service",
		"\uf24e": "license licence copying",
		"\ue627": "go.mod go.sum go.work .go",
		"\ue606": ".py .pyi .ipynb",
		"\ue74e": ".js .mjs .cjs .jsx",
		"\ue628": ".ts .tsx .mts",
		"\ue7a8": ".rs",
		"\ue61e": ".c .h",
		"\ue61d": ".cc .cpp .cxx .hpp .hh",
		"\ue739": ".rb",
		"\ue738": ".java .jar .class",
		"\ue73d": ".php",
		"\ue620": ".lua",
		"\ue62b": ".vim",
		"\ue736": ".html .htm",
		"\ue749": ".css .scss .sass",
		"\ue795": ".sh .bash .zsh .fish",
		"\uf1c9": ".cs .kt .swift .scala .hs .ml .ex .exs .erl .clj .zig .nim .pl .r .jl .vue .svelte .xml",
		"\uf1c5": ".png .jpg .jpeg .gif .webp .svg .bmp .ico .tif .tiff .avif .heic",
		"\uf1c7": ".mp3 .flac .ogg .opus .wav .m4a .aac",
		"\uf1c8": ".mp4 .mkv .webm .mov .avi .cast",
		"\uf1c6": ".zip .tar .gz .tgz .xz .bz2 .zst .7z .rar .deb .rpm .iso",
		"\uf1c1": ".pdf",
		"\uf1c2": ".doc .docx .odt .rtf",
		"\uf1c3": ".xls .xlsx .ods .csv .tsv",
		"\uf1c4": ".ppt .pptx .odp",
		"\uf031": ".ttf .otf .woff .woff2",
		"\ue73e": ".md .markdown",
		"\uf15c": ".txt .log .rst .adoc .org .tex .diff .patch",
		"\ue60b": ".json .jsonl",
		"\uf1c0": ".sql .db .sqlite .sqlite3",
		"\uf023": ".lock",
		"\uf084": ".pem .crt .key .pub .gpg .asc",
	}
}
