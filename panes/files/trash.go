package files

import (
	"context"
	"path/filepath"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/units"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
	"tandem/panes/kit/text"
)

// emptyTrash is the number of the last choice, for emptying the trash.
const emptyTrash = -1

// showTrash lists the trash, to restore or delete files.
func showTrash(f *Pane) tea.Cmd {
	return panes.AwaitAnswer(f.env.Context(), f.env, func(ctx context.Context, e panes.Engine) ([]api.TrashedFile, error) {
		return e.ListTrash(ctx)
	}, func(all []api.TrashedFile, err error) tea.Cmd {
		switch {
		case err != nil:
			return f.env.Say(panes.ErrorText(err), true)
		case len(all) == 0:
			return f.env.Say("the trash is empty", false)
		}
		f.env.Ask(trashPicker(f, all, time.Now()))
		return nil
	})
}

func trashPicker(f *Pane, all []api.TrashedFile, now time.Time) *dialog.Picker {
	u := &dialog.Picker{Title: "Trash: enter restores; the last row empties it"}
	choices := make([]list.Choice, 0, len(all)+1)
	for i := range all {
		choices = append(choices, trashChoice(f, &all[i], i, now))
	}
	choices = append(choices, list.Choice{Text: "Empty the trash", Detail: countItems(len(all)), Number: emptyTrash, Extra: true})
	u.List.Set(choices)
	u.Verb = func(c list.Choice) string {
		if c.Number == emptyTrash {
			return "empty"
		}
		return "restore"
	}
	// Emptying asks a question first, over the open list.
	u.Stays = func(c list.Choice) bool { return c.Number == emptyTrash }
	u.Pick = func(c list.Choice) tea.Cmd {
		switch {
		case c.Number == emptyTrash:
			askDiscard(f, "Empty the trash?", all)
		case all[c.Number].From == "":
			return f.env.Say("restore "+nameOfTrashed(&all[c.Number])+": its original folder is unknown; move it from "+text.FileName(all[c.Number].Path), true)
		default:
			one := all[c.Number]
			f.transfers.enqueueTransfer(api.FilesTransferInput{Kind: api.TransferRestore, Items: []api.FileMove{{Path: one.Path, To: one.From}}})
		}
		return nil
	}
	u.Drop = func(c list.Choice) ([]list.Choice, tea.Cmd) {
		askDiscard(f, "Delete "+nameOfTrashed(&all[c.Number])+" permanently?", all[c.Number:c.Number+1])
		return choices, nil
	}
	return u
}

// trashChoice describes a deleted file: its name, folder, size and time.
func trashChoice(f *Pane, one *api.TrashedFile, number int, now time.Time) list.Choice {
	from, size := "from an unknown folder", ""
	if one.From != "" {
		from = "from " + text.ClipLeft(f.displayPath(filepath.Dir(one.From)), 40)
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

func nameOfTrashed(one *api.TrashedFile) string {
	if one.From == "" {
		return text.FileName(filepath.Base(one.Path))
	}
	return text.FileName(filepath.Base(one.From))
}

// askDiscard asks before deleting files in the trash for good.
func askDiscard(f *Pane, title string, all []api.TrashedFile) {
	paths := make([]string, len(all))
	for i := range all {
		paths[i] = all[i].Path
	}
	f.env.Ask(&dialog.Question{
		Title: title,
		Lines: append(text.Some(all, 10, func(one api.TrashedFile) string { return text.Clip(nameOfTrashed(&one), 60) }), "This cannot be undone."),
		Yes:   "delete",
		No:    "keep",
		Then:  f.transfers.enqueueCmd(api.FilesTransferInput{Kind: api.TransferDelete, Items: itemsFor(paths)}),
	})
}
