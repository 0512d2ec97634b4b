package files

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/panes"
	"tandem/panes/files/transfers"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
	"tandem/panes/kit/text"
)

// emptyTrash is the number of the last choice, which empties the trash.
const emptyTrash = -1

// trash lists deleted files.
type trash struct {
	env       panes.Env
	transfers *transfers.Queue
}

// show lists the trash, to restore or delete files.
func (t *trash) show() tea.Cmd {
	return panes.AwaitAnswer(t.env.Context(), t.env, func(ctx context.Context, e panes.Engine) ([]api.TrashedFile, error) {
		return e.ListTrash(ctx)
	}, panes.ReportErrors(t.env.Say, func(all []api.TrashedFile) tea.Cmd {
		if len(all) == 0 {
			return t.env.Say("the trash is empty", false)
		}
		t.env.Ask(t.picker(all, time.Now()))
		return nil
	}))
}

func (t *trash) picker(all []api.TrashedFile, now time.Time) *dialog.Picker {
	u := &dialog.Picker{Title: "Trash: enter restores; the last row empties it"}
	choices := make([]list.Choice, 0, len(all)+1)
	for i := range all {
		choices = append(choices, t.choice(&all[i], i, now))
	}
	choices = append(choices, list.Choice{Text: "Empty the trash", Detail: transfers.CountItems(len(all)), Number: emptyTrash, Extra: true})
	u.List.Set(choices)
	u.Verb = func(c list.Choice) string {
		if c.Number == emptyTrash {
			return "empty"
		}
		return "restore"
	}
	// The delete key does nothing on the last row, which is not a file.
	u.Stays = func(c list.Choice) bool { return c.Number == emptyTrash }
	u.Pick = func(c list.Choice) tea.Cmd {
		switch {
		case c.Number == emptyTrash:
			t.askDelete("Empty the trash?", all)
		case all[c.Number].From == "":
			return t.env.Say("restore "+nameOfTrashed(&all[c.Number])+": its original folder is unknown; move it from "+text.FileName(all[c.Number].Path), true)
		default:
			one := all[c.Number]
			return t.transfers.Add(api.FilesTransferInput{Kind: api.TransferRestore, Items: []api.FileMove{{Path: one.Path, To: one.From}}}, nil)
		}
		return nil
	}
	u.Drop = func(c list.Choice) ([]list.Choice, tea.Cmd) {
		t.askDelete("Delete "+nameOfTrashed(&all[c.Number])+" permanently?", all[c.Number:c.Number+1])
		return choices, nil
	}
	return u
}

// choice describes a deleted file: its name, folder, size and time.
func (t *trash) choice(one *api.TrashedFile, number int, now time.Time) list.Choice {
	from, size := "from an unknown folder", ""
	if one.From != "" {
		from = "from " + text.ClipLeft(displayPath(filepath.Dir(one.From), t.env.Home()), 40)
	}
	name := nameOfTrashed(one)
	if one.Type == "dir" {
		name += "/"
	}
	if one.Type == "file" {
		size = units.Bytes(one.Size)
	}
	return list.Choice{Text: name, Also: one.From, Detail: from + "  " + text.PadLeft(size, 6) + "  " + text.PadLeft(text.FileTime(one.Deleted, now), 12), Number: number}
}

// originalPath returns the path that a file had before it was deleted or, if that is unknown, its
// path in the trash.
func originalPath(one *api.TrashedFile) string { return cmp.Or(one.From, one.Path) }

func nameOfTrashed(one *api.TrashedFile) string {
	return text.FileName(filepath.Base(originalPath(one)))
}

// askDelete asks before deleting files in the trash for good.
func (t *trash) askDelete(title string, all []api.TrashedFile) {
	paths, names := make([]string, len(all)), make([]string, len(all))
	for i := range all {
		paths[i], names[i] = all[i].Path, originalPath(&all[i])
	}
	t.transfers.AskDelete(title, paths, names)
}
