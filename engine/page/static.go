package page

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"
)

//go:embed files
var embedded embed.FS

// A file is one of the page's files, ready to send.
type file struct {
	kind string // Content-Type
	tag  string // ETag
	text []byte
	zip  []byte // compressed text; nil if that saves little

	lasting bool // its address never changes its content
}

// files serves the files of the page. It compresses them on the first request.
//
// An earlier server on this port may have made browsers cache scripts of its own under any address
// it knew. So scripts and styles are at random addresses, ETags differ for each server, and a
// browser that asks for any other service worker gets a script that removes itself.
func files() http.Handler {
	own := "v-" + strings.ToLower(rand.Text()) + "/"
	load := sync.OnceValues(func() (map[string]file, error) { return loadFiles(own) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all, err := load()
		if err != nil {
			writeError(w, http.StatusInternalServerError, err)
			return
		}
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		if name == "" {
			name = "index.html"
		}
		f, ok := all[name]
		// Browsers mark requests for service workers (Service Workers, 4.4).
		if r.Header.Get("Service-Worker") == "script" && name != workerName {
			f, ok = all[retiringName], true
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		f.serve(w, r)
	})
}

const (
	workerName   = "sw.js"
	retiringName = "retire.js"
)

func (f file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	if h.Set("Cache-Control", "no-cache"); f.lasting {
		h.Set("Cache-Control", "max-age=31536000, immutable")
	}
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
	_, _ = w.Write(text) // the browser may have disconnected
}

// loadFiles reads the files, with scripts and styles in assetDir, a path that ends in a slash.
func loadFiles(assetDir string) (map[string]file, error) {
	all := map[string]file{}
	err := fs.WalkDir(embedded, "files", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := embedded.ReadFile(name)
		if err != nil {
			return err
		}
		name = strings.TrimPrefix(name, "files/")
		if name == "index.html" {
			text = ownScript().ReplaceAll(text, []byte(`="`+assetDir+`$1`))
		}
		f := newFile(name, assetDir, text)
		if ext := path.Ext(name); strings.Contains(name, "/") || ext == ".css" {
			name, f.lasting = assetDir+name, true
		}
		all[name] = f
		return nil
	})
	return all, err
}

// ownScript matches the addresses of scripts and styles in index.html.
var ownScript = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`="((?:app|vendor)/|app\.css)`) })

func newFile(name, own string, text []byte) file {
	// Include own, so that tags differ between servers.
	sum := sha256.Sum256(append([]byte(own), text...))
	f := file{kind: kindOf(name), tag: `"` + hex.EncodeToString(sum[:8]) + `"`, text: text}
	var zipped bytes.Buffer
	z, _ := gzip.NewWriterLevel(&zipped, gzip.BestCompression) // the level is valid
	_, _ = z.Write(text)                                       // writes to memory do not fail
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
