package files

import (
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// archiveEndings are those of what can be unpacked, the longer ones first.
func archiveEndings() []string {
	return []string{".tar.gz", ".tar.bz2", ".tgz", ".tbz2", ".tbz", ".tar", ".zip", ".jar", ".gz", ".bz2"}
}

// stemOf is a name without the ending of an archive; ok is false if it has none.
func stemOf(name string) (stem string, ok bool) {
	for _, ending := range archiveEndings() {
		if cut := len(name) - len(ending); cut > 0 && strings.EqualFold(name[cut:], ending) {
			return name[:cut], true
		}
	}
	return name, false
}

// askExtract asks where archives are unpacked: one into a folder that is made,
// several each into one of its own.
func askExtract(f *Pane) tea.Cmd {
	targets := f.folder.list.Targets()
	for _, path := range targets {
		if _, ok := stemOf(filepath.Base(path)); !ok {
			return f.env.Say("unpack "+theseFiles([]string{path})+": its name is not that of a zip, tar, tar.gz, tar.bz2, gz or bz2 file", true)
		}
	}
	if len(targets) == 0 {
		return nil
	}
	text := withSlash(f.folder.path)
	if len(targets) == 1 {
		stem, _ := stemOf(filepath.Base(targets[0]))
		text += stem
	}
	p := f.newPathPrompt("Unpack "+theseFiles(targets)+" to", text, func(to string) tea.Cmd {
		in := api.FilesTransferInput{Kind: api.TransferExtract}
		for _, path := range targets {
			item := api.FileMove{Path: path, To: filepath.Clean(to)}
			if stem, _ := stemOf(filepath.Base(path)); len(targets) > 1 || strings.HasSuffix(to, "/") {
				item.To = filepath.Join(to, stem)
			}
			in.Items = append(in.Items, item)
		}
		f.transfers.add(in)
		return nil
	})
	f.env.Ask(p)
	return p.Look()
}

// askPack asks for the archive that files are packed into; its name tells the
// kind.
func askPack(f *Pane) tea.Cmd {
	targets := f.folder.list.Targets()
	if len(targets) == 0 {
		return nil
	}
	name := filepath.Base(f.folder.path)
	if len(targets) == 1 {
		name = filepath.Base(targets[0])
	}
	if name == "/" {
		name = "files"
	}
	text := withSlash(f.folder.path) + name + ".tar.gz"
	p := f.newPathPrompt("Pack "+theseFiles(targets)+" into (.tar.gz .tgz .tar .zip)", text, func(to string) tea.Cmd {
		in := api.FilesTransferInput{Kind: api.TransferPack}
		for _, path := range targets {
			in.Items = append(in.Items, api.FileMove{Path: path, To: filepath.Clean(to)})
		}
		f.transfers.add(in)
		return nil
	})
	f.env.Ask(p)
	return p.Look()
}

// askLarge asks whether an archive is unpacked that takes far more room than it
// has.
func askLarge(ts *transfers, t *transfer) {
	in := t.in
	in.Items, in.Large = in.Items[min(t.job.Handled, len(in.Items)-1):], true
	ts.env.Ask(&overlay.Question{
		Title: "Unpack " + theseFiles([]string{in.Items[0].Path}) + " all the same?",
		Lines: append(widget.WrapWords(t.fault()+".", 60), "Nothing was kept. Extracting it may fill the disk."),
		Yes:   "unpack it",
		Then:  ts.adding(in),
	})
}
