package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed files
var embedded embed.FS

// A file is one of the page's, ready to be sent.
type file struct {
	kind string // Content-Type
	tag  string // ETag
	text []byte
	zip  []byte // text compressed; nil where that saves nothing
}

// files serves the files of the page. They are compressed when the first is asked for.
func files() http.Handler {
	load := sync.OnceValues(loadFiles)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all, err := load()
		if err != nil {
			refuse(w, http.StatusInternalServerError, err)
			return
		}
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		if name == "" {
			name = "index.html"
		}
		f, ok := all[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		f.serve(w, r)
	})
}

func (f file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", "no-cache") // it may be kept, and is asked about each time
	h.Set("ETag", f.tag)
	h.Add("Vary", "Accept-Encoding")
	if r.Header.Get("If-None-Match") == f.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	text := f.text
	if f.zip != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		text = f.zip
	}
	_, _ = w.Write(text) // the browser may have gone
}

func loadFiles() (map[string]file, error) {
	all := map[string]file{}
	err := fs.WalkDir(embedded, "files", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := embedded.ReadFile(name)
		if err != nil {
			return err
		}
		all[strings.TrimPrefix(name, "files/")] = newFile(name, text)
		return nil
	})
	return all, err
}

func newFile(name string, text []byte) file {
	sum := sha256.Sum256(text)
	f := file{kind: kindOf(name), tag: `"` + hex.EncodeToString(sum[:8]) + `"`, text: text}
	var zipped bytes.Buffer
	z, _ := gzip.NewWriterLevel(&zipped, gzip.BestCompression) // the level exists
	_, _ = z.Write(text)                                       // into memory
	_ = z.Close()
	if zipped.Len() < len(text)*9/10 {
		f.zip = zipped.Bytes()
	}
	return f
}

func kindOf(name string) string {
	switch ext := path.Ext(name); ext {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".webmanifest":
		return "application/manifest+json"
	default:
		return mime.TypeByExtension(ext)
	}
}
