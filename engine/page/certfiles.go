package page

import (
	"crypto/tls"
	"io/fs"
	"os"
	"sync"

	"tandem/persist/regular"
)

// certFiles is a certificate and its key in two files. They are read again after a change, because
// programs that renew certificates replace them while the page is served.
type certFiles struct {
	cert, key string // paths

	mu     sync.Mutex
	loaded *tls.Certificate
	seen   [2]fs.FileInfo // of the files when loaded was read
}

// current returns the certificate. If the changed files cannot be used, it returns the previous
// certificate: while only one of the two files has been replaced, they do not match.
func (c *certFiles) current() (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var seen [2]fs.FileInfo
	// Take the time stamps before reading the files, so that the next call notices a change made
	// during the read.
	for i, path := range [...]string{c.cert, c.key} {
		seen[i], _ = os.Stat(path) // reading reports why there is none
	}
	if c.loaded != nil && isSame(seen[0], c.seen[0]) && isSame(seen[1], c.seen[1]) {
		return c.loaded, nil
	}
	cert, err := loadPair(c.cert, c.key)
	if err == nil {
		c.loaded, c.seen = &cert, seen
	}
	if c.loaded != nil {
		return c.loaded, nil
	}
	return nil, err
}

func loadPair(certFile, keyFile string) (tls.Certificate, error) {
	cert, err := regular.ReadFile(certFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := regular.ReadFile(keyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}

// isSame reports whether a and b describe the same content of the same file.
func isSame(a, b fs.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
