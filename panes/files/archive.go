package files

import (
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes/files/transfers"
)

// archiveExtensions returns the extensions of supported archives, longest first.
func archiveExtensions() []string {
	return []string{".tar.gz", ".tar.bz2", ".tgz", ".tbz2", ".tbz", ".tar", ".zip", ".jar", ".gz", ".bz2"}
}

// archiveStem returns a file name without its archive extension. ok is false if it has no such
// extension.
func archiveStem(name string) (stem string, ok bool) {
	for _, ending := range archiveExtensions() {
		if cut := len(name) - len(ending); cut > 0 && strings.EqualFold(name[cut:], ending) {
			return name[:cut], true
		}
	}
	return name, false
}

// askExtract asks for a destination. A single archive is extracted to that folder. Several archives
// are each extracted to a new folder below it.
func (a *actions) askExtract(targets []string) tea.Cmd {
	for _, path := range targets {
		if _, ok := archiveStem(filepath.Base(path)); !ok {
			return a.env.Say("unpack "+transfers.NameFiles([]string{path})+": its name is not that of a zip, tar, tar.gz, tar.bz2, gz or bz2 file", true)
		}
	}
	text := withSlash(a.folder.path)
	if len(targets) == 1 {
		stem, _ := archiveStem(filepath.Base(targets[0]))
		text += stem
	}
	return a.folder.askPath("Unpack "+transfers.NameFiles(targets)+" to", text, func(to string, refused func(string)) tea.Cmd {
		in := api.FilesTransferInput{Kind: api.TransferExtract}
		for _, path := range targets {
			item := api.FileMove{Path: path, To: filepath.Clean(to)}
			// Extract each archive to a folder of its own, so that their contents do not mix.
			if stem, _ := archiveStem(filepath.Base(path)); len(targets) > 1 || strings.HasSuffix(to, "/") {
				item.To = filepath.Join(to, stem)
			}
			in.Items = append(in.Items, item)
		}
		return a.transfers.Add(in, refused)
	})
}

// askPack asks for the path of the archive into which to pack files. The extension of the path
// selects the format.
func (a *actions) askPack(targets []string) tea.Cmd {
	name := filepath.Base(a.folder.path)
	if len(targets) == 1 {
		name = filepath.Base(targets[0])
	}
	if name == "/" {
		name = "files"
	}
	text := withSlash(a.folder.path) + name + ".tar.gz"
	return a.folder.askPath("Pack "+transfers.NameFiles(targets)+" into (.tar.gz .tgz .tar .zip)", text, func(to string, refused func(string)) tea.Cmd {
		in := api.FilesTransferInput{Kind: api.TransferPack}
		for _, path := range targets {
			in.Items = append(in.Items, api.FileMove{Path: path, To: filepath.Clean(to)})
		}
		return a.transfers.Add(in, refused)
	})
}
