package files

import (
	"path/filepath"
	"strings"

	"tandem/engine/api"
	"tandem/panes/widget"
)

// fileIcon is one cell that tells the kind of a file, a character of Nerd Fonts
// (their fa, dev, seti and custom sets, in the private use area).
func fileIcon(f *api.FileInfo) string {
	switch {
	case f.Broken:
		return "\uf127"
	case widget.IsFolder(f):
		return folderIcon(f.Name)
	case f.Type == "link":
		return "\uf0c1"
	case f.Type == "fifo":
		return "\uf0ec"
	case f.Type == "socket":
		return "\uf1e6"
	case f.Type == "device":
		return "\uf0a0"
	}
	name := strings.ToLower(f.Name)
	if icon := namedIcon(name); icon != "" {
		return icon
	}
	ext := filepath.Ext(name)
	for _, icon := range []string{languageIcon(ext), mediaIcon(ext), plainIcon(ext)} {
		if icon != "" {
			return icon
		}
	}
	if widget.IsExecutable(f) {
		return "\uf120"
	}
	return "\uf15b"
}

func folderIcon(name string) string {
	switch name {
	case ".git", ".github":
		return "\ue702"
	case "node_modules":
		return "\ue718"
	}
	return "\uf07b"
}

// namedIcon is for files that are known by their whole name.
func namedIcon(name string) string {
	switch name {
	case ".gitignore", ".gitattributes", ".gitmodules", ".gitconfig":
		return "\ue702"
	case "dockerfile", "containerfile", ".dockerignore", "docker-compose.yml", "compose.yaml", "compose.yml":
		return "\ue7b0"
	case "makefile", "gnumakefile", "justfile", "cmakelists.txt", "procfile":
		return "\uf013"
	case "license", "licence", "copying":
		return "\uf24e"
	case "go.mod", "go.sum", "go.work":
		return "\ue627"
	}
	return ""
}

func languageIcon(ext string) string {
	switch ext {
	case ".go":
		return "\ue627"
	case ".py", ".pyi", ".ipynb":
		return "\ue606"
	case ".js", ".mjs", ".cjs", ".jsx":
		return "\ue74e"
	case ".ts", ".tsx", ".mts":
		return "\ue628"
	case ".rs":
		return "\ue7a8"
	case ".c", ".h":
		return "\ue61e"
	case ".cc", ".cpp", ".cxx", ".hpp", ".hh":
		return "\ue61d"
	case ".rb":
		return "\ue739"
	case ".java", ".jar", ".class":
		return "\ue738"
	case ".php":
		return "\ue73d"
	case ".lua":
		return "\ue620"
	case ".vim":
		return "\ue62b"
	case ".html", ".htm":
		return "\ue736"
	case ".css", ".scss", ".sass":
		return "\ue749"
	case ".sh", ".bash", ".zsh", ".fish":
		return "\ue795"
	case ".cs", ".kt", ".swift", ".scala", ".hs", ".ml", ".ex", ".exs", ".erl", ".clj", ".zig", ".nim", ".pl", ".r", ".jl", ".vue", ".svelte", ".xml":
		return "\uf1c9"
	}
	return ""
}

func mediaIcon(ext string) string {
	switch ext {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".ico", ".tif", ".tiff", ".avif", ".heic":
		return "\uf1c5"
	case ".mp3", ".flac", ".ogg", ".opus", ".wav", ".m4a", ".aac":
		return "\uf1c7"
	case ".mp4", ".mkv", ".webm", ".mov", ".avi", ".cast":
		return "\uf1c8"
	case ".zip", ".tar", ".gz", ".tgz", ".xz", ".bz2", ".zst", ".7z", ".rar", ".deb", ".rpm", ".iso":
		return "\uf1c6"
	case ".pdf":
		return "\uf1c1"
	case ".doc", ".docx", ".odt", ".rtf":
		return "\uf1c2"
	case ".xls", ".xlsx", ".ods", ".csv", ".tsv":
		return "\uf1c3"
	case ".ppt", ".pptx", ".odp":
		return "\uf1c4"
	case ".ttf", ".otf", ".woff", ".woff2":
		return "\uf031"
	}
	return ""
}

func plainIcon(ext string) string {
	switch ext {
	case ".md", ".markdown":
		return "\ue73e"
	case ".txt", ".log", ".rst", ".adoc", ".org", ".tex", ".diff", ".patch":
		return "\uf15c"
	case ".json", ".jsonl":
		return "\ue60b"
	case ".toml", ".yaml", ".yml", ".ini", ".conf", ".cfg", ".env", ".service":
		return "\uf013"
	case ".sql", ".db", ".sqlite", ".sqlite3":
		return "\uf1c0"
	case ".lock":
		return "\uf023"
	case ".pem", ".crt", ".key", ".pub", ".gpg", ".asc":
		return "\uf084"
	}
	return ""
}
