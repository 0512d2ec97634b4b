package archive

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"strings"
)

// A Packer creates an archive.
type Packer struct {
	zip  *zip.Writer
	tar  *tar.Writer
	gzip *gzip.Writer
}

// NewPacker creates an archive in the format given by the extension of name.
func NewPacker(to io.Writer, name string) (*Packer, error) {
	p := &Packer{}
	switch name = strings.ToLower(name); {
	case strings.HasSuffix(name, ".zip"):
		p.zip = zip.NewWriter(to)
	case strings.HasSuffix(name, ".tar"):
		p.tar = tar.NewWriter(to)
	case strings.HasSuffix(name, ".tar.gz"), strings.HasSuffix(name, ".tgz"):
		p.gzip = gzip.NewWriter(to)
		p.tar = tar.NewWriter(p.gzip)
	default:
		return nil, errors.New("an archive's name must end in .zip, .tar, .tar.gz or .tgz")
	}
	return p, nil
}

// Add adds a file, a folder or a link. fill writes the content of a file.
func (p *Packer) Add(name string, info fs.FileInfo, target string, fill func(io.Writer) error) error {
	if info.IsDir() {
		name += "/"
	}
	to, err := p.writeHeader(name, info, target)
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	return fill(to)
}

func (p *Packer) writeHeader(name string, info fs.FileInfo, target string) (io.Writer, error) {
	if p.zip == nil {
		h, err := tar.FileInfoHeader(info, target)
		if err != nil {
			return nil, err
		}
		h.Name, h.Format = name, tar.FormatPAX
		return p.tar, p.tar.WriteHeader(h)
	}
	h, err := zip.FileInfoHeader(info)
	if err != nil {
		return nil, err
	}
	if h.Name = name; info.Mode().IsRegular() {
		h.Method = zip.Deflate
	}
	to, err := p.zip.CreateHeader(h)
	if err == nil && target != "" {
		_, err = io.WriteString(to, target)
	}
	return to, err
}

// Close completes the archive.
func (p *Packer) Close() error {
	if p.zip != nil {
		return p.zip.Close()
	}
	err := p.tar.Close()
	if p.gzip != nil {
		err = errors.Join(err, p.gzip.Close())
	}
	return err
}
